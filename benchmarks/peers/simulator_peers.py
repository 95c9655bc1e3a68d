#!/usr/bin/env python3
"""MuJoCo and Drake on scenes/allegro_ball: a hand of sixteen joints closes on a ball in two seconds.

Usage: simulator_peers.py        prints JSON

Milliseconds per step and the real-time factor over the whole motion (fastest of three runs), and where the ball is at its end.
The joints are position servos of 100 N·m/rad with a damping of 1 N·m·s/rad; the hand carries its own weight.
"""

from __future__ import annotations

import json
import time

import numpy as np
from robot_mjcf import ROOT, allegro_ball

CLOSED = np.array([0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1.0])
DURATION_S = 2.0


def mujoco_run(h: float) -> dict:
    import mujoco

    model = mujoco.MjModel.from_xml_string(allegro_ball({"timestep": repr(h), "integrator": "implicitfast"}))
    steps, best = round(DURATION_S / h), float("inf")
    for _ in range(3):
        data = mujoco.MjData(model)
        start = time.perf_counter()
        for k in range(steps):
            data.ctrl[:] = CLOSED * ((k + 1) / steps)
            mujoco.mj_step(model, data)
        best = min(best, time.perf_counter() - start)
    return {"seconds": best, "steps": steps, "position": data.body("object").xpos.tolist(), "quat_wxyz": data.body("object").xquat.tolist()}


def drake_run(approximation: str, h: float) -> dict:
    from pydrake.all import (
        AddMultibodyPlantSceneGraph,
        CoulombFriction,
        DiagramBuilder,
        DiscreteContactApproximation,
        Parser,
        PdControllerGains,
        RigidTransform,
        RollPitchYaw,
        Simulator,
        SpatialInertia,
        Sphere,
    )

    builder = DiagramBuilder()
    plant, _ = AddMultibodyPlantSceneGraph(builder, h)
    plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -10])
    (hand,) = Parser(plant).AddModels(str(ROOT / "scenes/models/allegro_right.sdf"))
    plant.set_gravity_enabled(hand, False)
    plant.WeldFrames(
        plant.world_frame(), plant.GetFrameByName("hand_root", hand), RigidTransform(RollPitchYaw(0, -np.pi / 2, 0), [0, 0, 0])
    )
    actuators = [plant.get_joint_actuator(index) for index in plant.GetJointActuatorIndices()]
    for actuator in actuators:
        actuator.joint().set_default_damping(1.0)
        actuator.set_controller_gains(PdControllerGains(p=100, d=0))
    ball_model = plant.AddModelInstance("ball")
    ball = plant.AddRigidBody("ball", ball_model, SpatialInertia.SolidSphereWithMass(1.0, 0.06))
    plant.RegisterCollisionGeometry(ball, RigidTransform(), Sphere(0.06), "ball", CoulombFriction(1, 1))
    plant.Finalize()
    diagram = builder.Build()
    order = np.array([int(a.joint().name().rsplit("_", 1)[1]) for a in actuators])
    steps, best = round(DURATION_S / h), float("inf")
    for _ in range(3):
        context = diagram.CreateDefaultContext()
        plant_context = plant.GetMyMutableContextFromRoot(context)
        plant.SetFreeBodyPose(plant_context, ball, RigidTransform([-0.081, 0.001, 0.071]))
        simulator = Simulator(diagram, context)
        port = plant.get_desired_state_input_port(hand)
        port.FixValue(plant_context, np.zeros(32))
        simulator.Initialize()
        start = time.perf_counter()
        for k in range(steps):
            port.FixValue(plant_context, np.concatenate([CLOSED[order] * ((k + 1) / steps), np.zeros(16)]))
            simulator.AdvanceTo((k + 1) * h)
        best = min(best, time.perf_counter() - start)
    pose = plant.EvalBodyPoseInWorld(plant_context, ball)
    return {
        "seconds": best,
        "steps": steps,
        "position": pose.translation().tolist(),
        "quat_wxyz": pose.rotation().ToQuaternion().wxyz().tolist(),
    }


RUNS = {
    "MuJoCo, h = 2 ms": lambda: mujoco_run(0.002),
    "MuJoCo, h = 10 ms": lambda: mujoco_run(0.01),
    "Drake lagged, h = 1 ms": lambda: drake_run("kLagged", 0.001),
    "Drake SAP, h = 1 ms": lambda: drake_run("kSap", 0.001),
}


def main() -> None:
    rows, absent = [], {}
    for who, run in RUNS.items():
        try:
            rows.append({"who": who, **run()})
        except ImportError as error:
            absent[who] = str(error)
    print(json.dumps({"rows": rows, "absent": absent}))


if __name__ == "__main__":
    main()
