#!/usr/bin/env python3
"""DAQP and Clarabel on the real contact problems: accuracy against the references and the time of one solve.

Usage: solver_peers.py [--repeat N] [--json]      needs the environment .venv-bench (./run bench makes it)

The problem (room `contact`): minimise ½δᵀQδ + bᵀδ subject to, per contact, φ + (J_n + μ d_kᵀJ_t)δ ≥ 0 for every ray d_k
(pyramid) or φ + J_nδ ≥ μ‖J_tδ‖ (cone). Peers get the dense or sparse matrices ready-made; what is timed is from those
to the solution: `cold` sets the solver up from nothing; `kept` updates the workspace of the step before. Times are wall
times of the Python calls [µs], `own` is what the solver itself reports.
"""
from __future__ import annotations

import argparse
import gzip
import json
import time
from dataclasses import dataclass
from pathlib import Path

import clarabel
import daqp
import numpy as np
from scipy import sparse

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
        Q[s:s + k, s:s + k] = np.reshape(block["data"], (k, k))
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
                ray = np.array([np.cos(angle), np.sin(angle)])[:len(tangents)]
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


class Daqp:
    """Dual active set; `kept` holds one workspace per size and updates it."""

    def __init__(self, kept: bool):
        self.kept, self.model, self.size = kept, None, None

    def solve(self, p: Problem) -> tuple[np.ndarray, float, float]:
        upper, sense = np.full(len(p.low), 1e30), np.zeros(len(p.low), dtype=np.int32)
        start = time.perf_counter()
        if not self.kept:
            delta, _, flag, info = daqp.solve(p.Q, p.b, p.A, upper, p.low, sense)
        else:
            if self.size != p.A.shape:
                self.model, self.size = daqp.Model(), p.A.shape
                self.model.setup(p.Q, p.b, p.A, upper, p.low, sense)
            else:
                self.model.update(H=p.Q, f=p.b, A=p.A, bupper=upper, blower=p.low)
            delta, _, flag, info = self.model.solve()
        wall = time.perf_counter() - start
        if flag < 1:
            raise RuntimeError(f"DAQP: exit flag {flag}")
        return np.array(delta), wall, info.get("solve_time", 0) + (0 if self.kept else info.get("setup_time", 0))


class Clarabel:
    """Interior point, homogeneous embedding; nothing is kept between solves."""

    def __init__(self):
        self.settings = clarabel.DefaultSettings()
        self.settings.verbose = False
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
            setattr(self.settings, name, 1e-10)

    def solve(self, p: Problem) -> tuple[np.ndarray, float, float]:
        cones = [clarabel.SecondOrderConeT(d) for d in p.cone_dims] or [clarabel.NonnegativeConeT(len(p.low))]
        Q, A = sparse.csc_matrix(np.triu(p.Q)), sparse.csc_matrix(-p.A)
        start = time.perf_counter()
        solution = clarabel.DefaultSolver(Q, p.b, A, -p.low, cones, self.settings).solve()
        wall = time.perf_counter() - start
        if "Solved" not in str(solution.status):
            raise RuntimeError(f"Clarabel: {solution.status}")
        return np.array(solution.x), wall, solution.solve_time


def measure(who: str, solver, sequence: list[Problem], repeats: int) -> dict:
    """One row: medians over the sequence, the first pass (which warms caches and checks answers) left out."""
    walls, owns, worst, failed = [], [], 0.0, 0
    for repeat in range(repeats + 1):
        for problem in sequence:
            try:
                delta, wall, own = solver.solve(problem)
            except RuntimeError:
                failed += repeat == 0
                continue
            if repeat == 0:
                worst = max(worst, energy_error(problem, delta))
            else:
                walls.append(1e6 * wall)
                owns.append(1e6 * own)
    p50, p95, own = (float(np.quantile(v, q)) if v else None for v, q in ((walls, 0.5), (walls, 0.95), (owns, 0.5)))
    return {"who": who, "failed": failed, "energy_error": worst, "p50_us": p50, "p95_us": p95, "own_us": own}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="one JSON list on stdout")
    options = parser.parse_args()
    rows = []
    for name in SEQUENCES:
        sequence = read_sequence(name)
        peers = [("Clarabel", Clarabel())]
        if name.endswith("_pyr"):
            peers += [("DAQP cold", Daqp(kept=False)), ("DAQP kept workspace", Daqp(kept=True))]
        rows += [{"sequence": name, **measure(who, solver, sequence, options.repeat)} for who, solver in peers]
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(f"{row['sequence']:24} {row['who']:22} {row['failed']:3} failed  energy {row['energy_error']:.1e}  "
              f"p50 {row['p50_us'] or float('inf'):8.1f} µs  p95 {row['p95_us'] or float('inf'):8.1f}  own {row['own_us'] or 0:8.1f}")


if __name__ == "__main__":
    main()
