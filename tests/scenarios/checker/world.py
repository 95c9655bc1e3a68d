"""What a scene file says, read a second time: bodies, joints, friction, commands, and the kinematics of every body.

Only what the drawn scenes use: inline bodies of one convex shape, and arms in SDFormat whose links hang on each other by revolute joints.
"""

from __future__ import annotations

import fnmatch
import math
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

AXIS = {"x": 0, "y": 1, "z": 2}
PLANE_NORMAL = {"xy": 2, "yz": 0, "xz": 1}


class Loader(yaml.SafeLoader):
    """YAML with !Rpy {deg: [...]}, as a dictionary."""


Loader.add_constructor("!Rpy", lambda loader, node: {"rpy": loader.construct_mapping(node, deep=True)})


def cross(a: np.ndarray) -> np.ndarray:
    """The matrix of b ↦ a × b."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis, angle: float) -> np.ndarray:
    """Rotation by `angle` [rad] about a unit axis: R = cos 1 + sin [a]× + (1 − cos) aaᵀ."""
    a = np.asarray(axis, float)
    return math.cos(angle) * np.eye(3) + math.sin(angle) * cross(a) + (1 - math.cos(angle)) * np.outer(a, a)


def from_rpy(rpy) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll)."""
    return turn([0, 0, 1], rpy[2]) @ turn([0, 1, 0], rpy[1]) @ turn([1, 0, 0], rpy[0])


def from_quaternion(w, x, y, z) -> np.ndarray:
    """Rotation of the unit quaternion [w x y z]: 1 + 2w[v]× + 2[v]×²."""
    n = math.sqrt(w * w + x * x + y * y + z * z)
    c = cross(np.array([x, y, z]) / n)
    return np.eye(3) + 2 * w / n * c + 2 * c @ c


def rotation_of(value) -> np.ndarray:
    """A rotation of a scene file: !Rpy in degrees, or none."""
    return np.eye(3) if value is None else from_rpy(np.radians(np.array(value["rpy"]["deg"], float)))


@dataclass
class Place:
    """Pose and motion of a body: R_WB, p_WB, and J (6 × nv), the twist [ω_W; v of the origin] by the scene's velocities."""

    R: np.ndarray
    p: np.ndarray
    J: np.ndarray

    def velocity_rows(self, point: np.ndarray) -> np.ndarray:
        """Velocity of the body's material point at `point` (world), 3 × nv."""
        return self.J[3:] - cross(point - self.p) @ self.J[:3]


@dataclass
class Body:
    """One rigid body: the joint that carries it, one shape (or none) and what it weighs."""

    name: str
    model: str
    parent: Body | None = None
    R0: np.ndarray = field(default_factory=lambda: np.eye(3))  # joint frame in the parent (or the world)
    p0: np.ndarray = field(default_factory=lambda: np.zeros(3))
    joint: str = "fixed"
    axes: list = field(default_factory=list)
    q: int = -1
    v: int = -1
    shape: dict | None = None
    p_shape: np.ndarray = field(default_factory=lambda: np.zeros(3))
    mu: float | None = None
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def movable(self) -> bool:
        return self.v >= 0 or (self.parent is not None and self.parent.movable)


def solid_inertia(shape: dict, m: float) -> np.ndarray:
    """Inertia of a uniform sphere, box or cylinder (axis z) about its centre."""
    ((kind, s),) = shape.items()
    if kind == "sphere":
        return 0.4 * m * s["radius"] ** 2 * np.eye(3)
    if kind == "box":
        a, b, c = np.square(s["size"])
        return m / 12 * np.diag([b + c, a + c, a + b])
    if kind == "cylinder":
        r2, l2 = s["radius"] ** 2, s["length"] ** 2
        return m * np.diag([r2 / 4 + l2 / 12, r2 / 4 + l2 / 12, r2 / 2])
    return np.zeros((3, 3))


class World:
    """The scene with its coordinates in the order of `names_q` of the run."""

    def __init__(self, path: Path, names_q: list[str], overlay: dict | None = None):
        self.doc = yaml.load(path.read_text(), Loader)
        merge(self.doc, overlay or {})
        self.folder = path.parent
        self.names_q = list(names_q)
        self.bodies: list[Body] = []
        self._index()
        for entry in self.doc.get("directives", []):
            if "add_model" in entry:
                self._arm(entry["add_model"])
        for entry in self.doc.get("directives", []):
            if "add_weld" in entry:
                self._weld(entry["add_weld"])
        for name, text in self.doc.get("bodies", {}).items():
            self._inline(name, text)
        self.robots = {r["name"]: r for r in self.doc.get("robots", [])}
        self.frozen = {o["name"] for o in self.doc.get("objects", []) if o.get("frozen")}
        self.objects = [b for b in self.bodies if b.v >= 0 and b.model not in self.robots]
        self.step = self.doc.get("step", {})
        self.h = float(self.step["h"])
        self.gravity = np.array(self.doc.get("gravity", [0, 0, -9.81]), float)
        self.robot_v = np.array([i for r in self.robots for i in self.columns(r)], int)
        self.plane: Any = self.doc.get("plane") or self._plane()  # None in space, where nothing asks for a plane

    def _index(self) -> None:
        """First position and velocity of each model: a free body has seven coordinates and six velocities."""
        self.first: dict[str, tuple[int, int]] = {}
        v = 0
        for i, name in enumerate(self.names_q):
            model, joint = name.rsplit("/", 1)
            self.first.setdefault(model, (i, v))
            v += joint != "qw"
        self.nv = v

    def columns(self, model: str) -> list[int]:
        """Velocities of a model, in file order."""
        return [v for v in range(self.nv) if self.model_of_v(v) == model]

    def model_of_v(self, v: int) -> str:
        return max((first[1], model) for model, first in self.first.items() if first[1] <= v)[1]

    def _inline(self, name: str, text: dict) -> None:
        body = Body(name, name, shape=text["shape"], mu=text.get("mu"), mass=float(text.get("mass", 0)))
        if "pose" in text:
            body.p0 = np.array(text["pose"].get("translation", [0, 0, 0]), float)
            body.R0 = rotation_of(text["pose"].get("rotation"))
        joint = text["joint"]
        body.inertia = np.diag(text["inertia"][:3]).astype(float) if "inertia" in text else solid_inertia(text["shape"], body.mass)
        if joint == "fixed":
            self.bodies.append(body)
            return
        body.q, body.v = self.first[name]
        if joint == "free":
            body.joint = "free"
        else:
            ((body.joint, value),) = joint.items()
            if body.joint == "planar":
                body.axes = [AXIS[c] for c in value] + [PLANE_NORMAL["".join(sorted(value))]]
            elif body.joint == "translation":
                body.axes = [AXIS[c] for c in value]
            else:
                body.axes = [np.array(value, float) / np.linalg.norm(value)]
        self.bodies.append(body)

    def _arm(self, entry: dict) -> None:
        model = ElementTree.parse(self.folder / entry["file"]).getroot().find("model")
        assert model is not None
        name = entry["name"]
        links: dict[str | None, Body] = {}
        q, v = self.first[name]
        joints = {j.findtext("child", "").strip(): j for j in model.findall("joint")}
        for link in model.findall("link"):
            pose = link.find("pose")
            numbers = np.array((pose.text or "").split(), float) if pose is not None else np.zeros(6)
            body = Body(f"{name}/{link.get('name')}", name, R0=from_rpy(numbers[3:]), p0=numbers[:3])
            if pose is not None and pose.get("relative_to"):
                body.parent = links[pose.get("relative_to")]
            joint = joints.get(link.get("name", ""))
            if joint is not None:
                body.parent = body.parent or links[joint.findtext("parent", "").strip()]
                body.joint, body.axes = "revolute", [np.array(joint.findtext("axis/xyz", "").split(), float)]
                body.q, body.v, q, v = q, v, q + 1, v + 1
            inertial = link.find("inertial")
            if inertial is not None:
                body.mass = float(inertial.findtext("mass", ""))
                body.com = np.array(inertial.findtext("pose", "").split()[:3], float) if inertial.find("pose") is not None else np.zeros(3)
                body.inertia = np.diag(np.array([float(inertial.findtext(f"inertia/{k}", "")) for k in ("ixx", "iyy", "izz")]))
            tip = link.find("collision")
            if tip is not None:
                body.shape = {"sphere": {"radius": float(tip.findtext("geometry/sphere/radius", ""))}}
                if tip.find("pose") is not None:
                    body.p_shape = np.array(tip.findtext("pose", "").split()[:3], float)
            links[link.get("name")] = body
            self.bodies.append(body)

    def _weld(self, entry: dict) -> None:
        body = next(b for b in self.bodies if b.name == entry["child"].replace("::", "/"))
        X = entry.get("X_PC", {})
        body.p0, body.R0 = np.array(X.get("translation", [0, 0, 0]), float), rotation_of(X.get("rotation"))

    def _plane(self) -> str | None:
        planes = {
            "".join(sorted("xyz"[a] for a in b.axes[:2]))
            for b in self.bodies
            if b.joint == "planar" or (b.joint == "translation" and len(b.axes) == 2)
        }
        return planes.pop() if len(planes) == 1 and not any(b.joint == "free" for b in self.bodies) else None

    def places(self, q: np.ndarray) -> dict[str, Place]:
        """Where all bodies are, by name."""
        out: dict[str, Place] = {}
        for b in self.bodies:
            parent = out[b.parent.name] if b.parent is not None else Place(np.eye(3), np.zeros(3), np.zeros((6, self.nv)))
            out[b.name] = self._place(b, parent, q)
        return out

    def _place(self, b: Body, parent: Place, q: np.ndarray) -> Place:
        R, p = parent.R @ b.R0, parent.p + parent.R @ b.p0
        J = np.vstack([parent.J[:3], parent.J[3:] - cross(parent.R @ b.p0) @ parent.J[:3]])
        if b.joint == "free":
            J[:, b.v : b.v + 6] = np.eye(6)
            return Place(from_quaternion(*q[b.q : b.q + 4]), np.array(q[b.q + 4 : b.q + 7], float), J)
        R_joint, at = R, p.copy()
        for k, axis in enumerate(b.axes):
            a = np.eye(3)[axis] if isinstance(axis, (int, np.integer)) else axis
            turning = b.joint == "revolute" or (b.joint == "planar" and k == 2)
            if turning:
                J[:3, b.v + k] += R_joint @ a
                R = R_joint @ turn(a, q[b.q + k])
            else:
                J[3:, b.v + k] += R_joint @ a
                at += R_joint @ a * q[b.q + k]
        return Place(R, at, J)

    def friction(self, a: Body, b: Body) -> float:
        """The pair's own μ, or the harmonic mean 2μ₁μ₂/(μ₁ + μ₂)."""
        rules = self.doc.get("friction", {})
        for pair in rules.get("pairs", []):
            x, y = (s.replace("::", "/") for s in pair["between"])
            for one, two in ((a, b), (b, a)):
                if fnmatch.fnmatch(one.name, x) and fnmatch.fnmatch(two.name, y):
                    return float(pair["mu"])
        mu_a, mu_b = (float(rules.get("default", 0.5)) if body.mu is None else float(body.mu) for body in (a, b))
        return 0.0 if mu_a + mu_b == 0 else 2 * mu_a * mu_b / (mu_a + mu_b)

    def start(self) -> np.ndarray:
        """The start configuration."""
        q = np.zeros(len(self.names_q))
        for b in self.bodies:
            if b.joint == "free":
                q[b.q] = 1
        for model, value in self.doc["configurations"][self.doc.get("initial", "start")].items():
            at = self.first[model][0]
            if isinstance(value, dict):
                if "position" in value:
                    q[at : at + 4] = value.get("quat_wxyz", [1, 0, 0, 0])
                    q[at + 4 : at + 7] = value["position"]
                else:
                    for key, number in value.items():
                        if key != "velocity":
                            q[self.names_q.index(f"{model}/{key}")] = number
            else:
                q[at : at + len(value)] = value
        return q

    def command(self, k: int, q0: np.ndarray) -> np.ndarray:
        """Command of step k for each velocity of the scene (zero where nobody commands): velocities or joint targets."""
        commands = self.doc.get("commands", {})
        velocity = commands.get("type") == "velocity"
        t, out = k * self.h, np.zeros(self.nv)
        for name in self.robots:
            first, columns = self.first[name][0], self.columns(name)
            rest = np.zeros(len(columns)) if velocity else q0[first : first + len(columns)]
            if "formulas" in commands:
                out[columns] = formulas(commands["formulas"].get(name), t, rest)
                continue
            times: list[float] = []
            values: list[np.ndarray] = []
            for knot in commands.get("knots", []):
                if name in knot:
                    now = np.array(values[-1] if values else rest, float)
                    if isinstance(knot[name], dict):
                        for joint, number in knot[name].items():
                            now[self.names_q.index(f"{name}/{joint}") - first] = number
                    else:
                        now = np.array(knot[name], float)
                    times.append(float(knot["t"]))
                    values.append(now)
            if not values:
                out[columns] = rest
            elif commands.get("interpolation", "linear") == "hold":
                out[columns] = values[max([i for i, s in enumerate(times) if s <= t + 1e-9 * self.h], default=0)]
            else:
                out[columns] = [np.interp(t + self.h, times, column) for column in np.array(values).T]
        return out


def formulas(texts, t: float, rest: np.ndarray) -> np.ndarray:
    """Formulas of t: only the functions of Python's math."""
    if texts is None:
        return rest
    names = {k: getattr(math, k) for k in ("sin", "cos", "exp", "sqrt", "pi")} | {"t": t}
    return np.array([float(eval(str(text).replace("^", "**"), {"__builtins__": {}}, names)) for text in texts])


def merge(base: dict, over: dict) -> None:
    """Maps merge key by key, everything else is replaced."""
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value
