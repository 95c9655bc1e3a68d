"""Steps a second of Gymnasium's hand tasks in MuJoCo, on one core, as JSON: run by an interpreter that has requirements-hands.lock."""

from __future__ import annotations

import json
import time

import gymnasium
import gymnasium_robotics
import mujoco
import numpy as np

gymnasium.register_envs(gymnasium_robotics)
TASKS = ("HandManipulateBlockRotateZ-v1", "HandManipulateBlock-v1", "HandManipulatePenRotate-v1", "HandReach-v3")


def task(name: str, steps: int = 300) -> dict:
    env, random = gymnasium.make(name).unwrapped, np.random.default_rng(1)
    env.reset(seed=1)
    start = time.process_time()
    for _ in range(steps):
        env.step(random.uniform(-1, 1, env.action_space.shape))
    return {"task": name, "h": env.dt, "steps_of_simulation": env.n_substeps, "single_per_s": steps / (time.process_time() - start)}


if __name__ == "__main__":
    versions = {"gymnasium_robotics": gymnasium_robotics.__version__, "mujoco": mujoco.__version__}
    print(json.dumps({"versions": versions, "tasks": [task(name) for name in TASKS]}))
