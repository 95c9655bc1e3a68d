#!/usr/bin/env python3
"""MuJoCo and Drake on scenes/allegro_ball: a hand of sixteen joints closes on a ball in two seconds.

Usage: simulator_peers.py        prints JSON

Every step length, with each simulator's defaults and with the best settings that we know for a grip. Seconds of the whole motion
within one call of the library (MuJoCo's roll-out, Drake's AdvanceTo), the fastest of three, and where the ball is at its end; a
motion that does not end is `diverged`. The joints are position servos of 100 N·m/rad with a damping of 1 N·m·s/rad; the hand
carries its own weight.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from robot_mjcf import ROOT, allegro_ball

CLOSED = np.array([0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1.0])
DURATION_S = 2.0


def mujoco_run(h: float, options: dict) -> dict:
    import mujoco
    from mujoco import rollout

    model = mujoco.MjModel.from_xml_string(allegro_ball({"timestep": repr(h), **options}))
    steps, best = round(DURATION_S / h), float("inf")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.zeros(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, start, kind)
    control = CLOSED * (np.arange(1, steps + 1)[:, None] / steps)
    for _ in range(3):
        began = time.perf_counter()
        states, _ = rollout.rollout(model, data, start[None], control[None])
        best = min(best, time.perf_counter() - began)
    mujoco.mj_setState(model, data, states[0, -1], kind)
    mujoco.mj_forward(model, data)
    position = data.body("object").xpos.tolist()
    diverged = not np.isfinite(position).all() or any(
        data.warning[w].number for w in (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQACC)
    )
    return {"seconds": best, "steps": steps, "position": position, "quat_wxyz": data.body("object").xquat.tolist(), "diverged": diverged}


def drake_run(approximation: str, h: float) -> dict:
    from pydrake.all import (
        AddMultibodyPlantSceneGraph,
        CoulombFriction,
        DiagramBuilder,
        DiscreteContactApproximation,
        Parser,
        PdControllerGains,
        PiecewisePolynomial,
        RigidTransform,
        RollPitchYaw,
        Simulator,
        SpatialInertia,
        Sphere,
        TrajectorySource,
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
    order = np.array([int(a.joint().name().rsplit("_", 1)[1]) for a in actuators])
    closed = np.concatenate([CLOSED[order], np.zeros(16)])
    # A step takes the target of its end.
    targets = PiecewisePolynomial.FirstOrderHold(
        [0, DURATION_S - h, DURATION_S], np.column_stack([h / DURATION_S * closed, closed, closed])
    )
    source = builder.AddSystem(TrajectorySource(targets))
    builder.Connect(source.get_output_port(), plant.get_desired_state_input_port(hand))
    diagram = builder.Build()
    steps, best = round(DURATION_S / h), float("inf")
    for _ in range(3):
        context = diagram.CreateDefaultContext()
        plant_context = plant.GetMyMutableContextFromRoot(context)
        plant.SetFreeBodyPose(plant_context, ball, RigidTransform([-0.081, 0.001, 0.071]))
        simulator = Simulator(diagram, context)
        simulator.Initialize()
        start = time.perf_counter()
        simulator.AdvanceTo(DURATION_S)
        best = min(best, time.perf_counter() - start)
    pose = plant.EvalBodyPoseInWorld(plant_context, ball)
    return {
        "seconds": best,
        "steps": steps,
        "position": pose.translation().tolist(),
        "quat_wxyz": pose.rotation().ToQuaternion().wxyz().tolist(),
        "diverged": not np.isfinite(pose.translation()).all(),
    }


MUJOCO = {
    "MuJoCo": {"integrator": "implicitfast"},
    "MuJoCo, elliptic, impratio 1e4, discrete": {"integrator": "discrete", "cone": "elliptic", "impratio": "1e4"},
}
DRAKE = {"Drake lagged": "kLagged", "Drake SAP": "kSap"}
STEPS_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


def runs() -> Iterator[tuple[str, float, Callable[[], dict]]]:
    """Who, with which step, and the run."""
    for h in STEPS_S:
        for who, options in MUJOCO.items():
            yield who, h, partial(mujoco_run, h, options)
        for who, approximation in DRAKE.items():
            yield who, h, partial(drake_run, approximation, h)


def main() -> None:
    rows, absent = [], {}
    for who, h, run in runs():
        try:
            rows.append({"who": f"{who}, h = {1e3 * h:g} ms", **run()})
        except ImportError as error:
            absent[who] = str(error)
        except RuntimeError as error:  # Drake's solver gives up
            absent[f"{who}, h = {1e3 * h:g} ms"] = str(error).splitlines()[0]
    print(json.dumps({"rows": rows, "absent": absent}))


if __name__ == "__main__":
    main()
