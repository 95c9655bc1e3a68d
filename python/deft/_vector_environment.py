"""A vector of environments of one scene, stepped as one batch; see deft.gym."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._environment import Reward, Task
from ._model import Batch
from ._scene import Scene


class ContactVectorEnv(VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """num_envs environments of a scene: keywords and meaning as of ContactEnv, threads as of Batch.

    Autoreset is AutoresetMode.SAME_STEP: where an episode ends, observation and info are those of the next one's start, and
    info["final_obs"] (an array of objects) and info["final_info"] have the last ones, with masks. Environment i is seeded with
    seed + i. reset(options={"reset_mask": …}) starts some, the others go on; "q" as of ContactEnv.
    """

    def __init__(
        self,
        num_envs: int,
        scene: Scene | str | os.PathLike[str],
        goal: str | None = None,
        reward: Reward | None = None,
        *,
        set: Mapping[str, Any] | None = None,
        max_change: float | None = None,
        start_noise: float = 0.0,
        max_steps: int | None = None,
        threads: int = 0,
    ):
        if num_envs < 1:
            raise ValueError(f"num_envs: {num_envs}; valid: 1 or more")
        self.task = Task(scene, goal, reward, max_change, start_noise, set)
        self.num_envs, self.max_steps = num_envs, max_steps
        self.single_observation_space, self.single_action_space = self.task.observation_space, self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}
        scene = self.task.scene
        self._batch = Batch(self.task.model, threads)
        self._result: Any = None
        self._random = [np.random.default_rng() for _ in range(num_envs)]
        self._q, self._u, self._v = (np.zeros((num_envs, width)) for width in (scene.n_q, scene.n_u, scene.n_v))
        self._steps, self._distance = np.zeros(num_envs, dtype=int), np.zeros(num_envs)
        self._is_begun = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Starts of all, or of those of options["reset_mask"], (num_envs,) bool."""
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        if not isinstance(mask, np.ndarray) or mask.dtype != bool or mask.shape != (self.num_envs,) or not mask.any():
            raise ValueError(f"reset_mask: expected an array of bool, shape ({self.num_envs},), with at least one True")
        chosen = np.flatnonzero(mask)
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed: {len(seeds)} seeds; expected {self.num_envs}")
            for i in chosen:
                if seeds[i] is not None:
                    self._random[i], _ = gymnasium.utils.seeding.np_random(seeds[i])
        self._start(chosen, options)
        return self._observe(), self._started_info()

    def _start(self, rows: np.ndarray, options: Mapping[str, Any] | None = None) -> None:
        for i in rows:
            self._q[i], self._u[i], self._v[i] = self.task.start(self._random[i], options)
        self._steps[rows] = 0
        self._distance[rows] = self.task.distance(self._q[rows])
        self._is_begun[rows] = True

    def _started_info(self) -> dict[str, Any]:
        """As ContactEnv's, each name with the mask of the environments that have it."""
        no, every = np.zeros(self.num_envs, dtype=bool), np.ones(self.num_envs, dtype=bool)
        return _masked({"distance": self._distance.copy(), "is_success": no, "failed": no.copy()}, every)

    def _observe(self) -> np.ndarray:
        return self.task.observe(self._q, self._u, self._v)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """One step of each."""
        task = self.task
        actions = np.asarray(actions, dtype=float)
        if actions.shape != self.action_space.shape:
            raise ValueError(f"actions: expected shape {self.action_space.shape}, got {actions.shape}")
        if not np.all(np.isfinite(actions)):
            raise ValueError(f"actions: row {np.flatnonzero(~np.isfinite(actions).all(1))[0]} is not finite")
        if not self._is_begun.all():
            raise RuntimeError("reset: was not called yet")
        u = task.targets(self._u, actions)
        self._result = self._batch.step(self._q, u, self._v if task.second_order else None, out=self._result)
        failed = np.asarray(self._result.status) > 1
        self._q = np.where(failed[:, None], self._q, self._result.q)
        if task.second_order:
            self._v = np.where(failed[:, None], self._v, self._result.v)
        self._u = u
        self._steps += 1
        before, self._distance = self._distance, np.asarray(task.distance(self._q), dtype=float).copy()
        reached = np.array(task.goal.reached(self._q)) if task.goal else np.zeros(self.num_envs, dtype=bool)
        if task.reward is None:
            rewards = -self._distance / task.start_distance
        else:
            rows = zip(before, self._distance, reached, self._q, actions, strict=True)
            rewards = np.array([task.rewards(float(a), float(b), bool(done), q, action) for a, b, done, q, action in rows])
        terminated = reached | failed
        truncated = (self._steps >= self.max_steps) & ~terminated if self.max_steps is not None else np.zeros(self.num_envs, dtype=bool)
        info = _masked({"distance": self._distance.copy(), "is_success": reached, "failed": failed}, np.ones(self.num_envs, dtype=bool))
        observations = self._observe()
        over = terminated | truncated
        if over.any():
            last = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(over):
                last[i] = observations[i].copy()
            ended = {name: np.where(over, info[name], np.zeros((), info[name].dtype)) for name in ("distance", "is_success", "failed")}
            self._start(np.flatnonzero(over))
            info["distance"][over] = self._distance[over]
            info |= {"is_success": reached & ~over, "failed": failed & ~over}
            info |= {"final_obs": last, "_final_obs": over.copy(), "final_info": _masked(ended, over), "_final_info": over.copy()}
            observations = self._observe()
        return observations, rewards, terminated, truncated, info


def _masked(values: dict[str, np.ndarray], rows: np.ndarray) -> dict[str, Any]:
    """Values with the masks of the rows that have them, as Gymnasium's vectors give them."""
    return {**values, **{f"_{name}": rows.copy() for name in values}}
