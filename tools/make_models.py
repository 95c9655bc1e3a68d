#!/usr/bin/env python3
"""Writes the SDFormat and URDF files of scenes/models from kinematics.yaml.

python tools/make_models.py            rewrite all files
python tools/make_models.py --check    only tell whether they are up to date (exit 1 if not)
"""

import argparse
import sys
from xml.etree import ElementTree as ET

from robot_data import DATA_FILE, Body, Joint, Shape, expand_model, load_data

COLOURS = {"light": [0.82, 0.84, 0.87, 1], "dark": [0.19, 0.2, 0.23, 1], "rubber": [0.93, 0.91, 0.86, 1]}  # red, green, blue, alpha
NOTE = " Written by tools/make_models.py from kinematics.yaml; edit there. "


def numbers(values) -> str:
    return " ".join(f"{float(v) + 0.0:.15g}" for v in values)


def pose_text(at, rpy) -> str:
    return f"{numbers(at)} {numbers(rpy)}"


def child(parent: ET.Element, tag: str, text: str | None = None, **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = text
    return element


def sdf_shape(link: ET.Element, role: str, shape: Shape, index: int) -> ET.Element:
    element = child(link, role, name=f"{role}_{index}")
    if any(shape.at) or any(shape.rpy):
        child(element, "pose", pose_text(shape.at, shape.rpy))
    geometry = child(child(element, "geometry"), shape.kind)
    if shape.kind == "box":
        child(geometry, "size", numbers(shape.size))
    else:
        for tag, value in zip(("radius", "length"), shape.size):
            child(geometry, tag, numbers([value]))
    if shape.mu is not None:
        properties = child(element, "drake:proximity_properties")
        child(properties, "drake:mu_static", numbers([shape.mu]))
        child(properties, "drake:mu_dynamic", numbers([shape.mu]))
    return element


def sdf_joint(model: ET.Element, body: Body, given: Joint) -> None:
    joint = child(model, "joint", name=given.name, type=given.kind)
    child(joint, "parent", body.parent)
    child(joint, "child", body.name)
    if given.kind == "fixed":
        return
    axis = child(joint, "axis")
    child(axis, "xyz", numbers(given.axis))
    if given.limits:
        limit = child(axis, "limit")
        child(limit, "lower", numbers(given.limits[:1]))
        child(limit, "upper", numbers(given.limits[1:]))
    if given.damping:
        child(child(axis, "dynamics"), "damping", numbers([given.damping]))


def write_sdf(name: str, bodies: list[Body]) -> ET.Element:
    sdf = ET.Element("sdf", {"version": "1.7", "xmlns:drake": "drake.mit.edu"})
    sdf.append(ET.Comment(NOTE))
    model = child(sdf, "model", name=name)
    for body in bodies:
        link = child(model, "link", name=body.name)
        if any(body.at) or any(body.rpy):
            frame = {"relative_to": body.parent} if body.parent not in (None, "world") else {}
            child(link, "pose", pose_text(body.at, body.rpy), **frame)
        elif body.parent not in (None, "world"):
            child(link, "pose", pose_text(body.at, body.rpy), relative_to=body.parent)
        inertial = child(link, "inertial")
        child(inertial, "mass", numbers([body.mass]))
        if any(body.com):
            child(inertial, "pose", pose_text(body.com, [0, 0, 0]))
        inertia = child(inertial, "inertia")
        for tag, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), body.inertia):
            child(inertia, tag, numbers([value]))
        for i, shape in enumerate(body.shapes):
            sdf_shape(link, "collision", shape, i)
        for i, shape in enumerate(body.visuals):
            child(child(sdf_shape(link, "visual", shape, i), "material"), "diffuse", numbers(COLOURS[shape.colour]))
    for body in bodies:
        if body.joint:
            sdf_joint(model, body, body.joint)
    return sdf


def urdf_shape(link: ET.Element, role: str, shape: Shape, index: int) -> ET.Element:
    element = child(link, role, name=f"{role}_{index}")
    child(element, "origin", xyz=numbers(shape.at), rpy=numbers(shape.rpy))
    sizes = {"size": numbers(shape.size)} if shape.kind == "box" else {k: numbers([v]) for k, v in zip(("radius", "length"), shape.size)}
    child(child(element, "geometry"), shape.kind, **sizes)
    if shape.mu is not None:
        properties = child(element, "drake:proximity_properties")
        child(properties, "drake:mu_static", value=numbers([shape.mu]))
        child(properties, "drake:mu_dynamic", value=numbers([shape.mu]))
    return element


def write_urdf(name: str, bodies: list[Body]) -> ET.Element:
    robot = ET.Element("robot", {"name": name, "xmlns:drake": "drake.mit.edu"})
    robot.append(ET.Comment(NOTE))
    for body in bodies:
        link = child(robot, "link", name=body.name)
        inertial = child(link, "inertial")
        child(inertial, "origin", xyz=numbers(body.com), rpy="0 0 0")
        child(inertial, "mass", value=numbers([body.mass]))
        child(inertial, "inertia", **{k: numbers([v]) for k, v in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), body.inertia)})
        for i, shape in enumerate(body.shapes):
            urdf_shape(link, "collision", shape, i)
        for i, shape in enumerate(body.visuals):
            child(child(urdf_shape(link, "visual", shape, i), "material", name=shape.colour), "color", rgba=numbers(COLOURS[shape.colour]))
    for body in bodies:
        if not body.joint:
            continue
        unlimited = body.joint.kind == "revolute" and not body.joint.limits
        joint = child(robot, "joint", name=body.joint.name, type="continuous" if unlimited else body.joint.kind)
        child(joint, "parent", link=body.parent or "")
        child(joint, "child", link=body.name)
        child(joint, "origin", xyz=numbers(body.at), rpy=numbers(body.rpy))
        if body.joint.axis:
            child(joint, "axis", xyz=numbers(body.joint.axis))
        if body.joint.limits:
            child(joint, "limit", lower=numbers(body.joint.limits[:1]), upper=numbers(body.joint.limits[1:]), effort="1000", velocity="10")
    return robot


def text_of(root: ET.Element) -> str:
    ET.indent(root, "  ")
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if a file is out of date")
    check = parser.parse_args().check
    data, stale, expected = load_data(), [], set()
    for name, entry in data["models"].items():
        bodies = expand_model(data, name)
        for kind in entry.get("formats", ["sdf"]):
            path = DATA_FILE.parent / f"{name}.{kind}"
            expected.add(path)
            text = text_of((write_sdf if kind == "sdf" else write_urdf)(name, bodies))
            if not path.exists() or path.read_text() != text:
                stale.append(path.name)
                if not check:
                    path.write_text(text)
    orphans = [p.name for p in DATA_FILE.parent.iterdir() if p.suffix in (".sdf", ".urdf") and p not in expected]
    if orphans:
        print("not in kinematics.yaml:", ", ".join(sorted(orphans)), file=sys.stderr)
    print(f"{len(expected)} model files, {len(stale)} {'out of date' if check else 'rewritten'}", *stale, file=sys.stderr)
    return 1 if check and (stale or orphans) else 0


if __name__ == "__main__":
    sys.exit(main())
