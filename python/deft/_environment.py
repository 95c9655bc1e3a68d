"""What an environment and a vector of environments share, and the environment of one scene; see deft.gym."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from . import _core
from ._errors import SolveError
from ._model import StepModel
from ._scene import Scene, load
from ._track import Plant

Reward = Callable[[float, float, bool, np.ndarray, np.ndarray], float]
"""Of the distances to the goal before and after a step [m], whether it is reached, q and the action."""


class Task:
    """What an environment and a vector of them share: spaces, starts, observations, rewards."""

    def __init__(
        self,
        scene: Scene | str | os.PathLike[str],
        goal: str | None,
        reward: Reward | None,
        max_change: float | None,
        start_noise: float,
        set: Mapping[str, Any] | None,
    ):
        self.scene = scene if isinstance(scene, Scene) else load(scene)
        if set:
            self.scene = self.scene.with_(dict(set))
        if self.scene.n_u == 0:
            raise ValueError("scene: has no robot, so that there is nothing to command")
        self.goal = self.scene.goal(goal) if goal or self.scene.goals else None
        if self.goal is None and reward is None:
            raise ValueError("reward: the scene has no goal; state a reward")
        self.h = float(self.scene.settings["step"]["h"])
        self.max_change = 0.5 * self.h if max_change is None else float(max_change)
        self.start_noise = float(start_noise)
        self.reward = reward
        self.model = StepModel(self.scene)
        self.second_order = self.model.second_order
        self.commanded = np.asarray(self.scene._core.command_coordinates)
        self.lower, self.upper = self.scene.command_limits
        self.noisy = _velocities_of(self.scene, self.commanded)
        size = self.scene.n_q + self.scene.n_u + (self.scene.n_v if self.second_order else 0) + (self.goal.size if self.goal else 0)
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = spaces.Box(-1.0, 1.0, (self.scene.n_u,), np.float64)
        self.start_distance = max(float(self.distance(self.scene.q())), self.goal.tolerance_m if self.goal else 1.0)

    def start(self, random: np.random.Generator, options: Mapping[str, Any] | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, u, v of a start: the scene's, with noise on the robots' joints, or options["q"] as it is."""
        unknown = [name for name in options or {} if name not in ("q", "reset_mask")]
        if unknown:
            raise ValueError(f"options: {unknown[0]!r} is unknown; valid: q")
        if options and "q" in options:
            q = np.array(_core.vector(options["q"], "q", self.scene.n_q))
            return q, q[self.commanded].copy(), self.scene.v()
        q = self.scene.q()
        if self.start_noise > 0:
            change = np.zeros(self.scene.n_v)
            change[self.noisy] = self.start_noise * random.standard_normal(len(self.noisy))
            q = np.array(self.scene.integrate(q, change))
            q[self.commanded] = np.clip(q[self.commanded], self.lower, self.upper)
        return q, q[self.commanded].copy(), self.scene.v()

    def targets(self, u: np.ndarray, action: np.ndarray) -> np.ndarray:
        """Those after an action, which counts as at most 1."""
        return np.clip(u + self.max_change * np.clip(action, -1.0, 1.0), self.lower, self.upper)

    def distance(self, q: np.ndarray) -> Any:
        """To the goal [m], of one q or of rows."""
        return self.goal.distance(q) if self.goal else np.zeros(q.shape[:-1])

    def observe(self, q: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of one state or of rows."""
        parts = [q, u - q[..., self.commanded]]
        if self.second_order:
            parts.append(v)
        if self.goal:
            parts.append(np.asarray(self.goal.residual(q)) / self.goal.tolerance_m)
        return np.concatenate(parts, -1)

    def rewards(self, before: float, after: float, reached: bool, q: np.ndarray, action: np.ndarray) -> float:
        if self.reward is not None:
            return float(self.reward(before, after, reached, q, action))
        return -after / self.start_distance


def _velocities_of(scene: Scene, commanded: np.ndarray) -> np.ndarray:
    """The entries of v of commanded joints."""
    names_v = {name: k for k, name in enumerate(scene.names_v)}
    coordinates = scene.coordinates
    return np.array([names_v[coordinates[i].name] for i in commanded], dtype=int)


class ContactEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """A scene as an environment (see the module's text).

    scene: a Scene, or the file of one; `set` changes it. goal: a goal's name, else the scene's first. reward: see `Reward`.
    plant: what moves instead of the scene's step model, a deft.Plant. max_change: of a target per step [rad, m], half a
    radian a second without it. start_noise: standard deviation on the robots' joints at a start [rad, m]. max_steps: None is no limit.
    reset(options={"q": …}) starts elsewhere. render_mode "rgb_array": `render` gives images of deft.render.Renderer, 320 × 240;
    camera: as there, and "width", "height".
    """

    def __init__(
        self,
        scene: Scene | str | os.PathLike[str],
        goal: str | None = None,
        reward: Reward | None = None,
        plant: Plant | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        max_change: float | None = None,
        start_noise: float = 0.0,
        max_steps: int | None = None,
        render_mode: str | None = None,
        camera: Mapping[str, Any] | None = None,
    ):
        if render_mode not in (None, "rgb_array"):
            raise ValueError(f"render_mode: {render_mode!r} is unknown; valid: None, 'rgb_array'")
        self.task = Task(scene, goal, reward, max_change, start_noise, set)
        self.scene = self.task.scene
        self.observation_space, self.action_space = self.task.observation_space, self.task.action_space
        self.max_steps, self.render_mode = max_steps, render_mode
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / self.task.h)}
        self._camera = dict(camera or {})
        self._renderer: Any = None
        self._model, self._plant = self.task.model, plant
        self._result: Any = None
        self._q: np.ndarray | None = None

    @property
    def q(self) -> np.ndarray:
        """The present configuration, (n_q,). RuntimeError before the first reset."""
        if self._q is None:
            raise RuntimeError("reset: was not called yet")
        return self._q

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """A start; the seed counts for its noise, and for what a plant draws."""
        super().reset(seed=seed)
        self._q, self._u, self._v = self.task.start(self.np_random, options)
        self._steps = 0
        if self._plant is not None:  # which says where it begins
            self._plant.reset(self._q, self._v, self._u, int(self.np_random.integers(2**31)))
            self._q, self._v = np.array(self._plant.q), np.array(self._plant.v)
        else:
            self._model.reset()
        self._distance = float(self.task.distance(self._q))
        return self.task.observe(self._q, self._u, self._v), self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One step of the scene's length."""
        action = _core.vector(action, "action", self.scene.n_u)
        q, before = self.q, self._distance
        u = self.task.targets(self._u, action)
        moved = self._moved_by_model(q, u) if self._plant is None else self._moved_by_plant(self._plant, u)
        failed = moved is None
        q, v = (q, self._v) if moved is None else moved
        self._q, self._u, self._v = q, u, v
        self._steps += 1
        self._distance = float(self.task.distance(q))
        reached = bool(self.task.goal.reached(q)) if self.task.goal else False
        reward = self.task.rewards(before, self._distance, reached, q, action)
        over = reached or failed
        truncated = not over and self.max_steps is not None and self._steps >= self.max_steps
        return self.task.observe(q, u, v), reward, over, truncated, self._info(reached, failed)

    def _moved_by_model(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """q and v after a step, None if it failed."""
        second_order = self.task.second_order
        self._result = self._model.step(q, u, self._v if second_order else None, out=self._result)
        if self._result.status > 1:
            return None
        return self._result.q.copy(), self._result.v.copy() if second_order else self._v

    def _moved_by_plant(self, plant: Plant, u: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        try:
            plant.step(u, self.task.h)
        except SolveError:
            return None
        q, v = np.array(plant.q, dtype=np.float64), np.array(plant.v, dtype=np.float64)
        return (q, v) if np.all(np.isfinite(q)) and np.all(np.isfinite(v)) else None

    def _info(self, reached: bool = False, failed: bool = False) -> dict[str, Any]:
        return {"distance": self._distance, "is_success": reached, "failed": failed}

    def render(self) -> np.ndarray | None:
        """The present state as an image, (height, width, 3) uint8; None without a render_mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            from .render import Renderer

            size = {name: self._camera.pop(name) for name in ("width", "height") if name in self._camera}
            self._renderer = Renderer(self.scene, **size, camera=self._camera)
        return np.asarray(self._renderer.render(self.q))
