"""Runs a bundled scene with `deft sim` and measures what happened, from the run folder."""

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import h5py
import numpy as np

SCENES = Path(__file__).resolve().parent.parent / "scenes"
FORCE_THRESHOLD_N = 1e-6  # a contact with less does not touch


def scene_names() -> list[str]:
    """The bundled scenes: every folder of scenes/ with a scene.deft.yaml."""
    return sorted(path.parent.name for path in SCENES.glob("*/scene.deft.yaml"))


def scene_file(name: str) -> Path:
    return SCENES / name / "scene.deft.yaml"


def deft_json(deft: Path, *arguments) -> dict:
    """The JSON object that `deft ... --json` prints. Raises RuntimeError with its messages if it prints none."""
    done = subprocess.run([deft, *map(str, arguments), "--json"], capture_output=True, text=True)
    if not done.stdout.strip():
        raise RuntimeError(f"deft {' '.join(map(str, arguments))} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


@dataclass
class SceneRun:
    """A simulated scene. q [T+1, nq] by name, contacts of the T steps at their ends."""

    name: str
    info: dict  # deft info
    summary: dict  # deft sim
    folder: Path

    @cached_property
    def data(self) -> dict:
        """Arrays and name lists of run.h5 by their path."""
        with h5py.File(self.folder / "run.h5") as file:
            found = {}
            file.visititems(lambda path, item: found.update({path: item[()]}) if isinstance(item, h5py.Dataset) else None)
            found["names_q"] = [str(name) for name in file.attrs["names_q"].astype(str)]
            found["names_v"] = [str(name) for name in file.attrs["names_v"].astype(str)]
            found["names_bodies"] = [str(name) for name in file.attrs["names_bodies"].astype(str)]
        return found

    @property
    def t(self) -> np.ndarray:
        return self.data["t"]

    def coordinate(self, name: str) -> np.ndarray:
        """[T+1] of the coordinate `name`, such as "red/x"."""
        return self.data["q"][:, self.data["names_q"].index(name)]

    def position(self, body: str) -> np.ndarray:
        """p_W [T+1, 3] of a free body."""
        return np.stack([self.coordinate(f"{body}/{axis}") for axis in "xyz"], axis=1)

    def quaternion(self, body: str) -> np.ndarray:
        """quat_wxyz [T+1, 4] of a free body."""
        return np.stack([self.coordinate(f"{body}/q{axis}") for axis in "wxyz"], axis=1)

    def excursion(self, model: str, since: int = 0) -> tuple[float, float]:
        """How far an object gets from its place at step `since`, at any later time: (metres, radians)."""
        rows = [q for q in self.info["q"] if q["name"].startswith(f"{model}/")]
        if any(q["name"] == f"{model}/qw" for q in rows):
            p, quat = self.position(model)[since:], self.quaternion(model)[since:]
            return float(np.linalg.norm(p - p[0], axis=1).max()), float(angle_between(quat, quat[0]).max())
        moved = {unit: np.array([self.data["q"][since:, q["index"]] for q in rows if q["unit"] == unit]) for unit in ("m", "rad")}
        metres, radians = (np.abs(x - x[:, :1]).max() if x.size else 0.0 for x in (moved["m"], moved["rad"]))
        return float(metres), float(radians)

    def largest_excursion(self) -> tuple[float, float]:
        """The largest of all objects, (metres, radians)."""
        return tuple(np.max([self.excursion(body["name"]) for body in self.info["objects"]], axis=0))

    def touching_pairs(self) -> list[set[tuple[str, str]]]:
        """Per step the pairs of bodies that push on each other, names sorted."""
        names, offset = self.data["names_bodies"], self.data["contacts/offset"]
        force = np.linalg.norm(self.data["contacts/force_W"].reshape(-1, 3), axis=1)
        pairs = [tuple(sorted((names[a], names[b]))) for a, b in zip(self.data["contacts/a"], self.data["contacts/b"])]
        return [{pairs[i] for i in range(first, last) if force[i] > FORCE_THRESHOLD_N} for first, last in zip(offset[:-1], offset[1:])]

    def between(self, a: str, b: str, quantity: str) -> np.ndarray:
        """[T] or [T, 3] of `contacts/quantity` ("gap", "force_W": on a) of the first contact between bodies a and b; NaN where there is none."""
        names, offset, values = self.data["names_bodies"], self.data["contacts/offset"], self.data[f"contacts/{quantity}"]
        found = np.full((len(offset) - 1, *values.shape[1:]), np.nan)
        pair = list(zip(self.data["contacts/a"], self.data["contacts/b"]))
        for k, (first, last) in enumerate(zip(offset[:-1], offset[1:])):
            for i in range(last - 1, first - 1, -1):
                ends = (names[pair[i][0]], names[pair[i][1]])
                if ends in ((a, b), (b, a)):
                    found[k] = -values[i] if quantity == "force_W" and ends == (b, a) else values[i]
        return found

    def makes_and_breaks(self, robot: str) -> tuple[bool, bool]:
        """Whether some pair with a body of the robot comes into contact (at the start counts), and whether one comes apart."""
        steps: list[set[tuple[str, str]]] = [set()] + [
            {pair for pair in step if any(name == robot or name.startswith(f"{robot}/") for name in pair)} for step in self.touching_pairs()
        ]
        made = any(now - before for before, now in zip(steps, steps[1:]))
        broken = any(before - now for before, now in zip(steps, steps[1:]))
        return made, broken

    def contacts_per_step(self) -> np.ndarray:
        return np.diff(self.data["contacts/offset"])

    def row(self) -> dict:
        """What the table of scenes says of this run."""
        metres, radians = self.largest_excursion()
        robots = "".join(
            "+-"[not made] + "+-"[not broken] + " " for made, broken in (self.makes_and_breaks(r["name"]) for r in self.info["robots"])
        )
        return {"scene": self.name, "nq": self.info["nq"], "nv": self.info["nv"], "contacts": int(self.contacts_per_step().max(initial=0)),
                "steps": self.summary["steps"], "status": self.summary["status"],
                "solve_p50_us": self.summary["solve_us"]["p50"], "solve_p95_us": self.summary["solve_us"]["p95"],
                "step_p50_us": self.summary["step_us"]["p50"], "step_p95_us": self.summary["step_us"]["p95"],
                "residual_max": self.summary["residual_max"], "gap_min_m": self.summary["gap_min"],
                "moved_m": metres, "moved_deg": float(np.degrees(radians)), "made_broke": robots.strip()}  # fmt: skip


def angle_between(quat_wxyz: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Angle [rad] of the rotation between unit quaternions, [..., 4]."""
    a, b = quat_wxyz / np.linalg.norm(quat_wxyz, axis=-1, keepdims=True), other / np.linalg.norm(other)
    nearest = np.where((a @ b)[..., None] < 0, -a, a)
    return 4 * np.arcsin(np.clip(np.linalg.norm(nearest - b, axis=-1) / 2, 0, 1))


def run_scene(deft: Path, scene: str | Path, folder: Path, *options: str) -> SceneRun:
    """Simulates a bundled scene, by its name, or the scene of a file, into the empty folder."""
    file = scene if isinstance(scene, Path) else scene_file(scene)
    info = deft_json(deft, "info", file, *options)
    summary = deft_json(deft, "sim", file, "--out", folder, *options)
    return SceneRun(info["name"], info, summary, folder)


def table_text(rows: list[dict]) -> str:
    """Rows as a Markdown table."""
    formats = {"residual_max": "{:.1e}", "gap_min_m": "{:.1e}", "moved_m": "{:.3f}", "moved_deg": "{:.1f}"}
    formats |= dict.fromkeys(("solve_p50_us", "solve_p95_us", "step_p50_us", "step_p95_us"), "{:.0f}")
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0])] if rows else []
    return "\n".join(lines + ["| " + " | ".join(formats.get(k, "{}").format(v) for k, v in row.items()) + " |" for row in rows])
