"""Environments for learning (`pip install deft-contact[gym]`): one for any scene, seven tasks, and a vector of them on all cores.

    import deft.gym                                          # or "deft.gym:deft/PlanarHand-v0" below
    env = gymnasium.make("deft/PlanarHand-v0")               # or deft.gym.ContactEnv("scene.deft.yaml")
    envs = gymnasium.make_vec("deft/PlanarHand-v0", num_envs=64)  # one call for all of them

An action moves the joint targets: u ← u + `max_change` · action within the joints' limits, then one step of the scene. An
observation is q, the targets relative to the joints, v of models of second order, and the residual of the goal (in units of its
tolerance). The reward is by default the negative distance to the goal, in units of the distance at the start; an episode ends
where the goal is reached (`terminated`, info["is_success"]) or a step fails, and after `max_steps` (`truncated`).
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium

from ._environment import ContactEnv, Reward, Task
from ._scene import scene_path
from ._vector_environment import ContactVectorEnv

# Of each task: the scene, its goal, what is changed in it, the most steps of an episode, the noise at its start [rad, m].
_CARRY = {"goals": {"carried": {"red": {"position": [0.45, 0.2, 0.18]}, "tolerance": {"position": 0.02}}}}
TASKS: dict[str, dict[str, Any]] = {
    "PlanarPushing": {"scene": "planning/planar_pushing", "goal": "down", "max_steps": 300, "start_noise": 0.01},
    "PlanarHand": {"scene": "planning/planar_hand", "goal": "half_turn", "max_steps": 200, "start_noise": 0.01},
    "PlanarBimanual": {"scene": "planning/planar_bimanual", "goal": "half_turn", "max_steps": 400, "start_noise": 0.01},
    "AllegroBall": {"scene": "planning/allegro_ball", "goal": "sixth", "max_steps": 200, "start_noise": 0.01},
    "AllegroPen": {"scene": "planning/allegro_pen", "goal": "turned", "max_steps": 200, "start_noise": 0.01},
    "AllegroDoor": {"scene": "planning/allegro_door", "goal": "open", "max_steps": 200, "start_noise": 0.01},
    "PickAndPlace": {"scene": "pick_and_place/scene", "goal": "carried", "set": _CARRY, "max_steps": 200, "start_noise": 0.005},
}


def _keywords(task: str, changes: dict[str, Any]) -> dict[str, Any]:
    known = TASKS[task]
    return {**known, "scene": scene_path(known["scene"]), **changes}


def make_task(task: str, **changes: Any) -> ContactEnv:
    """The environment of a task by its name in TASKS; keywords are those of ContactEnv."""
    return ContactEnv(**_keywords(task, changes))


def make_task_vector(task: str, num_envs: int = 1, **changes: Any) -> ContactVectorEnv:
    """The same as a vector; further keywords are those of ContactVectorEnv."""
    return ContactVectorEnv(num_envs=num_envs, **_keywords(task, changes))


def make_vec(id: str, n: int, **changes: Any) -> ContactVectorEnv:
    """n environments of a task, "deft/PlanarHand-v0", stepped by one call on all cores."""
    task = id.removeprefix("deft/").removesuffix("-v0")
    if task not in TASKS:
        raise KeyError(f"there is no environment {id!r}; valid: {', '.join(f'deft/{name}-v0' for name in TASKS)}")
    return make_task_vector(task, n, **changes)


def register() -> None:
    """Makes the tasks known to Gymnasium, once; importing this module does it, and Gymnasium's plug-ins before its 1.0."""
    for task in TASKS:
        if f"deft/{task}-v0" not in gymnasium.registry:
            gymnasium.register(
                id=f"deft/{task}-v0",
                entry_point="deft.gym:make_task",
                vector_entry_point="deft.gym:make_task_vector",
                kwargs={"task": task},
            )


def __getattr__(name: str) -> Any:
    """SB3VecEnv is imported, with stable-baselines3, when it is first used."""
    if name == "SB3VecEnv":
        return importlib.import_module("deft._sb3").SB3VecEnv
    raise AttributeError(f"module 'deft.gym' has no attribute {name!r}")


register()

__all__ = ["TASKS", "ContactEnv", "ContactVectorEnv", "Reward", "Task", "make_task", "make_task_vector", "make_vec", "register"]
