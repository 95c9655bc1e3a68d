#!/usr/bin/env python3
"""MuJoCo on scenes/reproductions/grasping_arms_second_order: four arms of two links pinch a square that lies on a table.

Usage: arms_peers.py H...        prints JSON: for each step length [s] the square's (x, y, θ) over time, and the time of the run

Masses, dampers, friction, start and commands are read from the scene and its model file. A joint's servo is a torque D u against a
damping D, so it turns at u unless something holds it: the velocity control of the limit-surface scene with D = 1/(cB).
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import yaml

SCENES = Path(__file__).resolve().parents[2] / "scenes/reproductions"
EVERY_S = 0.02  # of the recorded path


class SceneLoader(yaml.SafeLoader):
    """YAML of scenes: `!Rpy` is a mapping like others."""


SceneLoader.add_constructor("!Rpy", lambda loader, node: loader.construct_mapping(node, deep=True))


def text(values) -> str:
    return " ".join(repr(float(v)) for v in np.atleast_1d(values))


def arm_links() -> list[dict]:
    """Of the two links: where they begin on the one before [m], mass [kg], centre [m], principal inertia [kg m²]."""
    links = []
    for link in ET.parse(SCENES / "two_link_arm.sdf").iter("link"):
        inertial = link.find("inertial")
        if inertial is not None:
            numbers = lambda element: [float(x) for x in element.text.split()]  # noqa: E731
            links.append(
                {
                    "at": numbers(link.find("pose"))[:3] if link.find("pose") is not None else [0, 0, 0],
                    "mass": float(inertial.findtext("mass", "")),
                    "centre": numbers(inertial.find("pose"))[:3],
                    "inertia": [float(inertial.findtext(f"inertia/{k}", "")) for k in ("ixx", "iyy", "izz")],
                }
            )
    return links


def model_of(scene: dict, h: float) -> tuple[str, list[str]]:
    """The scene as a MuJoCo model, and its joints in the order of its actuators."""
    square, links = scene["bodies"]["square"], arm_links()
    sliding, tip_mu = scene["friction"]["pairs"][0]["mu"], scene["friction"]["default"]
    radius = float(ET.parse(SCENES / "two_link_arm.sdf").findtext(".//collision/geometry/sphere/radius", ""))
    root = ET.Element("mujoco")
    ET.SubElement(
        root,
        "option",
        gravity="0 0 -9.81",
        timestep=repr(h),
        integrator="implicitfast",
        cone="elliptic",
        tolerance="1e-12",
        iterations="200",
    )
    world, contact, actuators, joints = ET.SubElement(root, "worldbody"), ET.Element("contact"), ET.Element("actuator"), []
    ET.SubElement(world, "geom", name="table", type="plane", size="5 5 0.1")
    body = ET.SubElement(world, "body", name="square", pos=text(scene["configurations"]["start"]["square"]["position"]))
    ET.SubElement(body, "freejoint")
    ET.SubElement(
        body, "geom", name="square", type="box", size=text(np.array(square["shape"]["box"]["size"]) / 2), mass=repr(float(square["mass"]))
    )
    ET.SubElement(contact, "pair", geom1="square", geom2="table", condim="3", friction=text([sliding, sliding, 0.005, 1e-4, 1e-4]))
    for directive in scene["directives"]:
        if "add_weld" not in directive:
            continue
        weld = directive["add_weld"]
        name = weld["child"].split("::")[0]
        yaw = np.deg2rad(weld["X_PC"]["rotation"]["deg"][2])
        parent = ET.SubElement(world, "body", pos=text(weld["X_PC"]["translation"]), quat=text([np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]))
        for link, joint in zip(links, ("shoulder", "elbow")):
            parent = ET.SubElement(parent, "body", pos=text(link["at"]), gravcomp="1")
            ET.SubElement(
                parent,
                "joint",
                name=f"{name}/{joint}",
                type="hinge",
                axis="0 0 1",
                damping=repr(float(scene["step"]["joint_damping"][f"{name}/{joint}"])),
            )
            ET.SubElement(parent, "inertial", pos=text(link["centre"]), mass=repr(link["mass"]), diaginertia=text(link["inertia"]))
            ET.SubElement(actuators, "motor", joint=f"{name}/{joint}")
            joints.append(f"{name}/{joint}")
        ET.SubElement(parent, "geom", name=f"{name}/tip", type="sphere", size=repr(radius), pos="1 0 0", mass="0")
        ET.SubElement(contact, "pair", geom1=f"{name}/tip", geom2="square", condim="3", friction=text([tip_mu, tip_mu, 0.005, 1e-4, 1e-4]))
    for geom in root.iter("geom"):
        geom.set("contype", "0")
        geom.set("conaffinity", "0")
    root.append(contact)
    root.append(actuators)
    return ET.tostring(root, encoding="unicode"), joints


def run(h: float) -> dict:
    import mujoco

    scene = yaml.load((SCENES / "grasping_arms_second_order.deft.yaml").read_text(), SceneLoader)
    command = yaml.load((SCENES / "grasping_arms.deft.yaml").read_text(), SceneLoader)["commands"]
    xml, joints = model_of(scene, h)
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    start, wanted = scene["configurations"]["start"], command["knots"][0]
    for name in joints:
        arm, joint = name.split("/")
        data.joint(name).qpos[:] = start[arm][joint]
    data.ctrl[:] = [
        scene["step"]["joint_damping"][name] * wanted[name.split("/")[0]][("shoulder", "elbow").index(name.split("/")[1])]
        for name in joints
    ]
    between, duration = round(EVERY_S / h), float(scene["commands"]["until"])
    t, pose, turn = [0.0], [[0.0, 0.0, 0.0]], 0.0
    began = time.perf_counter()
    for k in range(round(duration / h)):
        mujoco.mj_step(model, data)
        if (k + 1) % between == 0:
            position, (qw, _, _, qz) = data.body("square").xpos, data.body("square").xquat
            angle = 2 * np.arctan2(qz, qw)
            turn = angle + 2 * np.pi * round((turn - angle) / (2 * np.pi))
            t.append(round(data.time, 9))
            pose.append([float(position[0]), float(position[1]), float(turn)])
    return {"who": f"MuJoCo {mujoco.__version__}, h = {1e3 * h:g} ms", "h": h, "t": t, "pose": pose, "seconds": time.perf_counter() - began}


def main() -> None:
    rows, absent = [], {}
    try:
        rows = [run(float(word)) for word in sys.argv[1:]]
    except ImportError as error:
        absent["MuJoCo"] = str(error)
    print(json.dumps({"rows": rows, "absent": absent}))


if __name__ == "__main__":
    main()
