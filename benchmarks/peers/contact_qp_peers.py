"""DAQP and Clarabel on the real contact problems, beside deft's solver_benchmark.

    .venv/bin/python benchmarks/peers/contact_qp_peers.py [--solver-benchmark build/release/benchmarks/solver_benchmark] [--repeat 5]

Each peer gets the same steps in the same order. DAQP keeps its workspace and is updated while the sizes repeat; Clarabel is set up
anew (its Python door has no update of sparsity). Columns: time of the call from Python, the solver's own time in brackets, and the
accuracy of its answer by the definitions of src/deft/solvers/README.md: worst scaled residual and energy error against the reference.
"""

import argparse
import gzip
import json
import math
import pathlib
import subprocess
import time

import clarabel
import daqp
import numpy as np
from scipy import sparse

DATA = pathlib.Path(__file__).resolve().parents[1] / "data" / "problems"
SEQUENCES = ["planar_hand_pyr", "planar_hand_cone", "allegro_pyr", "allegro_cone", "pick_place_grasp_pyr", "pick_place_grasp_cone"]


class Problem:
    """One step as dense matrices: minimise ½ δᵀQδ + bᵀδ subject to G δ + g ≥ 0 (rays) or in second-order cones of 3 rows."""

    def __init__(self, data, reference):
        nv = data["nv"]
        self.Q = np.zeros((nv, nv))
        for block in data["Q_blocks"]:
            s, k = block["start"], block["size"]
            self.Q[s : s + k, s : s + k] = np.reshape(block["data"], (k, k))
        self.b = np.array(data["b"])
        self.reference = np.array(reference)
        self.cone = data["model"] == "cone" and len(data["contacts"][0]["tangents"]) == 2
        rows, gaps, scales = [], [], []
        inverse = np.linalg.inv(self.Q)
        energy = self.b @ inverse @ self.b
        for contact in data["contacts"]:
            J = np.zeros((1 + len(contact["tangents"]), nv))
            for r, row in enumerate([contact["normal"], *contact["tangents"]]):
                J[r, row["cols"]] = row["vals"]
            mu, phi = contact["mu"], contact["gap"]
            w = math.sqrt(np.trace(J @ inverse @ J.T) / len(J))
            energy = max(energy, min(0.0, phi) ** 2 / w**2)
            if self.cone:
                rows += [J[0], mu * J[1], mu * J[2]]
                gaps += [phi, 0.0, 0.0]
            elif len(J) == 2:
                rows += [J[0] + mu * J[1], J[0] - mu * J[1]]
                gaps += [phi, phi]
            else:
                n = data.get("rays", 4)
                for k in range(n):
                    angle = 2 * math.pi * k / n
                    rows.append(J[0] + mu * (math.cos(angle) * J[1] + math.sin(angle) * J[2]))
                    gaps.append(phi)
            scales += [w] * (len(rows) - len(scales))
        self.G, self.g, self.w = np.array(rows), np.array(gaps), np.array(scales)
        self.E0, self.inverse = energy, inverse

    def judge(self, delta, y):
        """@returns worst scaled residual and energy error."""
        root = math.sqrt(self.E0)
        gradient = self.Q @ delta + self.b - self.G.T @ y
        s = self.G @ delta + self.g
        if self.cone:
            s3, y3, w = s.reshape(-1, 3), y.reshape(-1, 3), self.w[::3]
            violation = np.linalg.norm(s3[:, 1:], axis=1) - s3[:, 0]
            wrong = np.linalg.norm(y3[:, 1:], axis=1) - y3[:, 0]
            product = (s3 * y3).sum(axis=1)
        else:
            violation, wrong, product, w = -s, -y, s * y, self.w
        error = delta - self.reference
        residual = max(math.sqrt(gradient @ self.inverse @ gradient) / root, (violation / w).max() / root, (wrong * w).max() / root, abs(product).max() / self.E0)
        return residual, math.sqrt(max(0.0, error @ self.Q @ error)) / root


def read(sequence):
    with gzip.open(DATA / f"solutions_{sequence}.json.gz") as file:
        solutions = json.load(file)["solutions"]
    problems = []
    for path, solution in zip(sorted((DATA / sequence).glob("*.json.gz")), solutions):
        with gzip.open(path) as file:
            problems.append(Problem(json.load(file), solution["delta"]))
    return problems


class Daqp:
    """The workspace is kept while the number of rows repeats."""

    name = "DAQP"

    def __init__(self, warm):
        self.warm, self.size, self.model = warm, None, None

    def solve(self, p):
        upper = np.full(len(p.g), 1e30)
        start = time.perf_counter()
        if not self.warm or self.size != p.G.shape:
            self.model = daqp.Model()
            self.model.setup(p.Q, p.b, p.G, upper, -p.g)
            self.size = p.G.shape
        else:
            self.model.update(H=p.Q, f=p.b, A=p.G, bupper=upper, blower=-p.g)
        x, _, flag, info = self.model.solve()
        elapsed = time.perf_counter() - start
        return elapsed, info["solve_time"], np.array(x), -np.array(info["lam"]), flag == 1


class Clarabel:
    name = "Clarabel"

    def __init__(self, warm):
        self.settings = clarabel.DefaultSettings()
        self.settings.verbose = False
        self.settings.tol_gap_abs = self.settings.tol_gap_rel = self.settings.tol_feas = 1e-12

    def solve(self, p):
        Q, A = sparse.csc_matrix(np.triu(p.Q)), sparse.csc_matrix(-p.G)
        cones = [clarabel.SecondOrderConeT(3)] * (len(p.g) // 3) if p.cone else [clarabel.NonnegativeConeT(len(p.g))]
        start = time.perf_counter()
        solution = clarabel.DefaultSolver(Q, p.b, A, p.g, cones, self.settings).solve()
        elapsed = time.perf_counter() - start
        return elapsed, solution.solve_time, np.array(solution.x), np.array(solution.z), "Solved" in str(solution.status)


def measure(peer, problems, repeat, warm):
    total, inner, worst, energy, failed = [], [], 0.0, 0.0, 0
    for _ in range(repeat):
        solver = peer(warm)
        for p in problems:
            elapsed, own, x, y, ok = solver.solve(p)
            total.append(1e6 * elapsed)
            inner.append(1e6 * own)
            residual, error = p.judge(x, y)
            worst, energy, failed = max(worst, residual), max(energy, error), failed + (not ok)
    return np.percentile(total, [50, 95]), np.percentile(inner, [50, 95]), worst, energy, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--solver-benchmark", help="deft's own benchmark, run first so that both stand in one report")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    if arguments.solver_benchmark:
        subprocess.run([arguments.solver_benchmark], check=True)
    print(f"{'sequence':24} {'peer':10} {'start':5} {'failed':>6} {'residual':>9} {'energy':>9} {'p50 µs (own)':>18} {'p95 µs (own)':>18}")
    for sequence in SEQUENCES:
        problems = read(sequence)
        peers = [(Clarabel, False)] if problems[0].cone else [(Daqp, False), (Daqp, True), (Clarabel, False)]
        for peer, warm in peers:
            (p50, p95), (own50, own95), worst, energy, failed = measure(peer, problems, arguments.repeat, warm)
            print(
                f"{sequence:24} {peer.name:10} {'kept' if warm else 'cold':5} {failed:6} {worst:9.1e} {energy:9.1e} "
                f"{p50:9.1f} ({own50:6.1f}) {p95:9.1f} ({own95:6.1f})"
            )


if __name__ == "__main__":
    main()
