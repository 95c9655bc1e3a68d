"""Plans: commands that lead to a goal."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _core
from ._run import Run
from ._scene import Scene, loads


class Plan:
    """What the planner found: commands from the start, checked by exact simulation."""

    def __init__(self, core: _core.Plan, scene: Scene):
        self._core = core
        self.scene = scene

    @classmethod
    def open(cls, path: str | os.PathLike[str], goal: str | None = None) -> Plan:
        """The commands of a run folder as a plan to a goal (its own, else the scene's first), simulated again in the scene of the run."""
        return plan_of(Run.open(path), goal)

    @property
    def success(self) -> bool:
        """Whether it leads to the goal at h and before all judges that were asked."""
        return self._core.success

    @property
    def status(self) -> str:
        """Solved, NotHolding, TimeLimit, NodeLimit, Impossible or Interrupted."""
        return self._core.status

    @cached_property
    def q(self) -> np.ndarray:
        """Configurations, (T + 1, n_q)."""
        return self._core.q

    @cached_property
    def u(self) -> np.ndarray:
        """Commands, (T, n_u), row k in force during step k."""
        return self._core.u

    @property
    def h(self) -> float:
        """Length of a step [s]."""
        return self._core.h

    @property
    def goal(self) -> str:
        """Name of the goal."""
        return self._core.goal

    @cached_property
    def segments(self) -> list[dict[str, Any]]:
        """Pieces under one set of contacts, or transits: first, last (steps [first, last)), transit, node."""
        return self._core.segments

    @cached_property
    def error(self) -> SimpleNamespace:
        """Of the goal at the end: position_m, rotation_rad, joint [rad or m]."""
        return SimpleNamespace(**self._core.error)

    @cached_property
    def holds(self) -> list[dict[str, Any]]:
        """What each judge says: judge, success, goal_error, and share where several worlds were asked."""
        return self._core.holds

    @cached_property
    def reasons(self) -> list[dict[str, Any]]:
        """Why there is no plan that holds, heaviest first: reason, count, weight, detail, setting."""
        return self._core.reasons

    @property
    def first_solution_s(self) -> float | None:
        """When the first plan was found [s]."""
        return self._core.first_solution_s

    @property
    def first_holding_s(self) -> float | None:
        """When the first plan was found that holds before all judges [s]."""
        return self._core.first_holding_s

    @property
    def time_s(self) -> float:
        """Of the search [s]."""
        return self._core.time_s

    @property
    def regrasps(self) -> int:
        """Transits between contacts."""
        return self._core.regrasps

    @property
    def cost_s(self) -> float:
        """Duration, and plan.regrasp_cost_s per regrasp [s]."""
        return self._core.cost_s

    @property
    def cost_before(self) -> float | None:
        """Of the plan that `optimize` was given: (distance in all worlds / tolerance)²; None: it was not optimised."""
        return self._core.cost_before

    @property
    def cost_after(self) -> float | None:
        """The same of this plan; never above cost_before, unless that did not reach the goal at h and this does."""
        return self._core.cost_after

    @property
    def seed(self) -> int:
        """Of the search."""
        return self._core.seed

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes a run folder with the plan and the tree, which Run.open and the command line read; `force` also into one that is not empty."""
        self._core._save(os.fspath(path), force)
        error = {"position_m": self.error.position_m, "rotation_rad": self.error.rotation_rad, "joint": self.error.joint}
        summary = {
            "status": self.status, "success": self.success, "goal": self.goal, "seed": self.seed, "goal_error": error, "holds": self.holds,
            "nodes": self._core.nodes, "steps": len(self.u), "step_solves": self._core.step_solves, "time_s": self.time_s,
            "first_solution_s": self.first_solution_s, "first_holding_s": self.first_holding_s, "duration_s": len(self.u) * self.h,
            "regrasps": self.regrasps, "cost": self.cost_s, "reasons": self.reasons,
        }  # fmt: skip
        Path(path, "summary.json").write_text(json.dumps(summary, indent=1) + "\n")

    def __repr__(self) -> str:
        return f"<deft.Plan {self.status}: {len(self.u)} steps to {self.goal!r}>"


def plan(
    scene: Scene,
    goal: str | None = None,
    seed: int = 0,
    time_limit: float = 60,
    threads: int = 0,
    first: bool = False,
    on_progress: Callable[[int, float, float | None], Any] | None = None,
    **settings: Any,
) -> Plan:
    """Searches for a plan from the scene's start to a goal (its first); further keywords are the keys of `plan:`.

    first: the first plan that holds with steps of h, whatever other judges say. on_progress(roll-outs, nearest distance [m],
    cost of the best plan [s] or None) is called after each batch; False ends the search, exceptions propagate.
    """
    changes = {"plan.time_limit_s": time_limit, **({"plan.first": True} if first else {})}
    changes |= {f"plan.{key}": value for key, value in settings.items()}
    changed = scene.with_(changes)
    return Plan(_core.make_plan(changed._core, goal or "", seed, threads, on_progress), changed)


def plan_of(run: Run, goal: str | None = None) -> Plan:
    """The commands of a run as a plan to a goal (its own, else the scene's first), simulated again in the scene of the run."""
    scene = loads(run._core.scene_yaml, os.getcwd())
    return Plan(_core.plan_of_run(scene._core, run._core, str(run._folder or ""), goal or ""), scene)


def optimize(plan_or_run: Plan | Run, goal: str | None = None, seed: int = 0, threads: int = 0, **settings: Any) -> Plan:
    """A plan, or the commands of a run, improved segment by segment in several worlds until it holds before all judges.

    Keywords are the keys of `optimize:`; goal: of a run that is none of a planner.
    """
    plan = plan_of(plan_or_run, goal) if isinstance(plan_or_run, Run) else plan_or_run
    if not isinstance(plan, Plan):
        raise TypeError(f"plan_or_run: expected a deft.Plan or a deft.Run, got {type(plan).__name__}")
    changed = plan.scene.with_({"plan.first": False, **{f"optimize.{key}": value for key, value in settings.items()}})
    return Plan(_core.optimize_plan(plan._core, changed._core, seed, threads, float("inf")), changed)


def plan_statistics(scene: Scene, seeds: Iterable[int] = range(50), **options: Any) -> SimpleNamespace:
    """Plans for many seeds: success_rate and plans, one per seed; options as of `plan`."""
    plans = [plan(scene, seed=seed, **options) for seed in seeds]
    if not plans:
        raise ValueError("seeds: expected at least one")
    return SimpleNamespace(success_rate=sum(each.success for each in plans) / len(plans), plans=plans)
