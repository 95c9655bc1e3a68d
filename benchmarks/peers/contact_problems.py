"""The recorded contact problems as matrices, with their reference solutions: what peers are given."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[1] / "data" / "problems"
SEQUENCES = ["planar_hand_pyr", "planar_hand_cone", "allegro_pyr", "allegro_cone", "pick_place_grasp_pyr", "pick_place_grasp_cone"]


@dataclass
class Problem:
    """One step: Q [nv, nv], b [nv]; pyramid: A δ ≥ low; cone: per contact the rows (J_n, μJ_t) and (φ, 0)."""

    Q: np.ndarray
    b: np.ndarray
    A: np.ndarray
    low: np.ndarray
    cone_dims: list[int]
    reference: np.ndarray


def dense_row(row: dict, nv: int) -> np.ndarray:
    dense = np.zeros(nv)
    np.add.at(dense, row["cols"], row["vals"])
    return dense


def read_problem(path: Path, reference: list[float]) -> Problem:
    """Reads one problem file and writes its constraints as rows."""
    with gzip.open(path) as file:
        data = json.load(file)
    nv, rows, low, dims = data["nv"], [], [], []
    Q = np.zeros((nv, nv))
    for block in data["Q_blocks"]:
        s, k = block["start"], block["size"]
        Q[s : s + k, s : s + k] = np.reshape(block["data"], (k, k))
    for contact in data["contacts"]:
        normal, mu = dense_row(contact["normal"], nv), contact["mu"]
        tangents = np.array([dense_row(t, nv) for t in contact["tangents"]])
        if data["model"] == "cone":
            rows += [normal, *(mu * tangents)]
            low += [-contact["gap"]] + [0.0] * len(tangents)
            dims.append(1 + len(tangents))
        else:
            count = 2 if len(tangents) == 1 else data["rays"]
            for k in range(count):
                angle = 2 * np.pi * k / count
                ray = np.array([np.cos(angle), np.sin(angle)])[: len(tangents)]
                rows.append(normal + mu * ray @ tangents)
                low.append(-contact["gap"])
    return Problem(Q, np.array(data["b"]), np.array(rows), np.array(low), dims, np.array(reference))


def read_sequence(name: str) -> list[Problem]:
    with gzip.open(DATA / f"solutions_{name}.json.gz") as file:
        solutions = json.load(file)["solutions"]
    return [read_problem(path, s["delta"]) for path, s in zip(sorted((DATA / name).iterdir()), solutions, strict=True)]


def energy_error(problem: Problem, delta: np.ndarray) -> float:
    """‖δ − δ*‖_Q / √E0 with E0 = bᵀQ⁻¹b."""
    error = delta - problem.reference
    scale = problem.b @ np.linalg.solve(problem.Q, problem.b)
    return float(np.sqrt(error @ problem.Q @ error / scale))
