#!/usr/bin/env python3
"""Rival solvers that are not measured in C++ (benchmarks/rivals) on the real contact problems: accuracy against the references and the time of one solve.

Usage: solver_peers.py [--repeat N] [--json]      needs the environment .venv-bench (./run bench makes it)

The problem (module `contact`): minimise ½δᵀQδ + bᵀδ subject to, per contact, φ + (J_n + μ d_kᵀJ_t)δ ≥ 0 for every ray d_k
(pyramid) or φ + J_nδ ≥ μ‖J_tδ‖ (cone). Peers get the matrices ready-made and are set up from nothing; `own`, what the
solver itself reports [µs], has no Python call in it, p50 and p95 have. A rival that cannot be imported, or that
has no licence, is named with the reason.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from contact_problems import SEQUENCES, Problem, energy_error, read_sequence
from scipy import sparse


class Clarabel:
    """Interior point, homogeneous embedding; nothing is kept between solves."""

    def __init__(self):
        import clarabel

        self.clarabel, self.settings = clarabel, clarabel.DefaultSettings()
        self.settings.verbose = False
        for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas"):
            setattr(self.settings, name, 1e-10)

    def solve(self, p: Problem) -> tuple[np.ndarray, float, float]:
        clarabel = self.clarabel
        cones = [clarabel.SecondOrderConeT(d) for d in p.cone_dims] or [clarabel.NonnegativeConeT(len(p.low))]
        Q, A = sparse.csc_matrix(np.triu(p.Q)), sparse.csc_matrix(-p.A)
        start = time.perf_counter()
        solution = clarabel.DefaultSolver(Q, p.b, A, -p.low, cones, self.settings).solve()
        wall = time.perf_counter() - start
        if "Solved" not in str(solution.status):
            raise RuntimeError(f"Clarabel: {solution.status}")
        return np.array(solution.x), wall, solution.solve_time


class Gurobi:
    """The commercial solver in its free size (2000 variables and rows): method 2 is the barrier, 1 the dual simplex."""

    def __init__(self, method: int):
        import gurobipy

        self.gurobi = gurobipy
        self.environment = gurobipy.Env(params={"OutputFlag": 0, "Threads": 1})
        for name, value in {"Method": method, "FeasibilityTol": 1e-9, "OptimalityTol": 1e-9, "BarConvTol": 1e-12}.items():
            self.environment.setParam(name, value)

    def solve(self, p: Problem) -> tuple[np.ndarray, float, float]:
        Q, A = sparse.csr_matrix(p.Q), sparse.csr_matrix(p.A)
        start = time.perf_counter()
        try:
            with self.gurobi.Model(env=self.environment) as model:
                x = model.addMVar(len(p.b), lb=-self.gurobi.GRB.INFINITY)
                model.setMObjective(0.5 * Q, p.b, 0.0)
                model.addMConstr(A, x, ">", p.low)
                model.optimize()
                wall = time.perf_counter() - start
                if model.Status != self.gurobi.GRB.OPTIMAL:
                    raise RuntimeError(f"Gurobi: status {model.Status}")
                return x.X, wall, model.Runtime
        except self.gurobi.GurobiError as error:
            raise RuntimeError(f"Gurobi: {error}") from error


PYRAMID_PEERS = {"Gurobi barrier": lambda: Gurobi(2), "Gurobi dual simplex": lambda: Gurobi(1)}
PEERS = {"Clarabel": Clarabel}


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
    rows, absent = [], {}
    for name in SEQUENCES:
        sequence = read_sequence(name)
        for who, make in {**PEERS, **(PYRAMID_PEERS if name.endswith("_pyr") else {})}.items():
            try:
                solver = make()
            except Exception as error:  # whatever keeps a rival from starting: not installed, no licence
                absent[who] = f"{type(error).__name__}: {error}"
                continue
            rows.append({"sequence": name, **measure(who, solver, sequence, options.repeat)})
    if options.json:
        print(json.dumps({"rows": rows, "absent": absent}))
        return
    for who, reason in absent.items():
        print(f"absent: {who} ({reason})")
    for row in rows:
        print(
            f"{row['sequence']:24} {row['who']:22} {row['failed']:3} failed  energy {row['energy_error']:.1e}  "
            f"p50 {row['p50_us'] or float('inf'):8.1f} µs  p95 {row['p95_us'] or float('inf'):8.1f}  own {row['own_us'] or 0:8.1f}"
        )


if __name__ == "__main__":
    main()
