"""The vector environment in the form of stable-baselines3; see deft.gym."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env import VecEnv

from .gym import make_vec


class SB3VecEnv(VecEnv):
    """n environments of a task as stable-baselines3 takes them: SB3VecEnv("deft/PlanarHand-v0", 64). Keywords as of make_vec."""

    def __init__(self, id: str, n: int, **changes: Any):
        self.envs = make_vec(id, n, **changes)
        self._seed: int | None = None
        super().__init__(n, self.envs.single_observation_space, self.envs.single_action_space)

    def reset(self) -> np.ndarray:
        """Starts of all, with the seed of `seed` the first time after it."""
        observations, info = self.envs.reset(seed=self._seed, options=self._options[0] if self._options else None)
        self._seed = None
        self.reset_infos = [{"distance": float(distance)} for distance in info["distance"]]
        self._reset_options()
        return observations

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Of the next reset: environment i has seed + i."""
        self._seed = seed
        return [None if seed is None else seed + i for i in range(self.num_envs)]

    def step_async(self, actions: np.ndarray) -> None:
        """Keeps the actions for step_wait."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """One step of each; where an episode ended, info has terminal_observation."""
        observations, rewards, terminated, truncated, info = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = []
        for i in range(self.num_envs):
            over = terminated[i] or truncated[i]
            own = {name: (info["final_info"] if over else info)[name][i] for name in ("distance", "is_success", "failed")}
            own["TimeLimit.truncated"] = bool(truncated[i])
            if over:
                own["terminal_observation"] = info["final_obs"][i]
            infos.append(own)
        return observations, rewards, terminated | truncated, infos

    def close(self) -> None:
        """Nothing is held."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, once for each that is asked for."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Of all at once. ValueError for some alone."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError("indices: the environments are one; set attributes of all")
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Calls a method of the vector environment once; its result for each that is asked for."""
        result = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Never."""
        return [False for _ in self._get_indices(indices)]

    def _get_indices(self, indices: Any) -> Iterable[int]:
        return super()._get_indices(indices)
