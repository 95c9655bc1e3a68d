#!/usr/bin/env python3
"""MuJoCo on held objects: how far an object creeps in a grip that friction should hold for ever.

Usage: holding_peers.py [--seconds S]       prints JSON

The scenes are scenes/gripper_cube and scenes/allegro_ball. The grip settles first (5 s); then drift is the largest distance of
the object from where it was [m], over S seconds (600) or until it has moved 5 cm: dropped. An object that is farther than 5 cm
from its start when the grip has settled was never held. Beside MuJoCo's defaults: the settings that it advises against slip, and
the best that we know, those of deft's own plant (src/deft/plant/mujoco_model.cpp).
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field

import numpy as np
from robot_mjcf import allegro_ball, gripper_cube

SETTLE_S, DROPPED_M = 5.0, 0.05


@dataclass(frozen=True)
class Variant:
    """Settings of <option>, and of all geoms."""

    option: dict
    contact: dict = field(default_factory=dict)
    h: float = 0.002  # [s]


DISCRETE = {"cone": "elliptic", "integrator": "discrete"}
VARIANTS = {
    "default": Variant({}),
    "elliptic": Variant({"cone": "elliptic"}),
    "elliptic, impratio 10": Variant({"cone": "elliptic", "impratio": "10"}),
    "elliptic, noslip": Variant({"cone": "elliptic", "noslip_iterations": "10"}),
    "pyramidal, noslip": Variant({"noslip_iterations": "10"}),
    "elliptic, impratio 1e4, discrete": Variant(DISCRETE | {"impratio": "1e4"}),
    "as deft's plant": Variant(
        DISCRETE | {"impratio": "1e5", "tolerance": "1e-12"}, {"solref": "0.001 1", "solimp": "0.1 0.9999 0.0001 0.5 2"}, 0.00025
    ),
}
CLOSED = {"gripper_cube": np.array([0.015, 0.015]), "allegro_ball": np.array([0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1.0])}
CLOSING_S = {"gripper_cube": 0.0, "allegro_ball": 2.0}


def drift(scene: str, variant: Variant, seconds: float) -> dict:
    """How far the object moves once the grip has settled."""
    import mujoco

    make = {"gripper_cube": gripper_cube, "allegro_ball": allegro_ball}[scene]
    options = {"timestep": repr(variant.h), "integrator": "implicitfast", **variant.option}
    model = mujoco.MjModel.from_xml_string(make(options, variant.contact))
    data = mujoco.MjData(model)
    if scene == "gripper_cube":
        data.qpos[:2] = 0.025
    names = [model.joint(int(j)).name for j in model.actuator_trnid[:, 0]]
    assert scene != "allegro_ball" or len(names) == 16, names
    body = model.body("object").id
    mujoco.mj_forward(model, data)
    placed = data.xpos[body].copy()
    while data.time < SETTLE_S:
        data.ctrl[:] = CLOSED[scene] * (min(1.0, data.time / CLOSING_S[scene]) if CLOSING_S[scene] else 1.0)
        mujoco.mj_step(model, data)
    start, largest, begun = data.xpos[body].copy(), 0.0, data.time
    never_held = float(np.linalg.norm(start - placed)) >= DROPPED_M
    while data.time - begun < seconds and largest < DROPPED_M and not never_held:
        mujoco.mj_step(model, data, round(0.1 / variant.h))
        largest = max(largest, float(np.linalg.norm(data.xpos[body] - start)))
    held = data.time - begun
    return {"drift_m": largest, "seconds": held, "um_per_s": 1e6 * largest / held if held else 0.0, "dropped": largest >= DROPPED_M,
            "never_held": never_held}  # fmt: skip


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
        {"scene": scene, "who": f"MuJoCo {name}, h = {1e3 * variant.h:g} ms", **drift(scene, variant, options.seconds)}
        for scene in CLOSED
        for name, variant in VARIANTS.items()
    ]
    print(json.dumps({"rows": rows, "absent": {}}))


if __name__ == "__main__":
    main()
