"""Shapes, inertias and joints of a scene's inline bodies as Drake has them."""

from __future__ import annotations

import numpy as np
from plant_scene import SceneError, pose_of
from pydrake.all import (
    Box,
    CalcSpatialInertia,
    Capsule,
    Convex,
    Cylinder,
    Ellipsoid,
    HalfSpace,
    RigidTransform,
    RotationalInertia,
    RotationMatrix,
    SpatialInertia,
    Sphere,
    UnitInertia,
)


def transform(node: dict | None) -> RigidTransform:
    R, p = pose_of(node)
    return RigidTransform(RotationMatrix.ProjectToRotationMatrix(R), p)


def shape_and_pose(node: dict) -> tuple[object, RigidTransform]:
    """A shape of `bodies:` in Drake, and where its frame lies in the body."""
    X_BG = transform(node.get("pose"))
    word = next(
        key for key in ("sphere", "box", "capsule", "cylinder", "ellipsoid", "half_space", "prism", "mesh") if node.get(key) is not None
    )
    value = node[word]
    if word == "sphere":
        return Sphere(float(value["radius"])), X_BG
    if word == "box":
        return Box(*map(float, value["size"])), X_BG
    if word in ("capsule", "cylinder"):
        return {"capsule": Capsule, "cylinder": Cylinder}[word](float(value["radius"]), float(value["length"])), X_BG
    if word == "ellipsoid":
        return Ellipsoid(*map(float, value["radii"])), X_BG
    if word == "half_space":
        normal = np.asarray(value["normal"], float)
        length = np.linalg.norm(normal)
        return HalfSpace(), X_BG @ HalfSpace.MakePose(normal / length, normal / length * float(value.get("offset", 0)) / length)
    if word == "prism":
        corners = np.asarray(value["vertices"], float)
        z = float(value["height"]) / 2
        points = np.vstack([np.column_stack([corners, np.full(len(corners), side)]) for side in (-z, z)])
        return Convex(points.T, "prism"), X_BG
    scale = value.get("scale", 1.0)
    return Convex(value["file"], np.broadcast_to(np.asarray(scale, float), (3,)).copy()), X_BG


def solid_inertia(shapes: list[tuple[object, RigidTransform]], mass: float) -> tuple[np.ndarray, np.ndarray]:
    """(com, I about it) in the body frame of a uniform solid of the shapes, which do not overlap."""
    volumes, centres, units = [], [], []
    for shape, X_BG in shapes:
        if isinstance(shape, HalfSpace):
            raise SceneError("a movable half-space has no inertia of its own; state one")
        if isinstance(shape, Sphere):
            volume, unit, p_GCom = 4 / 3 * np.pi * shape.radius() ** 3, UnitInertia.SolidSphere(shape.radius()), np.zeros(3)
        elif isinstance(shape, Box):
            volume, unit, p_GCom = np.prod(shape.size()), UnitInertia.SolidBox(*shape.size()), np.zeros(3)
        elif isinstance(shape, Cylinder):
            volume = np.pi * shape.radius() ** 2 * shape.length()
            unit, p_GCom = UnitInertia.SolidCylinder(shape.radius(), shape.length(), [0, 0, 1]), np.zeros(3)
        elif isinstance(shape, Capsule):
            volume = np.pi * shape.radius() ** 2 * (shape.length() + 4 / 3 * shape.radius())
            unit, p_GCom = UnitInertia.SolidCapsule(shape.radius(), shape.length(), [0, 0, 1]), np.zeros(3)
        elif isinstance(shape, Ellipsoid):
            volume = 4 / 3 * np.pi * shape.a() * shape.b() * shape.c()
            unit, p_GCom = UnitInertia.SolidEllipsoid(shape.a(), shape.b(), shape.c()), np.zeros(3)
        else:
            M = CalcSpatialInertia(shape, 1.0)
            volume, p_GCom, unit = M.get_mass(), M.get_com(), M.Shift(M.get_com()).get_unit_inertia()
        volumes.append(volume)
        centres.append(X_BG @ p_GCom)
        R = X_BG.rotation().matrix()
        units.append(R @ unit.CopyToFullMatrix3() @ R.T)
    share = np.array(volumes) / np.sum(volumes) if np.sum(volumes) > 0 else np.full(len(shapes), 1 / max(len(shapes), 1))
    com = sum((w * c for w, c in zip(share, centres)), np.zeros(3))
    I = sum((mass * w * (u + (d := c - com) @ d * np.eye(3) - np.outer(d, d)) for w, c, u in zip(share, centres, units)), np.zeros((3, 3)))
    return com, I


def spatial_inertia(node: dict, shapes: list) -> SpatialInertia:
    """Of an inline body about its origin."""
    mass = float(node.get("mass", 0) or 0)
    if mass == 0:
        return SpatialInertia.Zero()
    if node.get("inertia") is not None:
        six = [*map(float, node["inertia"]), 0, 0, 0][:6]
        I = np.array([[six[0], six[3], six[4]], [six[3], six[1], six[5]], [six[4], six[5], six[2]]])
        com = np.asarray(node["com"], float) if node.get("com") is not None else (solid_inertia(shapes, mass)[0] if shapes else np.zeros(3))
    else:
        com, I = solid_inertia(shapes, mass)
        if node.get("com") is not None:
            stated = np.asarray(node["com"], float)
            d = com - stated
            com, I = stated, I + mass * (d @ d * np.eye(3) - np.outer(d, d))
    inertia = RotationalInertia(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
    return SpatialInertia.MakeFromCentralInertia(mass, com, inertia)


def joint_axes(joint: dict) -> list[tuple[str, bool, np.ndarray]]:
    """(coordinate, turns, axis) of an inline body's joint, one after the other."""
    ((word, value),) = joint.items()
    unit = dict(zip("xyz", np.eye(3)))
    if word == "translation":
        return [(letter, False, unit[letter]) for letter in value]
    if word == "planar":
        normal = unit[({"x", "y", "z"} - set(value)).pop()]
        return [*((letter, False, unit[letter]) for letter in value), ("theta", True, normal)]
    return [("s" if word == "prismatic" else "theta", word == "revolute", np.asarray(value, float) / np.linalg.norm(value))]
