"""How far a configuration is from a goal of its scene, from names and numbers alone: an arrival is judged by none of deft's own code."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))
from plant_scene import PlantScene, SceneError, angle_between, rotation_of

ERRORS = ("position_m", "rotation_rad", "joint")


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """Unit quaternion [4] w x y z of a rotation matrix: the eigenvector of the largest eigenvalue of Bar-Itzhack's symmetric matrix."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = R
    K = np.array(
        [
            [xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, xx - yy - zz, yx + xy, zx + xz],
            [xz - zx, yx + xy, yy - xx - zz, zy + yz],
            [yx - xy, zx + xz, zy + yz, zz - xx - yy],
        ]
    )
    return np.linalg.eigh(K)[1][:, -1]


def target_quaternion(node: dict) -> np.ndarray | None:
    """Of what a goal says of a free body; None if it names no rotation."""
    if "quat_wxyz" in node:
        return np.asarray(node["quat_wxyz"], float) / np.linalg.norm(node["quat_wxyz"])
    return quaternion_of(rotation_of(node["rotation"])) if "rotation" in node else None


def named_coordinates(node: dict) -> dict[str, float]:
    """Single coordinates that a goal names; `position` is x, y and z."""
    named = dict(zip("xyz", node.get("position", node.get("translation", []))))
    return {**named, **{name: value for name, value in node.items() if isinstance(value, (int, float))}}


def goal_errors(run: PlantScene, goal: str, q: np.ndarray) -> dict[str, float]:
    """The largest errors of q [nq] over the bodies and joints that the goal names: position [m], rotation [rad], joint [m or rad].

    A free body, and a model with two slides or more, has a position and a rotation; all else are joints. Planar angles count modulo a full turn if the
    scene says `plan.wrap_angles`. @throws SceneError for a goal that the scene has not."""
    goals = run.scene.get("goals") or {}
    if goal not in goals:
        raise SceneError(f"{run.folder}: no goal '{goal}'; there are {', '.join(goals)}")
    wraps = bool((run.scene.get("plan") or {}).get("wrap_angles"))
    errors = dict.fromkeys(ERRORS, 0.0)
    units = {entry["name"]: entry["unit"] for entry in run.info["q"]}
    for model, node in goals[goal].items():
        if model == "tolerance":
            continue
        off = {name: q[run.names_q.index(f"{model}/{name}")] - value for name, value in named_coordinates(node).items()}
        rows = [i for i in run.rows_q(model) if run.names_q[i].rsplit("/", 1)[1] in ("qw", "qx", "qy", "qz")]
        is_body = bool(rows) or sum(units[run.names_q[i]] == "m" for i in run.rows_q(model)) >= 2
        metres = [value for name, value in off.items() if units[f"{model}/{name}"] == "m"]
        radians = [value for name, value in off.items() if units[f"{model}/{name}"] == "rad"]
        target = target_quaternion(node)
        if target is not None:
            errors["rotation_rad"] = max(errors["rotation_rad"], angle_between(q[rows] / np.linalg.norm(q[rows]), target))
        if is_body:
            turned = [abs((x + np.pi) % (2 * np.pi) - np.pi) if wraps else abs(x) for x in radians]
            errors["position_m"] = max(errors["position_m"], float(np.linalg.norm(metres)))
            errors["rotation_rad"] = max([errors["rotation_rad"], *map(float, turned)])
        else:
            errors["joint"] = max([errors["joint"], *(abs(float(x)) for x in off.values())])
    return errors
