"""The models of scenes/models/kinematics.yaml as plain data, and their forward kinematics.

A model is a list of `Body`, parents before children; the page itself says what its keys mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import radians
from pathlib import Path

import numpy as np
import yaml

DATA_FILE = Path(__file__).resolve().parent.parent / "scenes" / "models" / "kinematics.yaml"
GHOST = {"mass": 1e-6, "inertia": 1e-6}  # bodies between stacked slides [kg, kg m^2]
CORNER_RADIUS = 1e-7  # [m]
SLIDES = {"x": ("prismatic", [1, 0, 0]), "y": ("prismatic", [0, 1, 0]), "z": ("prismatic", [0, 0, 1]),
          "rx": ("revolute", [1, 0, 0]), "rz": ("revolute", [0, 0, 1])}  # fmt: skip


@dataclass
class Joint:
    """A joint whose frame is the child's frame at value 0; `axis` is given in that frame."""

    name: str
    kind: str  # revolute, prismatic or fixed
    axis: Sequence[float] | None = None
    limits: tuple[float, float] | None = None  # [rad or m], none: unlimited
    damping: float = 0.0


@dataclass
class Shape:
    """A primitive of a body: sphere (radius), box (three sizes), cylinder or capsule (radius, length; axis z)."""

    kind: str
    size: list[float]
    at: list[float]  # centre in the body frame [m]
    mu: float | None = None  # friction; none: the reader's default
    rpy: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])  # [rad]
    colour: str = "light"  # of a shape to look at: a key of make_models.COLOURS


@dataclass
class Body:
    """A link: its placement `at` [m], `rpy` [rad] in the parent at joint value 0, its inertia about the centre of mass, its shapes."""

    name: str
    parent: str | None
    joint: Joint | None
    at: list[float]
    rpy: list[float]
    mass: float
    com: list[float]
    inertia: list[float]  # ixx, iyy, izz, ixy, ixz, iyz [kg m^2]
    shapes: list[Shape] = field(default_factory=list)  # for collision
    visuals: list[Shape] = field(default_factory=list)  # to look at; none: the collision shapes are shown


def load_data(path: Path = DATA_FILE) -> dict:
    """The whole page: {"templates": ..., "models": ...}."""
    return yaml.safe_load(path.read_text())


def expand_model(data: dict, name: str) -> list[Body]:
    """The bodies of model `name`, with slides, chains, grids, corners and locks written out.

    Raises KeyError for an unknown model.
    """
    if name not in data["models"]:
        raise KeyError(f"no model '{name}'; there are: {', '.join(sorted(data['models']))}")
    entry = data["models"][name]
    if "like" in entry:
        bodies = expand_model(data, entry["like"])
        return [_lock(body, entry.get("lock_deg", {})) for body in bodies]
    if "rope" in entry:
        return _rope(entry["rope"])
    bodies = _slide_bodies(entry.get("slides", []), next(iter(entry["bodies"].items())), entry.get("damping", 0.0))
    previous = bodies[-1].name if bodies else None
    for body_name, row in entry["bodies"].items():
        if not any(body.name == body_name for body in bodies):
            bodies.append(_body(body_name, row, row.get("parent", previous)))
        previous = body_name
    for chain in entry.get("chains", []):
        bodies += _chain(data["templates"][chain["template"]], chain)
    return bodies


def _body(name: str, row: dict, parent: str | None) -> Body:
    inertia = row["inertia"] if isinstance(row["inertia"], list) else [row["inertia"]] * 3
    joint = None
    if "joint" in row:
        kind = next(kind for kind in ("revolute", "prismatic", "fixed") if kind in row["joint"])
        axis = None if kind == "fixed" else row["joint"][kind]
        joint = Joint(row["joint"]["name"], kind, axis, row["joint"].get("limits"))
    return Body(name, parent, joint, row.get("at", [0, 0, 0]), [radians(a) for a in row.get("rpy_deg", [0, 0, 0])],
                row["mass"], row.get("com", [0, 0, 0]), list(inertia) + [0.0] * (6 - len(inertia)),
                _shapes(row), _visuals(row.get("visual", {})))  # fmt: skip


def _visuals(row: dict) -> list[Shape]:
    by_colour = row if all(isinstance(part, dict) for part in row.values()) else {"light": row}
    return [replace(shape, colour=colour) for colour, part in by_colour.items() for shape in _shapes(part)]


def _shapes(row: dict) -> list[Shape]:
    mu = row.get("mu")
    shapes = [Shape("box", r[:3], r[3:], mu) for r in row.get("boxes", [])]
    shapes += [Shape("cylinder", r[:2], r[2:], mu) for r in row.get("cylinders", [])]
    shapes += [_between("capsule", r) for r in row.get("capsules", [])]
    shapes += [_between("cylinder", r) for r in row.get("rods", [])]
    shapes += [Shape("sphere", r[:1], r[1:4], r[4] if len(r) > 4 else mu) for r in row.get("spheres", [])]
    if grid := row.get("grid"):
        shapes += [Shape("sphere", [grid["radius"]], [x, y, 0], mu) for x in grid["x"] for y in grid["y"]]
    if corners := row.get("corners"):
        hx, hy, hz = corners["half"]
        signs = [
            (sx, sy, sz)
            for sx in ((-1, 1) if hx else (0,))
            for sy in (-1, 1)
            for sz in ((-1,) if corners.get("only") == "lower" else (-1, 1))
        ]
        shapes += [Shape("sphere", [CORNER_RADIUS], [sx * hx, sy * hy, sz * hz], corners.get("mu")) for sx, sy, sz in signs]
    return shapes


def _between(kind: str, row: list[float]) -> Shape:
    """A capsule or cylinder, [radius, a point, another]: its axis runs from one to the other."""
    start, end = np.array(row[1:4], float), np.array(row[4:], float)
    length = float(np.linalg.norm(end - start))
    x, y, z = (end - start) / length
    turn = [0.0, float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))]  # takes the axis z to that direction
    return Shape(kind, [row[0], length], [float(v) for v in (start + end) / 2], rpy=turn)


def _slide_bodies(slides: list[str], first: tuple[str, dict], damping: float) -> list[Body]:
    """The stacked slides; the last one carries the first body itself, or a fixed joint does if that body is placed off the slides."""
    if not slides:
        return []
    name, row = first
    placed = "at" in row or "rpy_deg" in row
    bodies, parent = [], "world"
    for slide in slides:
        kind, axis = SLIDES[slide]
        joint = Joint("theta" if slide.startswith("r") else slide, kind, axis, damping=damping)
        last = slide == slides[-1] and not placed
        body = _body(name if last else f"slide_{slide}", row if last else GHOST, parent)
        body.joint = joint
        bodies.append(body)
        parent = body.name
    if placed:
        bodies.append(_body(name, row, parent))
        bodies[-1].joint = Joint(f"{name}_mount", "fixed")
    return bodies


def _chain(template: list[dict], chain: dict) -> list[Body]:
    bodies: list[Body] = []
    parent = chain["parent"]
    for i, row in enumerate(template, start=chain["first"]):
        placed = {**row, "joint": {**row["joint"], "name": f"joint_{i}"}}
        if not bodies:
            placed |= {key: chain[key] for key in ("at", "rpy_deg") if key in chain}
        bodies.append(_body(f"link_{i}", placed, parent))
        parent = f"link_{i}"
    return bodies


def _rope(rope: dict) -> list[Body]:
    bodies = []
    for i in range(rope["links"]):
        row = {"mass": rope["mass"], "inertia": 0.4 * rope["mass"] * rope["radius"] ** 2, "mu": rope["mu"],
               "com": [0, 0, -rope["pitch"] / 2], "spheres": [[rope["radius"], 0, 0, -rope["pitch"] / 2]]}  # fmt: skip
        if i:
            row |= {"at": [0, 0, -rope["pitch"]], "joint": {"name": f"joint_{i}", "revolute": [1, 0, 0]}}
        bodies.append(_body(f"link_{i}", row, f"link_{i - 1}" if i else None))
    return bodies


def _lock(body: Body, angles_deg: dict) -> Body:
    if body.joint and body.joint.name in angles_deg:
        turn = rotation_about(body.joint.axis, radians(angles_deg[body.joint.name]))
        body.rpy = rpy_of(rotation_of_rpy(body.rpy) @ turn)
        body.joint = Joint(body.joint.name, "fixed")
    return body


# ---- kinematics ----


def rotation_about(axis, angle: float) -> np.ndarray:
    """R [3x3] of a turn by `angle` [rad] about the unit vector `axis`."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def rotation_of_rpy(rpy) -> np.ndarray:
    """R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return rotation_about([0, 0, 1], rpy[2]) @ rotation_about([0, 1, 0], rpy[1]) @ rotation_about([1, 0, 0], rpy[0])


def rpy_of(R: np.ndarray) -> list[float]:
    """Roll, pitch, yaw [rad] of R; at pitch = +-90 degrees roll is 0."""
    pitch = float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])))
    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return [0.0, pitch, float(np.arctan2(-R[0, 1], R[1, 1]))]
    return [float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))]


def forward_kinematics(bodies: list[Body], q: dict[str, float], X_WBase=None) -> dict[str, np.ndarray]:
    """Poses X_WB [4x4] of all bodies; q by joint name [rad or m], missing joints are 0. X_WBase: pose of bodies without a parent."""
    poses = {"world": np.eye(4), None: np.eye(4) if X_WBase is None else X_WBase}
    for body in bodies:
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = rotation_of_rpy(body.rpy), body.at
        if body.joint and body.joint.kind != "fixed":
            value, motion = q.get(body.joint.name, 0.0), np.eye(4)
            if body.joint.kind == "revolute":
                motion[:3, :3] = rotation_about(body.joint.axis, value)
            else:
                motion[:3, 3] = value * np.asarray(body.joint.axis, float)
            X = X @ motion
        poses[body.name] = poses[body.parent] @ X
    return {name: X for name, X in poses.items() if name}
