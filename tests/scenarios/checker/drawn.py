"""Scenes drawn at random, seeded: objects on supports, pushed by fingers and arms. Nothing overlaps at the start; some bodies touch."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import yaml

from . import outlines
from .world import PLANE_NORMAL, Body, Place, World, turn

ARM = """<?xml version="1.0"?>
<sdf version="1.7"><model name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass>{m1}</mass><pose>{c1} 0 0 0 0 0</pose><inertia><ixx>0.01</ixx><iyy>{i1}</iyy><izz>{i1}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial></link>
  <link name="lower"><pose relative_to="upper">{l1} 0 0 0 0 0</pose>
    <inertial><mass>{m2}</mass><pose>{c2} 0 0 0 0 0</pose><inertia><ixx>0.01</ixx><iyy>{i2}</iyy><izz>{i2}</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>
    <collision name="tip"><pose>{l2} 0 0 0 0 0</pose><geometry><sphere><radius>{tip}</radius></sphere></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent>base</parent><child>upper</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="elbow" type="revolute"><parent>upper</parent><child>lower</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>
"""


class Rpy(dict):
    """Written as !Rpy {deg: [...]}."""


yaml.SafeDumper.add_representer(Rpy, lambda dumper, value: dumper.represent_mapping("!Rpy", dict(value)))


def write(path: Path, doc: dict) -> Path:
    """Writes a scene without its empty parts, one knot per time."""
    together: dict[float, dict] = {}
    for knot in doc["commands"]["knots"]:
        together.setdefault(knot["t"], {}).update(knot)
    doc["commands"]["knots"] = [together[t] for t in sorted(together)]
    doc = {k: v for k, v in doc.items() if v or v == 0}
    path.write_text(yaml.safe_dump(doc, sort_keys=False, default_flow_style=None, width=200))
    return path


def polygon(rng, size: float) -> list[list[float]]:
    """A convex polygon: regular with 3 to 8 corners, or the hull of random points; its origin somewhere inside."""
    if rng.random() < 0.5:
        n, turn = int(rng.integers(3, 9)), rng.uniform(0, 2 * math.pi)
        corners = size * np.array([[math.cos(turn + 2 * math.pi * k / n), math.sin(turn + 2 * math.pi * k / n)] for k in range(n)])
    else:
        corners = outlines.hull(rng.normal(size=(8, 2)) * size * 0.6)
        corners -= corners.mean(axis=0)
    if rng.random() < 0.3:
        corners = corners + rng.uniform(-0.2, 0.2, 2) * size
    return [[float(x), float(y)] for x, y in corners]


def ellipsoid(rng):
    """Ã: the identity, a diagonal, or any positive definite matrix with a condition up to 100."""
    kind = rng.integers(3)
    if kind == 0:
        return [1, 1, 1]
    scales = 10 ** rng.uniform(-1, 1, 3)
    if kind == 1:
        return [float(s) for s in scales]
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    A = turn @ np.diag(scales) @ turn.T
    return [[float(x) for x in row] for row in (A + A.T) / 2]


def support(rng, size: float) -> dict:
    """A support under uniform pressure."""
    kinds = [
        {"square": float(size)},
        {"rectangle": [float(size), float(size * rng.uniform(0.2, 1))]},
        {"disc": float(size / 2)},
        {"polygon": polygon(rng, size)},
    ]
    return {"support": kinds[rng.integers(4)], "pressure": "uniform", "mu": float(rng.uniform(0.2, 1)), "force": float(rng.uniform(0.5, 5))}


def round_shape(plane: str, radius: float, rng) -> dict:
    return {"cylinder": {"radius": radius, "length": 0.1}} if plane == "xy" and rng.random() < 0.5 else {"sphere": {"radius": radius}}


def object_shape(rng, plane: str, size: float) -> dict:
    kind = rng.integers(3 if plane == "xy" else 2)
    if kind == 0:
        return round_shape(plane, float(size * rng.uniform(0.4, 1)), rng)
    if kind == 1:
        return {"box": {"size": [float(s) for s in size * rng.uniform(0.4, 2, 3)]}}
    return {"prism": {"vertices": polygon(rng, size), "height": 0.1}}


def normal_of(plane: str, angle: float) -> list[float]:
    return [float(x) for x in outlines.raised(plane, np.array([math.cos(angle), math.sin(angle)]))]


class Layout:
    """Puts bodies one after the other where they overlap none of those before, and moves some into touch."""

    def __init__(self, rng, plane: str):
        self.rng, self.plane = rng, plane
        self.done: list = []

    def outline(self, shape: dict, pose) -> object:
        """The outline of an inline body with its origin at (e1, e2) and turned by the angle."""
        body = Body("x", "x", shape=shape)
        at = Place(turn(np.eye(3)[PLANE_NORMAL[self.plane]], pose[2]), outlines.raised(self.plane, np.array(pose[:2])), np.zeros((6, 0)))
        return outlines.outline(self.plane, body, at)

    def gap(self, shape: dict, pose) -> float:
        new = self.outline(shape, pose)
        return min(
            (
                outlines.distance(new, old)
                for old in self.done
                if not (isinstance(new, outlines.HalfPlane) and isinstance(old, outlines.HalfPlane))
            ),
            default=1.0,
        )

    def put(self, shape: dict, draw, touch: bool = False):
        """A pose [e1, e2, θ] without overlap by `draw() → (pose, direction)`; in touch: moved along the direction until the gap is zero."""
        for _ in range(400):
            pose, direction = draw()
            pose = np.array(pose, float)
            if self.gap(shape, pose) <= 0.01:
                continue
            if touch:
                for _ in range(200):
                    gap = self.gap(shape, pose)
                    pose[:2] += np.array(direction) * max(gap, 0.0)
                    if gap < 1e-15:
                        break
                if not 0 <= self.gap(shape, pose) < 1e-12:
                    continue
            self.done.append(self.outline(shape, pose))
            return pose
        return None


def pose_values(plane: str, pose) -> list[float]:
    """Coordinates of a planar joint from (e1, e2, θ): file order is by axis."""
    e1, e2, theta = (float(x) for x in pose)
    return [e2, e1, theta] if plane == "xz" else [e1, e2, theta]


def in_file_order(plane: str, p) -> list[float]:
    return [float(p[1]), float(p[0])] if plane == "xz" else [float(p[0]), float(p[1])]


def limit_surface_scene(seed: int, folder: Path, exact_supports: bool = True) -> Path:
    """Writes FOLDER/SEED.deft.yaml (and the arms' models) and returns its path."""
    rng = np.random.default_rng(seed)
    plane = ["xy", "xy", "xy", "xz", "yz"][rng.integers(5)]
    h = float(rng.choice([0.005, 0.02, 0.05, 0.1, 0.2]))
    gain = float(rng.choice([0, 0, 1e-6, 1e-3, 1e-2, 0.1, 1, 10]))
    doc: dict = {
        "deft": 1,
        "name": f"drawn_{seed}",
        "plane": plane,
        "gravity": [float(-9.81 * (i == PLANE_NORMAL[plane])) for i in range(3)],
        "directives": [],
        "bodies": {},
        "robots": [],
        "objects": [],
        "friction": {"default": 0.5, "pairs": []},
        "step": {"model": "limit-surface", "h": h, "gain": gain, "contact_margin": [0.05, 0.5, ".inf"][rng.integers(3)]},
        "configurations": {"start": {}},
        "initial": "start",
        "commands": {"type": "velocity", "interpolation": "hold", "knots": []},
    }
    if doc["step"]["contact_margin"] == ".inf":
        doc["step"]["contact_margin"] = math.inf
    check = rng.random() < 0.5
    friction = lambda: float(rng.choice([0, 0.2, 0.5, 1, 2]))  # noqa: E731
    layout, start = Layout(rng, plane), doc["configurations"]["start"]
    objects = []
    for i in range(int(rng.choice([1, 1, 1, 2, 3]))):
        shape, name = object_shape(rng, plane, 0.5), f"object_{i}"
        pose = layout.put(shape, lambda i=i: ([*rng.uniform(-0.5 - i, 0.5 + i, 2), rng.uniform(-3, 3)], (0, 0)))
        if pose is None:
            continue
        exact = exact_supports and plane == "xy" and rng.random() < 0.15
        doc["bodies"][name] = {
            "shape": shape,
            "joint": {"planar": plane},
            "mu": friction(),
            "mass": 1.0,
            "limit_surface": support(rng, 0.5) if exact else ellipsoid(rng),
        }
        if "prism" in shape:
            doc["bodies"][name]["inertia"] = [0.1, 0.1, 0.1]
        start[name] = pose_values(plane, pose)
        if i and rng.random() < 0.2:
            doc["objects"].append({"name": name, "frozen": True})
        else:
            objects.append(pose)
    for i in range(int(rng.choice([0, 0, 1, 2]))):
        angle = rng.uniform(0, 2 * math.pi)
        n = np.array([math.cos(angle), math.sin(angle)])
        reach = min(
            min(n @ c for c in (o.corners if isinstance(o, outlines.Polygon) else [o.centre - n * o.radius]))
            if not isinstance(o, outlines.HalfPlane)
            else math.inf
            for o in layout.done
        )
        offset = float(reach - rng.choice([0, 0.02, 0.3]))
        doc["bodies"][f"wall_{i}"] = {
            "shape": {"half_space": {"normal": normal_of(plane, angle), "offset": offset}},
            "joint": "fixed",
            "mu": friction(),
        }
        layout.done.append(outlines.HalfPlane(n, offset))
    for i in range(int(rng.integers(1, 7))):
        finger(rng, doc, layout, objects, f"finger_{i}", friction, plane, folder, seed)
    if not doc["robots"]:
        return limit_surface_scene(seed + 1_000_000, folder, exact_supports)
    bodies = [n for n in doc["bodies"] if n.startswith("object")]
    if check and len(doc["robots"]) + len(objects) <= 4:  # every near contact costs modes
        doc["step"]["uniqueness"] = "check"
    robot = doc["robots"][0]["name"]
    if rng.random() < 0.3 and robot in doc["bodies"]:
        doc["friction"]["pairs"].append({"between": [bodies[0], robot], "mu": friction()})
    return write(folder / f"drawn_{seed}.deft.yaml", doc)


def finger(rng, doc, layout, objects, name, friction, plane, folder, seed) -> None:
    """A point, disc, polygon or arm near an object, commanded to move roughly towards it."""
    kind = rng.choice(["point", "disc", "polygon", "arm"] if plane == "xy" else ["point", "disc", "disc", "box"])
    target = objects[rng.integers(len(objects))]
    speed, touch = float(rng.uniform(0.1, 1)), bool(rng.random() < 0.4)
    angle = rng.uniform(0, 2 * math.pi)
    away = rng.uniform(0.3, 1.8)
    turned = True  # whether the drawn pose has an angle

    def draw() -> tuple[list[float], np.ndarray]:
        a = angle if rng.random() < 0.5 else rng.uniform(0, 2 * math.pi)
        d = away + rng.uniform(0, 1)
        outwards = np.array([math.cos(a), math.sin(a)])
        return [*(target[:2] + d * outwards), rng.uniform(-3, 3) if turned else 0.0], -outwards

    start, knots = doc["configurations"]["start"], doc["commands"]["knots"]
    if kind == "arm":
        l1, l2, tip = (float(x) for x in rng.uniform([0.6, 0.6, 0.02], [1.4, 1.4, 0.1]))
        pose = layout.put({"sphere": {"radius": tip}}, draw, touch)
        if pose is None:
            return
        # The base stands outwards, where the tip is in reach.
        d = float(rng.uniform(0.5, 0.9) * (l1 + l2))
        back = (pose[:2] - target[:2]) / np.linalg.norm(pose[:2] - target[:2])
        base = pose[:2] + d * back
        elbow = -math.acos((d * d - l1 * l1 - l2 * l2) / (2 * l1 * l2)) if abs(d * d - l1 * l1 - l2 * l2) < 2 * l1 * l2 else None
        if elbow is None:
            layout.done.pop()
            return
        heading, yaw = math.atan2(*(-back)[::-1]), float(rng.uniform(-180, 180))
        shoulder = heading - math.radians(yaw) - math.atan2(l2 * math.sin(elbow), l1 + l2 * math.cos(elbow))
        (folder / f"{seed}_{name}.sdf").write_text(
            ARM.format(l1=l1, l2=l2, tip=tip, m1=1.0, m2=0.7, c1=l1 / 2, c2=l2 / 2, i1=0.08, i2=0.05)
        )
        doc["directives"] += [
            {"add_model": {"name": name, "file": f"{seed}_{name}.sdf"}},
            {
                "add_weld": {
                    "parent": "world",
                    "child": f"{name}::base",
                    "X_PC": {"translation": [float(base[0]), float(base[1]), 0.0], "rotation": Rpy(deg=[0, 0, yaw])},
                }
            },
        ]
        start[name] = [float(shoulder), float(elbow)]
        command = [float(x) for x in rng.uniform(-0.5, 0.5, 2)]
        n = 2
    else:
        shape = (
            {"sphere": {"radius": 0.0}}
            if kind == "point"
            else round_shape(plane, float(rng.uniform(0.03, 0.2)), rng)
            if kind == "disc"
            else {"prism": {"vertices": polygon(rng, 0.2), "height": 0.1}}
            if kind == "polygon"
            else {"box": {"size": [float(s) for s in rng.uniform(0.1, 0.4, 3)]}}
        )
        free = kind in ("polygon", "box") and rng.random() < 0.7
        turned = free
        pose = layout.put(shape, draw, touch)
        if pose is None:
            return
        body = {"shape": shape, "joint": {"planar": plane} if free else {"translation": plane}, "mu": friction(), "mass": 0.2}
        if "prism" in shape:
            body["inertia"] = [0.01, 0.01, 0.01]
        doc["bodies"][name] = body
        start[name] = pose_values(plane, pose) if free else in_file_order(plane, pose)
        towards = (target[:2] - pose[:2]) / np.linalg.norm(target[:2] - pose[:2])
        motion = speed * (towards + (0 if rng.random() < 0.3 else 1) * rng.normal(size=2) * 0.5)
        command = in_file_order(plane, motion) + ([float(rng.uniform(-0.5, 0.5))] if free else [])
        n = 3 if free else 2
    doc["robots"].append(
        {"name": name, "admittance": float(rng.uniform(0.3, 3)) if rng.random() < 0.5 else [float(x) for x in rng.uniform(0.3, 3, n)]}
    )
    knots.append({"t": 0, name: command})
    if rng.random() < 0.3:
        knots.append({"t": float(10 * doc["step"]["h"]), name: [float(-x) for x in command]})


def check_layout(path: Path, names_q: list[str]) -> float:
    """The smallest true gap of the start (a drawn scene has none below −1e-9)."""
    world = World(path, names_q)
    places = world.places(world.start())
    return min(
        outlines.distance(*(outlines.outline(world.plane, b, places[b.name]) for b in pair)) for pair in outlines.touching_bodies(world)
    )
