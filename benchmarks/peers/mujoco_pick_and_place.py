#!/usr/bin/env python3
"""MuJoCo on scenes/pick_and_place: repeats the commands of a run folder and prints the red cube's path as JSON.

Usage: mujoco_pick_and_place.py RUN --step H [--every 0.1] [--contact advised] [--deft PROGRAM]

Arm and gripper come from the page that the scene's model files are written from, cubes, stiffness and friction from the scene. Joints are
springs with damping D = step.joint_damping, or max(2ζ√(K M_ii), K · lag) with ζ = 1, lag 10 ms. Torsion is off. Contacts: `default`;
`advised`, as hard as MuJoCo advises for its step: time constant max(2 ms, 2 h), impedance 0.99 … 0.9999, impratio 100, elliptic cones; `plant`, the
best that we know, those of deft's own plant (src/deft/plant/mujoco_model.cpp).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
from plant_scene import PlantScene, read_run
from robot_mjcf import ROOT, add_geoms, expand_model, load_data, text

FLANGE_M = 0.045  # of the gripper beyond the arm's last link, as in the scene
JOINT_LAG_S, DAMPING_RATIO = 0.01, 1.0
DIVERGED_M = 10.0


def add_robot(root: ET.Element, model: str, name: str, at: list[float]) -> ET.Element:
    """Bodies of a model of kinematics.yaml below `root`; joints are called model/joint. @returns the last body."""
    element, elements = root, {"world": root, None: root}
    for body in expand_model(load_data(), model):
        is_root = body.parent in (None, "world")
        element = ET.SubElement(elements[body.parent], "body", name=f"{name}/{body.name}", pos=text(at if is_root else body.at),
                                euler=text([0, 0, 0] if is_root else body.rpy), gravcomp="1")  # fmt: skip
        elements[body.name] = element
        ET.SubElement(element, "inertial", pos=text(body.com), mass=repr(float(body.mass)), fullinertia=text(body.inertia))
        if body.joint and body.joint.kind != "fixed":
            limits = {"limited": "true", "range": text(body.joint.limits)} if body.joint.limits else {"limited": "false"}
            kind = "hinge" if body.joint.kind == "revolute" else "slide"
            ET.SubElement(element, "joint", limits, name=f"{name}/{body.joint.name}", type=kind, axis=text(body.joint.axis))
        add_geoms(element, body)
    return element


def contact_settings(name: str, h: float) -> tuple[dict, dict]:
    """Attributes of <option> and of all geoms."""
    exact = {"cone": "elliptic", "tolerance": "1e-12", "iterations": "100"}
    return {
        "default": ({"integrator": "implicitfast"}, {}),
        "advised": (
            {"integrator": "implicitfast", "impratio": "100", **exact},
            {"solref": text([max(0.002, 2 * h), 1]), "solimp": "0.99 0.9999 0.001 0.5 2"},
        ),
        "plant": ({"integrator": "discrete", "impratio": "1e5", **exact}, {"solref": "0.001 1", "solimp": "0.1 0.9999 0.0001 0.5 2"}),
    }[name]


def model_xml(run: PlantScene, h: float, contact: str) -> str:
    """The scene as MJCF. Robots (bit 1) meet objects (bit 2) and not themselves; objects meet everything."""
    scene, root = run.scene, ET.Element("mujoco")
    ET.SubElement(root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="auto", boundmass="0")
    option, geom = contact_settings(contact, h)
    ET.SubElement(root, "option", timestep=repr(h), gravity=text(scene["gravity"]), **option)
    ET.SubElement(ET.SubElement(root, "default"), "geom", condim="3", **geom)
    world = ET.SubElement(root, "worldbody")
    hand = add_robot(world, "iiwa7", "iiwa", [0, 0, 0])
    add_robot(hand, "gripper_parallel", "gripper", [0, 0, FLANGE_M])
    ET.SubElement(world, "geom", name="ground", type="plane", size="5 5 0.1", contype="2", conaffinity="3", friction="0.5 0.005 0.0001")
    start = scene["configurations"][scene["initial"]]
    for name, body in scene["bodies"].items():
        if body["joint"] != "free":
            continue
        element = ET.SubElement(world, "body", name=name, pos=text(start[name]["position"]))
        ET.SubElement(element, "freejoint", name=name)
        ET.SubElement(element, "inertial", pos="0 0 0", mass=repr(float(body["mass"])), diaginertia=text(body["inertia"]))
        ET.SubElement(element, "geom", name=name, type="box", size=text(np.array(body["shape"]["box"]["size"]) / 2), contype="2", conaffinity="3",
                      friction=f"{body['mu']} 0.005 0.0001", mass="0")  # fmt: skip
    return ET.tostring(root, encoding="unicode")


def set_ground_friction(run: PlantScene, model) -> None:
    """MuJoCo takes the larger coefficient of two geoms; deft's rule for this scene's pairs is 1 between cubes and pads, 2/3 with the ground.

    The ground has priority with that 2/3, which all of its pairs with cubes have.
    """
    import mujoco

    ground = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_GEOM, "ground")
    values = {
        run.pair_friction("ground", 0.5, name, float(body["mu"])) for name, body in run.scene["bodies"].items() if body["joint"] == "free"
    }
    (value,) = values
    model.geom_friction[ground, 0] = value
    model.geom_priority[ground] = 1


def simulate(run: PlantScene, h: float, every: float, contact: str) -> dict:
    import mujoco

    model = mujoco.MjModel.from_xml_string(model_xml(run, h, contact))
    set_ground_friction(run, model)
    data = mujoco.MjData(model)
    joints = [model.joint(name) for name in run.names_u]
    rows_q, rows_v = (np.array([getattr(joint, which)[0] for joint in joints]) for which in ("qposadr", "dofadr"))
    data.qpos[rows_q] = run.q[0][[run.names_q.index(name) for name in run.names_u]]
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    K, D = run.stiffness(), run.stated_damping()
    if D is None:
        D = np.maximum(2 * DAMPING_RATIO * np.sqrt(K * np.diag(M)[rows_v]), K * JOINT_LAG_S)
    model.dof_damping[rows_v] = D
    model.jnt_stiffness[[joint.id for joint in joints]] = (
        K  # springs to qpos_spring, which moves with the commands: implicit in the integrator
    )
    knots = np.vstack([data.qpos[rows_q], run.u])
    times = run.t - run.t[0]
    red = model.joint("red").qposadr[0]
    steps, between = round(times[-1] / h), max(1, round(every / h))
    t, position, quaternion, status = [0.0], [data.qpos[red : red + 3].tolist()], [data.qpos[red + 3 : red + 7].tolist()], "Completed"
    targets = np.stack(
        [np.interp(h * np.arange(1, steps + 1), times, knots[:, j]) for j in range(len(K))], axis=1
    )  # a step takes the target of its end
    began = time.perf_counter()
    for k in range(steps):
        model.qpos_spring[rows_q] = targets[k]
        mujoco.mj_step(model, data)
        if (k + 1) % between == 0 or k + 1 == steps:
            bad = sum(
                data.warning[w].number
                for w in (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL, mujoco.mjtWarning.mjWARN_BADQACC)
            )
            if bad or not np.linalg.norm(data.qpos[red : red + 3]) < DIVERGED_M:
                status = "Diverged"
                break
            t.append(round((k + 1) * h, 9))
            position.append(data.qpos[red : red + 3].tolist())
            quaternion.append(data.qpos[red + 3 : red + 7].tolist())
    return {"status": status, "h": h, "t": t, "position": position, "quat_wxyz": quaternion, "damping": D.tolist(), "seconds": time.perf_counter() - began,
            "version": mujoco.__version__}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--step", type=float, required=True)
    parser.add_argument("--every", type=float, default=0.1)
    parser.add_argument("--contact", choices=("default", "advised", "plant"), default="advised")
    parser.add_argument("--deft", type=Path, default=Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")) / "deft")
    given = parser.parse_args()
    print(json.dumps(simulate(read_run(given.run, given.deft), given.step, given.every, given.contact)))


if __name__ == "__main__":
    main()
