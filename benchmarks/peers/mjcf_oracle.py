"""Compares how deft reads MJCF files with what MuJoCo compiles from them; run by `./run bench models`.

python benchmarks/peers/mjcf_oracle.py BUILD FILE… → one JSON object per file and line: file, compiles, loads, agrees, differences, warnings, time_s.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np

RELATIVE, OF_MESHES = 1e-9, 1e-6
"""Tolerances, relative to the largest number of the model of its kind; meshes have single precision in MuJoCo."""


def compiled(path: str) -> mujoco.MjModel | str:
    """MuJoCo's model, or why there is none. Bodies are not fused, so that they compare."""
    try:
        spec = mujoco.MjSpec.from_file(path)
        spec.compiler.fusestatic = False
        return spec.compile()
    except (ValueError, mujoco.FatalError) as error:
        return str(error).strip().splitlines()[0]


def read_by_deft(deft: str, path: str, initial: str | None = None) -> tuple[dict | None, str]:
    """What deft says of a file, at a keyframe, and its messages."""
    at = ["--set", f"initial={initial}"] if initial else []
    done = subprocess.run([deft, "info", path, "--json", *at], capture_output=True, text=True)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def name_of(model: mujoco.MjModel, kind: int, index: int) -> str:
    return mujoco.mj_id2name(model, kind, index) or ""


class Comparison:
    """Differences between a compiled model and what deft says of the file."""

    def __init__(self, model: mujoco.MjModel, info: dict, qpos: np.ndarray | None = None):
        self.model, self.info = model, info
        self.differences: list[str] = []
        self.data = mujoco.MjData(model)
        if qpos is not None:
            self.data.qpos[:] = qpos
        mujoco.mj_kinematics(model, self.data)
        prefix = info["bodies"][1]["name"].split("/")[0] + "/" if len(info["bodies"]) > 1 else ""
        self.bodies = {body["name"].removeprefix(prefix): body for body in info["bodies"]}
        self.joints = {joint["name"].removeprefix(prefix): joint for joint in info["joints"] if joint["type"] != "fixed"}

    def expect(self, what: str, ours: object, theirs: object, scale: float = 1.0, tolerance: float = RELATIVE) -> None:
        off = float(np.max(np.abs(np.asarray(ours, float) - np.asarray(theirs, float)), initial=0.0))
        if not off <= tolerance * scale:
            self.differences.append(f"{what}: {np.asarray(ours).tolist()} here, {np.asarray(theirs).tolist()} there")

    def body_name(self, index: int) -> str:
        return name_of(self.model, mujoco.mjtObj.mjOBJ_BODY, index) or f"body_{index}"

    def compare_counts(self) -> None:
        for key in ("nq", "nv"):
            if self.info[key] != getattr(self.model, key):
                self.differences.append(f"{key}: {self.info[key]} here, {getattr(self.model, key)} there")

    def compare_bodies(self) -> None:
        model, data = self.model, self.data
        length = max(1.0, float(np.abs(data.xpos).max()))
        for b in range(1, model.nbody):
            body = self.bodies.get(self.body_name(b))
            if body is None:
                self.differences.append(f"body {self.body_name(b)} is missing")
                continue
            meshes = any(model.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH for g in range(model.ngeom) if model.geom_bodyid[g] == b)
            loose = OF_MESHES if meshes else RELATIVE
            name = self.body_name(b)
            self.expect(f"{name} position", body["position"], data.xpos[b], length)
            turn = np.abs(np.dot(body["quat_wxyz"], data.xquat[b]))
            self.expect(f"{name} orientation", turn, 1.0)
            self.expect(f"{name} mass", body["mass"], model.body_mass[b], max(model.body_mass[b], 1e-12), loose)
            if model.body_mass[b] == 0:
                continue
            self.expect(f"{name} centre of mass", body["com_B"], model.body_ipos[b], length, loose)
            entries = np.zeros(9)
            mujoco.mju_quat2Mat(entries, model.body_iquat[b])
            rotation = entries.reshape(3, 3)
            theirs = rotation @ np.diag(model.body_inertia[b]) @ rotation.T
            xx, yy, zz, xy, xz, yz = body["inertia_B"]
            self.expect(f"{name} inertia", [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], theirs, np.abs(theirs).max(), loose)

    def compare_joints(self) -> None:
        model = self.model
        theirs = [(name_of(model, mujoco.mjtObj.mjOBJ_JOINT, j), j) for j in range(model.njnt)]
        named = [(name, j) for name, j in theirs if name]
        types = {0: "free", 1: "ball", 2: "prismatic", 3: "revolute"}
        for name, j in named:
            joint = self.joints.get(name)
            if joint is None:
                self.differences.append(f"joint {name} is missing")
                continue
            if joint["type"] != types[int(model.jnt_type[j])]:
                self.differences.append(f"joint {name}: {joint['type']} here, {types[int(model.jnt_type[j])]} there")
            if model.jnt_type[j] >= 2:
                limited = bool(model.jnt_limited[j])
                lower, upper = model.jnt_range[j] if limited else (-np.inf, np.inf)
                ours = (float(joint["lower"]), float(joint["upper"]))
                for a, b in zip(ours, (lower, upper), strict=True):
                    if not (a == b or abs(a - b) <= RELATIVE * max(1.0, abs(b))):
                        self.differences.append(f"joint {name} limit: {a} here, {b} there")
        ours_in_order = [name for name in self.joints if name in dict(named)]
        if ours_in_order != [name for name, _ in named if name in self.joints]:
            self.differences.append("the order of the joints")


def differences(deft: str, path: str, model: mujoco.MjModel, info: dict) -> list[str]:
    """All that differs, at the reference configuration and at every keyframe."""
    referred = [j for j in range(model.njnt) if model.jnt_type[j] >= 2 and model.qpos0[model.jnt_qposadr[j]] != 0]
    if referred:
        info = read_by_deft(deft, path, "qpos0")[0] or info
    comparison = Comparison(model, info)
    comparison.compare_counts()
    comparison.compare_bodies()
    comparison.compare_joints()
    found = comparison.differences
    for k in range(model.nkey):
        name = name_of(model, mujoco.mjtObj.mjOBJ_KEY, k) or f"key_{k}"
        if name == f"key_{k}" and np.array_equal(model.key_qpos[k], model.qpos0):
            continue  # <size nkey=…> keeps places for keyframes that the file does not state
        at_key = read_by_deft(deft, path, name)[0]
        if at_key is None:
            found.append(f"keyframe {name} is not read")
            continue
        posed = Comparison(model, at_key, model.key_qpos[k])
        posed.compare_bodies()
        found += [f"keyframe {name}: {difference}" for difference in posed.differences]
    return found


def compare(deft: str, path: str) -> dict:
    """One file."""
    began = time.perf_counter()
    info, errors = read_by_deft(deft, path)
    row = {"file": path, "loads": info is not None, "time_s": round(time.perf_counter() - began, 3)}
    row["warnings"] = sum("warning" in line for line in errors.splitlines())
    model = compiled(path)
    row["compiles"] = not isinstance(model, str)
    if isinstance(model, str):
        row["reason"] = model
    elif info is None:
        row["reason"] = next((line for line in errors.splitlines() if "error" in line), errors.strip()[:200])
    else:
        row["differences"] = differences(deft, path, model, info)[:5]
    row["agrees"] = row["compiles"] and row["loads"] and not row.get("differences")
    return row


if __name__ == "__main__":
    for file in sys.argv[2:]:
        print(json.dumps(compare(str(Path(sys.argv[1]) / "deft"), file)), flush=True)
