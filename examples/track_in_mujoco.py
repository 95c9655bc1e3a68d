"""A plan that holds, executed with feedback in MuJoCo under disturbances (pip install deft-contact[mujoco])."""

import sys

import numpy as np

import deft

scene = deft.load(deft.scene_path("planning/planar_bimanual"))
nearest: list[float] = []  # distance to the goal after each batch of roll-outs [m]
plan = deft.plan(scene, seed=1, time_limit=120, on_progress=lambda rollouts, distance, cost: nearest.append(distance))
print(
    f"plan: {plan.status}, {len(plan.u)} steps, off by {1000 * plan.error.position_m:.2f} mm; distances {nearest[0]:.3f} to {min(nearest):.3f} m"
)

disturbed = {"offset_m": 0.003, "friction": 0.2, "mass": 0.2, "noise_m": 0.001, "delay_s": 0.05}  # as a file for `deft track --disturb`
run = deft.track(plan, plant="mujoco", controller="mpc", disturb=disturbed, seed=3)
print(f"in MuJoCo: {run.reason}, arrived: {run.arrived}, worst deviation {1000 * np.max(run.errors[:, 0]):.1f} mm")
if len(sys.argv) > 1:
    run.save(sys.argv[1])
