"""Plans on plants, with feedback."""

from __future__ import annotations

import os
from abc import ABC
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _core
from ._errors import InputError, SolveError
from ._model import StepModel
from ._plan import Plan, plan
from ._run import Run
from ._scene import Scene
from ._text import to_yaml
from .convert import joints_of


class Plant(ABC):
    """A world that a controller acts on: subclass it, or give any object with these methods and attributes.

    After `reset` and every `step` it has q (n_q,), v (n_v,) and time [s], in the scene's order. Exceptions end the run and
    propagate; numbers that are not finite end it as PlantFailure.
    """

    q: Any
    v: Any
    time: float

    def reset(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, seed: int) -> None:
        """Puts the world at (q, v) with the springs at joint targets u."""
        raise NotImplementedError

    def step(self, u: np.ndarray, dt: float) -> None:
        """Advances by dt [s]; joint targets go from the last ones to u."""
        raise NotImplementedError


class StepPlant(Plant):
    """A step model as a plant: steps of its own length h, each as soon as so much time has been asked for."""

    def __init__(self, model: StepModel):
        self.model = model

    def reset(self, q: np.ndarray, v: np.ndarray, u: np.ndarray, seed: int) -> None:
        self.model.reset()
        self.q, self.v, self.time = q, v, 0.0
        self._left = 0.0  # of the time that was asked for [s]

    def step(self, u: np.ndarray, dt: float) -> None:
        self._left += dt
        while self._left >= self.model.h * (1 - 1e-9):
            result = self.model.step(self.q, u, self.v if self.model.second_order else None)
            if result.status > 1:
                raise SolveError(f"the step failed: {result.status.name}", result.status, result.residual)
            self.q = np.array(result.q)
            self.v = np.array(result.v) if result.v is not None else np.array(result.dq) / self.model.h
            self._left -= self.model.h
        self.time += dt


class MujocoPlant(_core.NativePlant):
    """The scene in MuJoCo, with `reset`, `step`, q, v and time; settings: `track:`. Raises InputError where MuJoCo is not found."""

    def __init__(self, scene: Scene):
        super().__init__(scene._core, "mujoco")


class DrakePlant(_core.NativePlant):
    """The scene in Drake, likewise."""

    def __init__(self, scene: Scene):
        super().__init__(scene._core, "drake")


Plant.register(MujocoPlant)
Plant.register(DrakePlant)


class Policy:
    """What commands robots: subclass it, or give any object with these methods."""

    def reset(self, scene: Scene, goal: str, q: np.ndarray, seed: int) -> None:
        """A run begins at q."""
        raise NotImplementedError

    def command(self, t: float, q: np.ndarray, v: np.ndarray) -> Any:
        """Joint targets u (n_u,) for the next period, from the estimated q and its rate of change v at time t [s]."""
        raise NotImplementedError


class _Named:
    """A policy that is given the scene of the package, not that of the extension."""

    def __init__(self, policy: Any):
        self._policy = policy
        self.command = policy.command

    def reset(self, core: _core.Scene, goal: str, q: np.ndarray, seed: int) -> None:
        self._policy.reset(Scene(core), goal, q, seed)


class Controller:
    """The controller of a plan, step by step: it is told what was measured and says what to command.

    Time begins with the first `update`. Commands are made every `period_s`, in between and after the end of the plan the last one
    holds. New plans are made on the way as `track:` of the scene allows. controller: mpc or open-loop.
    """

    def __init__(self, plan: Plan, controller: str = "mpc", seed: int = 0, threads: int = 0):
        if not isinstance(plan, Plan):
            raise TypeError(f"plan: expected a deft.Plan, got {type(plan).__name__}")
        self.scene = plan.scene
        self._core = _core.make_controller(plan._core, controller, seed, threads)
        self._start: float | None = None
        self._periods = 0
        self._u = plan.scene.u()

    @property
    def period_s(self) -> float:
        """Of the commands [s], track.period."""
        return self._core.period_s

    @property
    def duration_s(self) -> float:
        """Of the plan, at the speed at which it is followed [s]."""
        return self._core.duration_s

    @property
    def status(self) -> str | None:
        """Why it has ended (Completed, OffPlan, …); None while it goes on."""
        return self._core.status

    def update(self, t: float, q_measured: Any, poses: Mapping[str, Any] | None = None) -> np.ndarray:
        """The command from time t [s] on, (n_u,), joint targets, from the measured q; poses: X_WB, (4, 4), of free bodies override it."""
        if self._start is None:
            self._start = t
        due = int(np.floor((t - self._start) / self.period_s + 1e-6)) + 1 - self._periods
        if t < self._start or (due < 0):
            raise ValueError(f"t: {t} s lies before an earlier update")
        q = self._placed(q_measured, poses) if poses else q_measured
        if due > 0:
            self._u = self._core.update(q, due)
            self._periods += due
        return self._u

    def _placed(self, q_measured: Any, poses: Mapping[str, Any]) -> np.ndarray:
        q = np.array(q_measured, float)
        for body, pose in poses.items():
            X_WB = np.asarray(pose, float)
            if X_WB.shape != (4, 4):
                raise ValueError(f"poses['{body}']: expected shape (4, 4), got {X_WB.shape}")
            names = (body, body.rpartition("/")[0])
            joint = next((joint for joint in joints_of(self.scene) if joint.kind == "free" and joint.name in names), None)
            if joint is None:
                raise ValueError(f"poses: '{body}' is no free body of the scene")
            first = joint.q
            q[first : first + 4], q[first + 4 : first + 7] = _quaternion(X_WB[:3, :3]), X_WB[:3, 3]
        return q


def _quaternion(R: np.ndarray) -> np.ndarray:
    """[w, x, y, z] of a rotation matrix: the column of qqᵀ with the largest entry."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[0, 2] + R[2, 0]],
            [0, 0, R[1, 1] - R[0, 0] - R[2, 2], R[2, 1] + R[1, 2]],
            [0, 0, 0, R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    K = np.triu(K) + np.triu(K, 1).T + np.eye(4)  # 4 qqᵀ
    column = K[:, np.argmax(np.diag(K))]
    return column / np.linalg.norm(column)


class TrackedRun(Run):
    """A run of a plan on a plant, and how well it was followed."""

    def __init__(self, core: _core.Tracked):
        super().__init__(core.run)
        self._tracked = core

    @property
    def arrived(self) -> bool:
        """Whether it completed within the tolerances of `track:`."""
        return self._tracked.arrived

    @cached_property
    def errors(self) -> np.ndarray:
        """Largest errors of the objects against the plan at the start of each period, (T, 2) [m, rad]."""
        return self._tracked.errors

    @cached_property
    def final_error(self) -> SimpleNamespace:
        """At the end: position_m, rotation_rad."""
        return SimpleNamespace(**self._tracked.final_error)

    @cached_property
    def largest_error(self) -> SimpleNamespace:
        """On the way."""
        return SimpleNamespace(**self._tracked.largest_error)

    @cached_property
    def period_s(self) -> np.ndarray:
        """Time that the controller took in each period [s], (T,)."""
        return self._tracked.period_s

    @property
    def new_plans(self) -> int:
        """Plans made on the way."""
        return self._tracked.new_plans

    @property
    def settings(self) -> list[str]:
        """What the plant adds to the scene, a line each."""
        return self._tracked.settings


def track(
    plan_or_scene: Plan | Scene,
    plant: str | Plant | Any = "mujoco",
    controller: str | Policy | Any = "mpc",
    goal: str | None = None,
    disturb: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    seed: int = 0,
    max_duration: float | None = None,
    threads: int = 0,
) -> TrackedRun:
    """Follows a plan on a plant; a scene is planned for first.

    plant: quasidynamic, convex-second-order, stewart-trinkle, mujoco, drake, or a Plant. controller: mpc, open-loop, or a Policy,
    which is asked for commands as long as the plan lasts. Exceptions of theirs propagate, with the run so far as `run`. disturb: a file or
    dict of what goes wrong, drawn for `seed`. max_duration: most of the plant's time [s], 10 times the plan's without it.
    """
    if max_duration is not None and not max_duration > 0:
        raise ValueError(f"max_duration: {max_duration}; valid: above 0")
    if isinstance(plan_or_scene, Scene):
        followed = plan(plan_or_scene, goal, seed=seed, threads=threads)
    elif isinstance(plan_or_scene, Plan):
        followed = plan_or_scene
        if goal is not None and goal != followed.goal:
            raise InputError(f"goal: the plan leads to '{followed.goal}', not to '{goal}'")
    else:
        raise TypeError(f"plan_or_scene: expected a deft.Plan or a deft.Scene, got {type(plan_or_scene).__name__}")
    if not isinstance(plant, str):
        for name in ("reset", "step"):
            if not callable(getattr(plant, name, None)):
                raise TypeError(f"plant: expected a name or a deft.Plant, {type(plant).__name__} has no method {name!r}")
    if not isinstance(controller, str):
        for name in ("reset", "command"):
            if not callable(getattr(controller, name, None)):
                raise TypeError(f"controller: expected a name or a deft.Policy, {type(controller).__name__} has no method {name!r}")
        controller = _Named(controller)
    import tempfile  # takes long, and only a run needs it

    with tempfile.TemporaryDirectory() as folder:
        file = "" if disturb is None else os.fspath(disturb) if not isinstance(disturb, Mapping) else str(Path(folder, "disturb.yaml"))
        if isinstance(disturb, Mapping):
            Path(file).write_text(to_yaml(disturb))
        core, error = _core.track(followed._core, plant, controller, file, seed, max_duration or 0.0, threads)
    run = TrackedRun(core)
    if error is not None:
        error.run = run
        if hasattr(error, "add_note"):
            error.add_note(f"after {len(run)} periods of the run, which is kept as `run` of this exception")
        raise error
    return run
