#!/usr/bin/env python3
"""Writes the household objects of scenes/objects: SDFormat files, and meshes of what is no primitive.

python tools/make_objects.py            rewrite all files
python tools/make_objects.py --check    only tell whether they are up to date (exit 1 if not)

An object is a list of convex parts, each a primitive or a loft, that collide and are drawn, but where a smooth surface is drawn
in their place. Mass and size are those of such things in a household; inertias are those of the parts, filled evenly, so that what
two parts share counts twice. The frame of an object is in the middle of the box around its parts, z upwards as it stands or lies.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import cos, pi, sin, sqrt
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "scenes" / "objects"
NOTE = " Written by tools/make_objects.py; edit there. "
MU = 0.5

Point = tuple[float, float, float]
Mesh = tuple[np.ndarray, list[tuple[int, int, int]]]  # corners [m], triangles counter-clockwise from outside

STEEL, RED, WOOD, DARK, BLUE, GREEN, YELLOW, WHITE, ORANGE = (
    (0.62, 0.65, 0.69), (0.78, 0.22, 0.20), (0.72, 0.52, 0.32), (0.20, 0.21, 0.24), (0.22, 0.42, 0.68),
    (0.30, 0.58, 0.40), (0.93, 0.79, 0.30), (0.93, 0.93, 0.91), (0.90, 0.52, 0.20))  # fmt: skip


def turned(rpy: Point) -> np.ndarray:
    """Rotation about the fixed axes x, y, z in this order."""
    (cr, sr), (cp, sp), (cy, sy) = ((cos(a), sin(a)) for a in rpy)
    return np.array([[cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                     [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], [-sp, cp * sr, cp * cr]])  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One convex piece, or (not `touched`) a surface that is only drawn."""

    kind: str  # box, cylinder, capsule, sphere, ellipsoid, mesh
    size: tuple[float, ...] = ()  # [m], in the order of SDFormat's elements
    at: Point = (0, 0, 0)
    rpy: Point = (0, 0, 0)
    colour: tuple[float, float, float] = STEEL
    mesh: Mesh | None = None  # in the frame of the part
    touched: bool = True
    drawn: bool = True
    density: float = 1  # against the other parts

    def placed(self, points: np.ndarray) -> np.ndarray:
        return points @ turned(self.rpy).T + np.array(self.at)


@dataclass
class Object:
    """A household object."""

    name: str
    mass: float  # [kg]
    parts: list[Part] = field(default_factory=list)


# ------------------------------------------------------------------------------------------------------------ meshes


def loft(rings: Iterable[Iterable[Point]]) -> Mesh:
    """The surface through rings of as many points each, every one counter-clockwise as seen from the last, with flat ends."""
    stacked = [np.array(list(ring), dtype=float) for ring in rings]
    n, points = len(stacked[0]), np.concatenate(stacked)
    triangles = []
    for k in range(len(stacked) - 1):
        for i in range(n):
            a, b = k * n + i, k * n + (i + 1) % n
            triangles += [(a, b, b + n), (a, b + n, a + n)]
    last = len(points) - n
    triangles += [(0, i + 1, i) for i in range(1, n - 1)] + [(last, last + i, last + i + 1) for i in range(1, n - 1)]
    return points, triangles


def circle(radius: float, z: float, n: int = 24, x: float = 0) -> list[Point]:
    return [(x + radius * cos(2 * pi * i / n), radius * sin(2 * pi * i / n), z) for i in range(n)]


def lathe(profile: list[tuple[float, float]], n: int = 48) -> Mesh:
    """A profile (radius, z) turned about z: upwards on the outside, and down again inside if it is hollow; its ends are on the axis."""
    points: list[Point] = []
    rings: list[list[int]] = []
    for radius, z in profile:
        ring = circle(radius, z, n) if radius > 0 else [(0.0, 0.0, z)]
        rings.append(list(range(len(points), len(points) + len(ring))))
        points += ring
    triangles = []
    for low, high in zip(rings, rings[1:]):
        for i in range(n):
            a, b = low[i % len(low)], low[(i + 1) % len(low)]
            c, d = high[i % len(high)], high[(i + 1) % len(high)]
            triangles += [t for t in ((a, b, d), (a, d, c)) if len(set(t)) == 3]
    return np.array(points), triangles


def sector(n: int, corners: list[tuple[float, float]]) -> Mesh:
    """What a convex polygon (radius, z; counter-clockwise, upwards on the outside) sweeps over one n-th of a turn about z, with flat sides."""
    half = pi / n
    return loft([[(r * cos(turn), r * sin(turn), z) for r, z in corners] for turn in (half, -half)])


# ----------------------------------------------------------------------------------------------------------- inertia


def mesh_moments(points: np.ndarray, triangles: list[tuple[int, int, int]]) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, first and second moments ∫ x xᵀ of what a surface encloses: sums over tetrahedra from the origin."""
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for triangle in triangles:
        a, b, c = points[list(triangle)]
        v = float(np.dot(a, np.cross(b, c))) / 6
        s = a + b + c
        volume += v
        first += v * s / 4
        second += v / 20 * (np.outer(s, s) + np.outer(a, a) + np.outer(b, b) + np.outer(c, c))
    return volume, first, second


def ball_moments(radii: np.ndarray) -> tuple[float, np.ndarray]:
    volume = 4 / 3 * pi * float(np.prod(radii))
    return volume, volume / 5 * np.diag(radii**2)


def moments(part: Part) -> tuple[float, np.ndarray, np.ndarray]:
    """Volume, ∫ x and ∫ x xᵀ of a part in the object's frame."""
    size = np.array(part.size)
    first = np.zeros(3)
    if part.kind == "mesh":
        assert part.mesh is not None
        volume, first, second = mesh_moments(*part.mesh)
        assert volume > 0, "a part is inside out"
    elif part.kind == "box":
        volume = float(np.prod(size))
        second = volume / 12 * np.diag(size**2)
    elif part.kind in ("sphere", "ellipsoid"):
        volume, second = ball_moments(size if part.kind == "ellipsoid" else np.full(3, size[0]))
    else:  # along z
        radius, length = part.size
        volume = pi * radius**2 * length
        second = volume * np.diag([radius**2 / 4, radius**2 / 4, length**2 / 12])
        if part.kind == "capsule":  # two half balls, each with its middle 3/8 of the radius beyond the end
            ball, ball_second = ball_moments(np.full(3, radius))
            along = ball * (length**2 / 4 + length * 3 / 8 * radius)
            volume, second = volume + ball, second + ball_second + np.diag([0, 0, along])
    R, p = turned(part.rpy), np.array(part.at)
    turned_first = R @ first
    second = R @ second @ R.T + np.outer(p, turned_first) + np.outer(turned_first, p) + volume * np.outer(p, p)
    return volume, turned_first + volume * p, second


def without_rounding(value: float, largest: float) -> float:
    """0 for what is only rounding, which differs between processors."""
    return 0.0 if abs(value) < 1e-12 * largest else float(value)


def inertial(thing: Object) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and inertia about it."""
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for part in thing.parts:
        if part.touched:
            m, f, s = moments(part)
            mass, first, second = mass + part.density * m, first + part.density * f, second + part.density * s
    com = first / mass
    spread = (second / mass - np.outer(com, com)) * thing.mass
    return com, np.trace(spread) * np.eye(3) - spread


def extent(part: Part) -> np.ndarray:
    """Points of which the box around the object is taken: corners, or the ends of round parts along the axes."""
    if part.kind == "mesh":
        assert part.mesh is not None
        return part.placed(part.mesh[0])
    R, size = turned(part.rpy), np.array(part.size)
    if part.kind == "box":
        half = np.abs(R) @ (size / 2)
    elif part.kind in ("sphere", "ellipsoid"):
        half = np.linalg.norm(R * (size if part.kind == "ellipsoid" else np.full(3, size[0])), axis=1)
    else:
        radius, length = part.size
        across = np.ones(3) if part.kind == "capsule" else np.sqrt(np.maximum(0, 1 - R[:, 2] ** 2))
        half = np.abs(R[:, 2]) * length / 2 + radius * across
    return np.array([np.array(part.at) - half, np.array(part.at) + half])


# ----------------------------------------------------------------------------------------------------------- objects


def between(kind: str, radius: float, a: Point, b: Point, colour=STEEL, **more) -> Part:
    """A capsule or cylinder from a to b."""
    d = np.array(b) - np.array(a)
    length = float(np.linalg.norm(d))
    pitch = float(np.arctan2(np.hypot(d[0], d[1]), d[2]))
    yaw = float(np.arctan2(d[1], d[0]))
    return Part(kind, (radius, length), tuple((np.array(a) + np.array(b)) / 2), (0, pitch, yaw), colour, **more)


def arc(n: int, radius: float, tube: float, start: float, end: float, place: Callable[[float, float], Point], colour) -> list[Part]:
    """A bent rod: n capsules along a circle of the plane that `place` puts somewhere."""
    turns = [start + (end - start) * i / n for i in range(n + 1)]
    ends = [place(radius * cos(t), radius * sin(t)) for t in turns]
    return [between("capsule", tube, a, b, colour) for a, b in zip(ends, ends[1:])]


def mug() -> Object:
    outer, wall, height, floor, n = 0.041, 0.004, 0.095, 0.006, 16
    profile = [(0, 0), (outer, 0), (outer, height), (outer - wall, height), (outer - wall, floor), (0, floor)]
    slab = sector(n, [(outer - wall, 0), (outer, 0), (outer, height), (outer - wall, height)])
    parts = [Part("mesh", mesh=lathe(profile), colour=BLUE, touched=False)]
    parts += [Part("mesh", mesh=slab, rpy=(0, 0, 2 * pi * (i + 0.5) / n), drawn=False) for i in range(n)]
    parts.append(Part("cylinder", (outer - wall, floor), (0, 0, floor / 2), drawn=False))
    parts += arc(6, 0.028, 0.005, -pi / 2, pi / 2, lambda x, z: (outer - 0.002 + x, 0, height / 2 + z), BLUE)
    return Object("mug", 0.35, parts)


def bowl() -> Object:
    n, wall = 12, 0.005
    outside = [(0.035, 0), (0.058, 0.018), (0.073, 0.055)]
    inside = [(r - wall, z + (wall if k == 0 else 0)) for k, (r, z) in enumerate(outside)]
    parts = [Part("mesh", mesh=lathe([(0, 0), *outside, *reversed(inside), (0, wall)]), colour=WHITE, touched=False)]
    for k in range(2):
        stave = sector(n, [inside[k], outside[k], outside[k + 1], inside[k + 1]])
        parts += [Part("mesh", mesh=stave, rpy=(0, 0, 2 * pi * (i + 0.5) / n), drawn=False) for i in range(n)]
    parts.append(Part("cylinder", (0.031, wall), (0, 0, wall / 2), drawn=False))
    return Object("bowl", 0.4, parts)


def hammer() -> Object:
    face = loft([circle(0.0125, 0, 16), circle(0.0125, 0.016, 16)])
    claw = loft([[(0.012, -0.012, 0), (0.012, 0.012, 0), (-0.012, 0.012, 0), (-0.012, -0.012, 0)],
                 [(0.002, -0.014, 0.055), (0.002, 0.014, 0.055), (-0.006, 0.014, 0.055), (-0.006, -0.014, 0.055)]])  # fmt: skip
    return Object("hammer", 0.55, [
        between("capsule", 0.013, (-0.15, 0, 0), (0.09, 0, 0), WOOD),
        Part("box", (0.028, 0.04, 0.026), (0.115, 0, 0), density=9),
        Part("mesh", mesh=face, at=(0.115, 0.02, 0), rpy=(-pi / 2, 0, 0), density=9),
        Part("mesh", mesh=claw, at=(0.115, -0.02, 0), rpy=(pi / 2, 0, 0), density=9),
    ])  # fmt: skip


def screwdriver() -> Object:
    tip = loft([[(0.003, -0.003, 0), (0.003, 0.003, 0), (-0.003, 0.003, 0), (-0.003, -0.003, 0)],
                [(0.0005, -0.003, 0.01), (0.0005, 0.003, 0.01), (-0.0005, 0.003, 0.01), (-0.0005, -0.003, 0.01)]])  # fmt: skip
    neck = loft([circle(0.015, 0, 16), circle(0.007, 0.018, 16)])
    return Object("screwdriver", 0.12, [
        between("capsule", 0.015, (-0.075, 0, 0), (0, 0, 0), RED),
        Part("mesh", mesh=neck, rpy=(0, pi / 2, 0), colour=DARK),
        between("cylinder", 0.0035, (0.015, 0, 0), (0.11, 0, 0), density=7),
        Part("mesh", mesh=tip, at=(0.11, 0, 0), rpy=(0, pi / 2, 0), density=7),
    ])  # fmt: skip


def bottle() -> Object:
    shoulder = loft([circle(0.034, 0.15), circle(0.013, 0.19)])
    return Object("bottle", 0.5, [
        Part("cylinder", (0.034, 0.15), (0, 0, 0.075), colour=GREEN),
        Part("mesh", mesh=shoulder, colour=GREEN),
        Part("cylinder", (0.013, 0.03), (0, 0, 0.205), colour=GREEN),
        Part("cylinder", (0.0145, 0.015), (0, 0, 0.2275), colour=WHITE),
    ])  # fmt: skip


def banana() -> Object:
    bend, pieces, sides = 0.11, 6, 12
    span = 1.6  # radians of the circle that it follows

    def ring(turn: float) -> list[Point]:
        thick = 0.018 * sqrt(max(0.0, 1 - (2 * turn / span) ** 4)) + 0.005
        around = [(bend + thick * cos(2 * pi * i / sides), thick * sin(2 * pi * i / sides)) for i in range(sides)]
        return [(r * sin(turn), -r * cos(turn) + bend, y) for r, y in reversed(around)]

    turns = [span * (k / pieces - 0.5) for k in range(pieces + 1)]
    fine = [span * (k / 24 - 0.5) for k in range(25)]
    parts = [Part("mesh", mesh=loft(ring(t) for t in fine), colour=YELLOW, touched=False)]
    parts += [Part("mesh", mesh=loft([ring(a), ring(b)]), drawn=False) for a, b in zip(turns, turns[1:])]
    return Object("banana", 0.15, parts)


def drill() -> Object:
    chuck = loft([circle(0.024, 0, 20), circle(0.015, 0.03, 20)])
    return Object("drill", 1.3, [
        between("cylinder", 0.032, (-0.07, 0, 0.09), (0.07, 0, 0.09), ORANGE),
        Part("mesh", mesh=chuck, at=(0.07, 0, 0.09), rpy=(0, pi / 2, 0), colour=DARK, density=2),
        between("cylinder", 0.004, (0.1, 0, 0.09), (0.15, 0, 0.09), density=4),
        Part("box", (0.042, 0.036, 0.12), (-0.035, 0, 0.02), (0, 0.12, 0), DARK),
        Part("box", (0.1, 0.06, 0.045), (-0.02, 0, -0.0575), colour=ORANGE, density=2),
    ])  # fmt: skip


def clamp() -> Object:
    return Object("clamp", 0.45, [
        Part("box", (0.02, 0.018, 0.14), (-0.06, 0, 0), colour=RED),
        Part("box", (0.1, 0.018, 0.02), (-0.01, 0, 0.06), colour=RED),
        Part("box", (0.1, 0.018, 0.02), (-0.01, 0, -0.06), colour=RED),
        Part("cylinder", (0.012, 0.008), (0.03, 0, 0.046)),
        between("cylinder", 0.005, (0.03, 0, -0.1), (0.03, 0, 0.0)),
        Part("cylinder", (0.012, 0.008), (0.03, 0, 0.002)),
        between("capsule", 0.004, (0.03, -0.03, -0.098), (0.03, 0.03, -0.098), DARK),
    ])  # fmt: skip


def scissors() -> Object:
    parts = []
    for side in (-1, 1):
        blade = [(0.0, -0.006), (0.09, 0.0005 * side - 0.001), (0.09, 0.0005 * side + 0.001), (0.0, 0.006)]
        parts.append(Part("mesh", mesh=loft([[(x, y, z) for x, y in blade] for z in (0.0, 0.002)]), at=(0, 0, 0.001 * (side - 1))))
        parts += arc(8, 0.017, 0.004, 0, 2 * pi, lambda x, y, s=side: (-0.055 + x, s * 0.02 + y, 0), RED)  # type: ignore[misc]
        parts.append(between("capsule", 0.004, (-0.0385, side * 0.015, 0), (0, 0, 0), RED))
    parts.append(Part("cylinder", (0.004, 0.007), colour=DARK))
    return Object("scissors", 0.1, parts)


def toy_plane() -> Object:
    return Object("toy_plane", 0.2, [
        Part("ellipsoid", (0.09, 0.018, 0.02), colour=RED),
        Part("box", (0.04, 0.2, 0.006), (0.015, 0, 0.008), colour=WHITE),
        Part("box", (0.024, 0.075, 0.005), (-0.08, 0, 0.004), colour=WHITE),
        Part("box", (0.026, 0.005, 0.04), (-0.08, 0, 0.02), colour=WHITE),
        Part("cylinder", (0.006, 0.012), (0.092, 0, 0), (0, pi / 2, 0), DARK),
        Part("box", (0.004, 0.008, 0.07), (0.099, 0, 0), (0.5, 0, 0), WOOD),
        between("cylinder", 0.003, (0.03, -0.02, -0.014), (0.03, -0.02, -0.032), DARK),
        between("cylinder", 0.003, (0.03, 0.02, -0.014), (0.03, 0.02, -0.032), DARK),
        Part("cylinder", (0.01, 0.006), (0.03, -0.02, -0.032), (pi / 2, 0, 0), DARK),
        Part("cylinder", (0.01, 0.006), (0.03, 0.02, -0.032), (pi / 2, 0, 0), DARK),
    ])  # fmt: skip


def box() -> Object:
    return Object("box", 0.2, [Part("box", (0.06, 0.06, 0.06), colour=WOOD)])


def ball() -> Object:
    return Object("ball", 0.15, [Part("sphere", (0.035,), colour=RED)])


def cylinder() -> Object:
    return Object("cylinder", 0.25, [Part("cylinder", (0.025, 0.1), colour=BLUE)])


OBJECTS = (mug, bowl, hammer, screwdriver, bottle, banana, drill, clamp, scissors, toy_plane, box, ball, cylinder)


# ------------------------------------------------------------------------------------------------------------- files


def numbers(values: Iterable[float]) -> str:
    return " ".join(f"{round(float(v), 9) + 0.0:.9g}" for v in values)


def child(parent: ET.Element, tag: str, text: str | None = None, **attributes: str) -> ET.Element:
    element = ET.SubElement(parent, tag, attributes)
    element.text = text
    return element


def obj_text(mesh: Mesh) -> str:
    points, triangles = mesh
    lines = [f"v {numbers(p)}" for p in points] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles]
    return f"#{NOTE.rstrip()}\n" + "\n".join(lines) + "\n"


SIZES = {
    "box": ("size",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "ellipsoid": ("radii",),
}


def add_shape(link: ET.Element, role: str, index: int, part: Part, mesh_file: str) -> None:
    element = child(link, role, name=f"{role}_{index}")
    if any(part.at) or any(part.rpy):
        child(element, "pose", f"{numbers(part.at)} {numbers(part.rpy)}")
    geometry = child(child(element, "geometry"), part.kind)
    if part.kind == "mesh":
        if role == "collision":
            geometry.set("optimization", "convex_hull")
        child(geometry, "uri", mesh_file)
    elif part.kind in ("box", "ellipsoid"):
        child(geometry, SIZES[part.kind][0], numbers(part.size))
    else:
        for tag, value in zip(SIZES[part.kind], part.size):
            child(geometry, tag, numbers([value]))
    if role == "visual":
        child(child(element, "material"), "diffuse", numbers([*part.colour, 1]))
    else:
        child(child(child(child(element, "surface"), "friction"), "ode"), "mu", numbers([MU]))


def files_of(thing: Object) -> dict[Path, str]:
    """What is written for an object; equal meshes share a file."""
    points = np.concatenate([extent(part) for part in thing.parts if part.touched])
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    thing.parts = [replace(part, at=tuple(np.array(part.at) - middle)) for part in thing.parts]
    sdf = ET.Element("sdf", {"version": "1.9"})
    sdf.append(ET.Comment(NOTE))
    link = child(child(sdf, "model", name=thing.name), "link", name=thing.name)
    com, I = inertial(thing)
    element = child(link, "inertial")
    child(element, "pose", f"{numbers(com)} 0 0 0")
    child(element, "mass", numbers([thing.mass]))
    inertia = child(element, "inertia")
    for tag, value in (("ixx", I[0, 0]), ("iyy", I[1, 1]), ("izz", I[2, 2]), ("ixy", I[0, 1]), ("ixz", I[0, 2]), ("iyz", I[1, 2])):
        child(inertia, tag, f"{without_rounding(value, I.max()):.6g}")
    files: dict[Path, str] = {}
    names: dict[str, str] = {}
    for role in ("visual", "collision"):
        for index, part in enumerate(p for p in thing.parts if (p.drawn if role == "visual" else p.touched)):
            name = ""
            if part.mesh is not None:
                text = obj_text(part.mesh)
                name = names.setdefault(text, f"meshes/{thing.name}_{len(names)}.obj")
                files[FOLDER / name] = text
            add_shape(link, role, index, part, name)
    ET.indent(sdf)
    files[FOLDER / f"{thing.name}.sdf"] = '<?xml version="1.0"?>\n' + ET.tostring(sdf, encoding="unicode") + "\n"
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="only tell whether the files are up to date")
    check = parser.parse_args().check
    files: dict[Path, str] = {}
    for make in OBJECTS:
        files |= files_of(make())
    stale = [path for path, text in files.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    stale += [path for path in [*FOLDER.glob("*.sdf"), *FOLDER.glob("meshes/*")] if path not in files]
    if check:
        for path in stale:
            print(f"not up to date: {path.relative_to(FOLDER.parent)}")
        return 1 if stale else 0
    (FOLDER / "meshes").mkdir(parents=True, exist_ok=True)
    for path in stale:
        if path in files:
            path.write_text(files[path], encoding="utf-8")
        else:
            path.unlink()
    print(f"{len(files)} files, {sum(len(text) for text in files.values()) / 1000:.0f} kB, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
