"""Plans on plants, with feedback."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _core
from ._plan import Plan, plan
from ._run import Run
from ._scene import Scene
from ._text import to_yaml


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
    plant: str = "mujoco",
    controller: str = "mpc",
    goal: str | None = None,
    disturb: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    seed: int = 0,
    max_duration: float | None = None,
    threads: int = 0,
) -> TrackedRun:
    """Follows a plan on a plant; a scene is planned for first.

    plant: quasidynamic, convex-second-order, stewart-trinkle, mujoco or drake. controller: mpc or open-loop. disturb: a file or
    dict of what goes wrong, drawn for `seed`. max_duration: most of the plant's time [s], 10 times the plan's without it.
    """
    if isinstance(plan_or_scene, Scene):
        followed = plan(plan_or_scene, goal, seed=seed, threads=threads)
    elif isinstance(plan_or_scene, Plan):
        followed = plan_or_scene
    else:
        raise TypeError(f"plan_or_scene: expected a deft.Plan or a deft.Scene, got {type(plan_or_scene).__name__}")
    arguments = (seed, max_duration or 0.0, threads)
    if not isinstance(disturb, Mapping):
        return TrackedRun(_core.track(followed._core, plant, controller, os.fspath(disturb) if disturb is not None else "", *arguments))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "disturb.yaml")
        file.write_text(to_yaml(disturb))
        return TrackedRun(_core.track(followed._core, plant, controller, str(file), *arguments))
