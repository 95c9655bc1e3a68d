"""What plants of other simulators need to know of a run folder: its scene, start, commands, friction; and the folder that they write."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field, replace
from pathlib import Path

import h5py
import numpy as np
import yaml
from plant_friction import combine

ROOT = Path(__file__).resolve().parents[2]


class SceneError(Exception):
    """A scene that a plant cannot simulate: says what, and what it can."""


class Tagged(dict):
    """A mapping with its YAML tag, such as !Rpy."""

    tag = ""


class SceneLoader(yaml.SafeLoader):
    """YAML of scenes."""


def _tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Tagged:
    value = Tagged(loader.construct_mapping(node, deep=True))
    value.tag = suffix
    return value


SceneLoader.add_multi_constructor("!", _tagged)
# YAML 1.1 takes 1e-3 for a word; scenes mean a number.
SceneLoader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"), list("-+0123456789."))


def rotation_of(node: object) -> np.ndarray:
    """R [3, 3] of `rotation:` (or of {quat_wxyz: …}) as scene files write it."""
    if isinstance(node, Tagged) and node.tag == "Rpy":
        r, p, y = np.deg2rad(node["deg"]) if "deg" in node else np.asarray(node["rad"], float)
        about = lambda axis, angle: rotation_of({"quat_wxyz": np.r_[np.cos(angle / 2), np.sin(angle / 2) * np.eye(3)[axis]]})  # noqa: E731
        return about(2, y) @ about(1, p) @ about(0, r)
    if isinstance(node, Tagged) and node.tag == "AngleAxis":
        angle = np.deg2rad(node["angle_deg"]) if "angle_deg" in node else float(node["angle_rad"])
        axis = np.asarray(node["axis"], float)
        return rotation_of({"quat_wxyz": np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis / np.linalg.norm(axis)]})
    if isinstance(node, dict) and "quat_wxyz" in node:
        w, *xyz = np.asarray(node["quat_wxyz"], float) / np.linalg.norm(node["quat_wxyz"])
        cross = np.array([[0, -xyz[2], xyz[1]], [xyz[2], 0, -xyz[0]], [-xyz[1], xyz[0], 0]])
        return np.eye(3) + 2 * w * cross + 2 * cross @ cross
    raise SceneError(f"cannot read the rotation {node!r}; valid: !Rpy, !AngleAxis, {{quat_wxyz: …}}")


def pose_of(node: dict | None) -> tuple[np.ndarray, np.ndarray]:
    """(R, p) of a pose of a scene file; none: the identity."""
    node = node or {}
    p = np.asarray(node.get("translation", node.get("position", [0, 0, 0])), float)
    if "quat_wxyz" in node:
        return rotation_of({"quat_wxyz": node["quat_wxyz"]}), p
    return (rotation_of(node["rotation"]) if "rotation" in node else np.eye(3)), p


def matches_body(pattern: str, name: str) -> bool:
    """Whether `between:` of a friction pair names the body: a body, a model, or `model::*`."""
    pattern = "/".join(pattern.rsplit("::", 1))
    model = pattern.removesuffix("/*")
    return pattern in ("*", name) or name == model or name.startswith(model + "/")


@dataclass
class PlantScene:
    """A run that a plant shall repeat: the scene and what `deft info` says of it; t [T+1], q [T+1, nq], u [T, nu]."""

    folder: Path
    attributes: dict
    scene: dict
    info: dict
    t: np.ndarray
    q: np.ndarray
    u: np.ndarray
    v_start: np.ndarray | None
    segments: np.ndarray | None = None  # [n, 4] of a plan: first step, last step + 1, 1 = transfer, node
    u_before: np.ndarray | None = None  # [nu] joint targets before the first step; none: the robots' joints at the start
    q_inertia: np.ndarray | None = None  # where the joints' inertias are taken; none: at the start

    @property
    def names_q(self) -> list[str]:
        return self.attributes["names_q"]

    @property
    def names_u(self) -> list[str]:
        return self.attributes["names_u"]

    @property
    def names_v(self) -> list[str]:
        return self.attributes["names_v"]

    @property
    def names_bodies(self) -> list[str]:
        return self.attributes["names_bodies"]

    @property
    def h(self) -> float:
        """Step length of the scene [s]."""
        return float(self.info["settings"]["h"])

    def stiffness(self) -> np.ndarray:
        """K [nu] in the order of u [N/m, N·m/rad]."""
        by_name = {joint: k for robot in self.info["robots"] for joint, k in zip(robot["joints"], robot["stiffness"])}
        return np.array([by_name[name] for name in self.names_u], float)

    def stated_damping(self) -> np.ndarray | None:
        """`step.joint_damping` [nu]; None if the scene states none."""
        given = self.scene.get("step", {}).get("joint_damping")
        if given is None:
            return None
        if isinstance(given, dict):
            return np.array(
                [
                    next((float(d) for name, d in given.items() if joint == name or joint.endswith("/" + name)), 0.0)
                    for joint in self.names_u
                ]
            )
        return np.broadcast_to(np.asarray(given, float), (len(self.names_u),)).copy()

    def rows_q(self, model: str) -> list[int]:
        return [i for i, name in enumerate(self.names_q) if name.startswith(model + "/")]

    def rows_v(self, model: str) -> list[int]:
        return [i for i, name in enumerate(self.names_v) if name.startswith(model + "/")]

    def u_start(self) -> np.ndarray:
        """Joint targets [nu] at the start."""
        return self.q[0][[self.names_q.index(name) for name in self.names_u]] if self.u_before is None else self.u_before

    def piece(self, first: int, last: int) -> PlantScene:
        """Steps first … last − 1, from the state that the run has there, at rest."""
        return replace(self, t=self.t[first:last + 1], q=self.q[first:last + 1], u=self.u[first:last], v_start=None, segments=None,
                       u_before=self.u[first - 1] if first > 0 else self.u_before, q_inertia=self.q[0])  # fmt: skip

    def quaternion_rows(self) -> list[list[int]]:
        """Rows of q of each quaternion, w x y z."""
        return [list(range(i, i + 4)) for i, name in enumerate(self.names_q) if name.endswith("/qw")]

    def pair_friction(self, body_a: str, mu_a: float, body_b: str, mu_b: float) -> float:
        """μ of a pair of geometries with coefficients mu_a, mu_b on these bodies: 2μ_aμ_b/(μ_a + μ_b), overridden by `friction.pairs`."""
        mu = combine(mu_a, mu_b)
        for pair in (self.scene.get("friction") or {}).get("pairs") or []:
            one, other = pair["between"]
            if (matches_body(one, body_a) and matches_body(other, body_b)) or (matches_body(one, body_b) and matches_body(other, body_a)):
                mu = 0.0 if pair.get("frictionless") else float(pair.get("mu", mu))
        return mu


def texts(values) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in np.atleast_1d(values)]


def read_run(folder: Path, deft: Path) -> PlantScene:
    """A run folder of `deft sim`, `plan` or `track`. @throws SceneError for what is no such folder."""
    if not (folder / "run.h5").is_file() or not (folder / "config.yaml").is_file():
        raise SceneError(f"{folder}: expected a run folder with run.h5 and config.yaml")
    with h5py.File(folder / "run.h5") as file:
        attributes = {key: value.decode() if isinstance(value, bytes) else value for key, value in file.attrs.items()}
        for key in ("names_q", "names_v", "names_u", "names_bodies", "status_words"):
            attributes[key] = texts(attributes[key])
        t, q, u = (file[name][()] for name in ("t", "q", "u"))
        v_start = file["v"][0] if "v" in file else None
        segments = file["plan/segments"][()] if "plan/segments" in file else None
    scene = yaml.load((folder / "config.yaml").read_text(), SceneLoader)
    if "deft" not in scene:
        raise SceneError(f"{folder}/config.yaml: only scenes in deft's own dialect (deft: 1) can be repeated here")
    done = subprocess.run([deft, "info", folder / "config.yaml", "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SceneError(f"deft info {folder}/config.yaml ended with {done.returncode}:\n{done.stderr}")
    return PlantScene(folder, attributes, scene, json.loads(done.stdout), t, q, u, v_start, segments)


def retime(t: np.ndarray, u_start: np.ndarray, u: np.ndarray, speed: float) -> np.ndarray:
    """Times of the knots moved apart until no joint target goes faster than `speed` [rad/s, m/s]."""
    if not np.isfinite(speed):
        return t
    largest = np.abs(np.diff(np.vstack([u_start, u]), axis=0)).max(axis=1, initial=0)
    return t[0] + np.concatenate([[0], np.cumsum(np.maximum(np.diff(t), largest / speed))])


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Angle [rad] between two unit quaternions."""
    return float(4 * np.arcsin(min(1.0, min(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b))) / 2)))


def object_errors(run: PlantScene, q: np.ndarray, reference: np.ndarray) -> dict[str, dict[str, float]]:
    """Per object of the scene how far q is from the reference: {"position_m", "rotation_rad"}; coordinates of joints by their units."""
    units = {entry["name"]: entry["unit"] for entry in run.info["q"]}
    errors = {}
    for thing in run.info["objects"]:
        metres: list[float] = []
        radians: list[float] = []
        free: dict = {}
        for i in run.rows_q(thing["name"]):
            name = run.names_q[i]
            if name.rsplit("/", 1)[1] in ("qw", "qx", "qy", "qz"):
                free.setdefault(name.rsplit("/", 1)[0], []).append(i)
            else:
                (radians if units[name] == "rad" else metres).append(q[i] - reference[i])
        turned = [
            angle_between(q[rows] / np.linalg.norm(q[rows]), reference[rows] / np.linalg.norm(reference[rows])) for rows in free.values()
        ]
        errors[thing["name"]] = {"position_m": float(np.linalg.norm(metres)) if metres else 0.0,
                                 "rotation_rad": float(max([*np.abs(radians), *turned], default=0.0))}  # fmt: skip
    return errors


@dataclass
class Record:
    """What a plant did: rows of a run folder. contacts: a list per step of dicts by the names of `contacts/`."""

    t: list = field(default_factory=list)
    q: list = field(default_factory=list)
    v: list = field(default_factory=list)
    u: list = field(default_factory=list)
    X_WB: list = field(default_factory=list)
    contacts: list = field(default_factory=list)
    energy: list = field(default_factory=list)
    step_us: list = field(default_factory=list)
    failed: bool = False  # the last step


CONTACT_WIDTH = {"point_W": 3, "normal_W": 3, "force_W": 3, "torque_W": 3, "gap": 1, "gap_start": 1, "boundary_gap": 1, "mu": 1}
STATUS_WORDS = ["Solved", "Diverged", "NumericalFailure"]


def write_run(folder: Path, run: PlantScene, record: Record, plant: str, settings: list[str], summary: dict) -> None:
    """run.h5, config.yaml and summary.json, in the layout of deft's run folders; `deft view` makes the page."""
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / "run.h5.part"
    steps = len(record.t) - 1
    with h5py.File(scratch, "w", libver=("earliest", "v110")) as file:
        for key, value in run.attributes.items():
            if key not in ("status_words", "support_bodies", "names_x", "contact_kinds"):
                file.attrs[key] = np.array(value, dtype=h5py.string_dtype()) if isinstance(value, list) else value
        file.attrs["status_words"] = np.array(STATUS_WORDS, dtype=h5py.string_dtype())
        file.attrs["plant"] = plant
        file.attrs["plant_settings"] = np.array(settings, dtype=h5py.string_dtype())
        for name in ("t", "q", "v", "X_WB"):
            file[name] = np.asarray(getattr(record, name), float)
        file["u"] = np.asarray(record.u, float).reshape(steps, len(run.names_u))
        flat = [contact for step in record.contacts for contact in step]
        file["contacts/offset"] = np.cumsum([0, *map(len, record.contacts)]).astype(np.int64)
        for name, width in CONTACT_WIDTH.items():
            file[f"contacts/{name}"] = np.array([contact[name] for contact in flat], float).reshape(
                (len(flat), width) if width > 1 else len(flat)
            )
        for name, kind in (("a", np.int32), ("b", np.int32), ("state", np.uint8)):
            file[f"contacts/{name}"] = np.array([contact[name] for contact in flat], kind)
        status = np.zeros(steps, np.int32)
        if record.failed and steps > 0:
            status[-1] = STATUS_WORDS.index(summary["status"])
        file["steps/status"], file["steps/iterations"] = status, np.zeros(steps, np.int32)
        file["steps/energy"], file["steps/step_us"] = np.array(record.energy), np.array(record.step_us)
    (folder / "config.yaml").write_text((run.folder / "config.yaml").read_text())
    (folder / "summary.json").write_text(json.dumps(summary, indent=1, allow_nan=False) + "\n")
    scratch.rename(folder / "run.h5")
