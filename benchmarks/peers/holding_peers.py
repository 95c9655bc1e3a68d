#!/usr/bin/env python3
"""MuJoCo on held objects: how far an object creeps in a grip that friction should hold for ever.

Usage: holding_peers.py [--seconds S]       prints JSON

The scenes are scenes/gripper_cube and scenes/allegro_ball, steps of 2 ms. The grip settles first (5 s); then drift is the
largest distance of the object from where it was [m], over S seconds (600) or until it has moved 5 cm: dropped.
"""

from __future__ import annotations

import argparse
import json

import numpy as np
from robot_mjcf import allegro_ball, gripper_cube

H, SETTLE_S, DROPPED_M = 0.002, 5.0, 0.05
VARIANTS = {
    "default": {},
    "elliptic": {"cone": "elliptic"},
    "elliptic, impratio 10": {"cone": "elliptic", "impratio": "10"},
    "elliptic, noslip": {"cone": "elliptic", "noslip_iterations": "10"},
    "pyramidal, noslip": {"noslip_iterations": "10"},
}
CLOSED = {"gripper_cube": np.array([0.015, 0.015]), "allegro_ball": np.array([0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1.0])}
CLOSING_S = {"gripper_cube": 0.0, "allegro_ball": 2.0}


def drift(scene: str, variant: dict, seconds: float) -> dict:
    """How far the object moves once the grip has settled."""
    import mujoco

    make = {"gripper_cube": gripper_cube, "allegro_ball": allegro_ball}[scene]
    model = mujoco.MjModel.from_xml_string(make({"timestep": repr(H), "integrator": "implicitfast", **variant}))
    data = mujoco.MjData(model)
    if scene == "gripper_cube":
        data.qpos[:2] = 0.025
    names = [model.joint(int(j)).name for j in model.actuator_trnid[:, 0]]
    assert scene != "allegro_ball" or len(names) == 16, names
    body = model.body("object").id
    while data.time < SETTLE_S:
        data.ctrl[:] = CLOSED[scene] * (min(1.0, data.time / CLOSING_S[scene]) if CLOSING_S[scene] else 1.0)
        mujoco.mj_step(model, data)
    start, largest, begun = data.xpos[body].copy(), 0.0, data.time
    while data.time - begun < seconds and largest < DROPPED_M:
        mujoco.mj_step(model, data, 50)
        largest = max(largest, float(np.linalg.norm(data.xpos[body] - start)))
    held = data.time - begun
    return {"drift_m": largest, "seconds": held, "um_per_s": 1e6 * largest / held, "dropped": largest >= DROPPED_M}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    try:
        import mujoco  # noqa: F401
    except ImportError as error:
        print(json.dumps({"rows": [], "absent": {"MuJoCo": str(error)}}))
        return
    rows = [
        {"scene": scene, "who": f"MuJoCo {name}, h = 2 ms", **drift(scene, variant, options.seconds)}
        for scene in CLOSED
        for name, variant in VARIANTS.items()
    ]
    print(json.dumps({"rows": rows, "absent": {}}))


if __name__ == "__main__":
    main()
