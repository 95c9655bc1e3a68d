"""Scenes drawn at random, seeded: objects on a ground, pushed and squeezed by fingers on springs, in a plane or in space, for the models
`convex`, `convex-second-order`, `perfect-tracking`, `impedance` and `stewart-trinkle`.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from .drawn import write
from .equations import WITH_MOMENTUM
from .outlines import FRAMES

UP = {"xy": 1, "yz": 2, "xz": 2, None: 2}


def mechanism_scene(seed: int, folder: Path, model: str) -> Path:
    """Writes FOLDER/MODEL_SEED.deft.yaml and returns its path."""
    rng = np.random.default_rng(seed)
    plane = [None, "xy", "xz", "yz"][rng.integers(4)]
    up = UP[plane]
    sideways = [i for i in (range(3) if plane is None else FRAMES[plane]) if i != up]
    second = model in WITH_MOMENTUM
    h = float(rng.choice([0.001, 0.005, 0.02] if second else [0.005, 0.02, 0.1]))
    friction = lambda: float(rng.choice([0, 0.2, 0.5, 1, 2]))  # noqa: E731
    doc: dict = {
        "deft": 1,
        "name": f"{model}_{seed}",
        "bodies": {},
        "robots": [],
        "gravity": [float(x) for x in -10 * np.eye(3)[up]],
        "step": {
            "model": model,
            "h": h,
            "contact_margin": float(rng.choice([0.02, 0.1])),
            "dynamics": ["quasistatic", "quasidynamic"][rng.integers(2)],
        },
        "friction": {"default": 0.5},
        "configurations": {"start": {}},
        "initial": "start",
        "commands": {"knots": []},
    }
    if plane is not None:
        doc["plane"] = plane
    else:
        doc["step"]["rays"] = int(rng.choice([4, 6, 8]))
    if rng.random() < 0.4 and not model.startswith("convex"):
        doc["step"]["uniqueness"] = "check"
    doc["bodies"]["ground"] = {
        "shape": {"half_space": {"normal": [float(x) for x in np.eye(3)[up]], "offset": 0.0}},
        "joint": "fixed",
        "mu": friction(),
    }
    start, places = doc["configurations"]["start"], []
    fingers: list = []
    for i in range(int(rng.integers(1, 3))):
        ball = rng.random() < 0.5
        half = np.full(3, rng.uniform(0.05, 0.12)) if ball else rng.uniform(0.04, 0.12, 3)
        at = np.zeros(3)
        at[sideways[0]] = 0.5 * i
        at[up] = half[up] + float(rng.choice([0, 0, 0.004]))
        name = f"object_{i}"
        kind = "free" if plane is None else {"planar": plane} if rng.random() < 0.7 or not ball else {"translation": plane}
        doc["bodies"][name] = {
            "shape": {"sphere": {"radius": float(half[0])}} if ball else {"box": {"size": [float(2 * s) for s in half]}},
            "mass": float(10 ** rng.uniform(-1, 1)),
            "joint": kind,
            "mu": friction(),
        }
        if plane is None:
            yaw = rng.uniform(-3, 3) if ball else 0.0
            start[name] = {"position": [float(x) for x in at], "quat_wxyz": [math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)]}
        else:
            start[name] = [float(at[a]) for a in sorted(FRAMES[plane])] + ([0.0] if "planar" in kind else [])
        if second and rng.random() < 0.5:
            fast = rng.normal(size=6 if plane is None else len(start[name])) * 0.3
            start[name] = (start[name] | {"velocity": [float(x) for x in fast]}) if plane is None else start[name]
        places.append((at, half, ball))
    for i in range(int(rng.integers(1, 4))):
        at, half, ball = places[rng.integers(len(places))]
        side = rng.choice([-1, 1])
        radius = float(rng.uniform(0.01, 0.04))
        direction = np.zeros(3)
        if plane is None and rng.random() < 0.3:
            direction[1] = side
        elif rng.random() < 0.2:
            direction[up] = 1
        else:
            direction[sideways[0]] = side
        gap = float(rng.choice([0, 0.003, 0.02]))
        p = at + direction * (half[np.argmax(np.abs(direction))] + radius + gap)
        if not direction[up]:
            p[up] = max(radius + 0.005, at[up] + rng.uniform(-0.4, 0.6) * half[up]) if not ball else at[up]
        if any(np.linalg.norm(p - q) < r + radius + 0.005 for q, r in fingers):
            continue
        fingers.append((p, radius))
        name = f"finger_{i}"
        letters = "xyz" if plane is None else plane
        axes = range(3) if plane is None else sorted(FRAMES[plane])
        doc["bodies"][name] = {
            "shape": {"sphere": {"radius": radius}},
            "mass": float(rng.uniform(0.05, 0.5)),
            "joint": {"translation": letters},
            "mu": friction(),
        }
        doc["robots"].append({"name": name, "stiffness": [float(x) for x in 10 ** rng.uniform(1.5, 3.5, len(letters))]})
        start[name] = [float(p[a]) for a in axes]
        into = -direction * (gap + float(rng.uniform(0.0, 0.03))) + 0.02 * rng.normal(size=3) * (rng.random() < 0.7)
        doc["commands"]["knots"] += [{"t": 0, name: start[name]}, {"t": 8 * h, name: [float((p + into)[a]) for a in axes]}]
        if rng.random() < 0.3:
            doc["commands"]["knots"].append({"t": 16 * h, name: [float((p + into + 0.02 * np.eye(3)[up])[a]) for a in axes]})
    if model.startswith("convex"):
        doc["step"] |= convex_settings(np.random.default_rng(seed + 1), second)
    if not doc["robots"]:
        return mechanism_scene(seed + 1_000_000, folder, model)
    return write(folder / f"{model}_{seed}.deft.yaml", doc)


def convex_settings(rng: np.random.Generator, second: bool) -> dict:
    """Cones or pyramids, the law of friction, and for first order with and without the momentum of a step."""
    settings = {"cone": ["pyramid", "cone"][rng.integers(2)], "friction_law": ["associated", "associated", "coulomb"][rng.integers(3)]}
    return settings if second else settings | {"dynamics": ["quasistatic", "quasidynamic"][rng.integers(2)]}
