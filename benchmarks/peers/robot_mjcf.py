"""The bundled robots and their objects as MuJoCo models, from the page that the scenes' own model files are written from."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from robot_data import Body, expand_model, load_data  # noqa: E402


def text(values) -> str:
    return " ".join(repr(float(v)) for v in np.atleast_1d(values))


def add_geoms(element: ET.Element, body: Body) -> None:
    """Collision shapes; robots do not collide with themselves (bit 1 meets bit 2)."""
    for shape in body.shapes:
        size = np.array(shape.size) / (2 if shape.kind == "box" else 1)
        ET.SubElement(
            element,
            "geom",
            type=shape.kind,
            size=text(size),
            pos=text(shape.at),
            euler=text(shape.rpy),
            friction=f"{1.0 if shape.mu is None else shape.mu} 0.005 0.0001",
            contype="1",
            conaffinity="2",
            mass="0",
        )


def robot_model(
    name: str,
    root_rpy,
    root_at,
    stiffness: float,
    damping: float,
    object_geom: dict,
    object_at,
    options: dict,
    gravity: float,
    contact: dict | None = None,
) -> str:
    """A robot of `kinematics.yaml` on position servos and one free object. Robots carry their own weight, as in deft.

    @param object_geom  attributes of the object's geom (type, size, mass); friction 1.   @param options  attributes of <option>
    @param contact  of all geoms, for example solref
    @param damping  of every joint [N·m·s/rad, N s/m]: deft's quasidynamic robots have no inertia, these need damping instead
    """
    root = ET.Element("mujoco")
    ET.SubElement(root, "compiler", angle="radian", eulerseq="XYZ", inertiafromgeom="auto", boundmass="0")
    ET.SubElement(root, "option", gravity=f"0 0 {-gravity}", **options)
    ET.SubElement(ET.SubElement(root, "default"), "geom", contact or {})
    world, actuators = ET.SubElement(root, "worldbody"), ET.Element("actuator")
    elements = {"world": world, None: world}
    for body in expand_model(load_data(), name):
        is_root = body.parent in (None, "world")
        element = ET.SubElement(
            elements[body.parent],
            "body",
            name=body.name,
            pos=text(root_at if is_root else body.at),
            euler=text(root_rpy if is_root else body.rpy),
            gravcomp="1",
        )
        elements[body.name] = element
        ET.SubElement(element, "inertial", pos=text(body.com), mass=repr(float(body.mass)), fullinertia=text(body.inertia))
        if body.joint and body.joint.kind != "fixed":
            kind = "hinge" if body.joint.kind == "revolute" else "slide"
            ET.SubElement(
                element, "joint", name=body.joint.name, type=kind, axis=text(body.joint.axis), damping=repr(damping), limited="false"
            )
            ET.SubElement(actuators, "position", joint=body.joint.name, kp=repr(stiffness))
        add_geoms(element, body)
    held = ET.SubElement(world, "body", name="object", pos=text(object_at))
    ET.SubElement(held, "freejoint")
    ET.SubElement(held, "geom", friction="1 0.005 0.0001", contype="2", conaffinity="1", **object_geom)
    root.append(actuators)
    return ET.tostring(root, encoding="unicode")


def gripper_cube(options: dict, contact: dict | None = None) -> str:
    """scenes/gripper_cube."""
    return robot_model(
        "gripper_parallel",
        [np.pi, 0, 0],
        [0, 0, 0.3],
        1000.0,
        20.0,
        {"type": "box", "size": "0.025 0.025 0.025", "mass": "0.1"},
        [0, 0, 0.21],
        options,
        9.81,
        contact,
    )


def allegro_ball(options: dict, contact: dict | None = None) -> str:
    """scenes/allegro_ball."""
    return robot_model(
        "allegro_right",
        [0, -np.pi / 2, 0],
        [0, 0, 0],
        100.0,
        1.0,
        {"type": "sphere", "size": "0.06", "mass": "1"},
        [-0.081, 0.001, 0.071],
        options,
        10.0,
        contact,
    )
