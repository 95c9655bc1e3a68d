"""Programs of tracking_qp (--dump FILE) by solvers of other people: times in ms and distance of their inputs from ours.

Usage: tracking_qp_peers.py FILE     (in the environment of requirements-bench.lock)

Clarabel gets the sparse program in states and inputs, DAQP the condensed one in the inputs. Soft rows are violations e ≥ 0 at
the price ρe for both. Only their own solve is timed; for DAQP not even the condensing, which ours does in effect.
"""

import sys
import time

import numpy as np
import scipy.linalg
import scipy.sparse as sparse


def read(path):
    """Programs as lists of (name, matrix)."""
    programs: list[list] = []
    current: list[tuple[str, np.ndarray]] = []
    with open(path, "rb") as file:
        while line := file.readline():
            name, rows, columns = line.split()
            if name == b"end":
                programs.append(current)
                current = []
                continue
            shape = int(rows), int(columns)
            values = np.frombuffer(file.read(8 * shape[0] * shape[1]), dtype=float)
            current.append((name.decode(), values.reshape(shape, order="F")))
    return programs


class Program:
    """min ½ vᵀHv + fᵀv, F v = b, G v ≤ d over v = (x_1 … x_T, u_0 … u_{T−1}, e)."""

    def __init__(self, entries):
        stages: list[dict[str, np.ndarray]] = []
        for name, value in entries:
            if name == "x_start":
                self.x_start = value[:, 0]
                continue
            if name == "Q":
                stages.append({})
            stages[-1][name] = value
        self.stages = stages
        self.T = len(stages) - 1
        self.nx = self.x_start.size
        self.nu = stages[0]["B"].shape[1]
        self.u = np.concatenate([s["u"][:, 0] for s in stages[:-1]])

    def sparse_form(self):
        T, nx, nu = self.T, self.nx, self.nu
        n = T * (nx + nu)
        x = lambda t: slice((t - 1) * nx, t * nx)  # noqa: E731
        u = lambda t: slice(T * nx + t * nu, T * nx + (t + 1) * nu)  # noqa: E731
        H, f = np.zeros((n, n)), np.zeros(n)
        F, b = np.zeros((T * nx, n)), np.zeros(T * nx)
        rows, right, prices = [], [], []
        for t, s in enumerate(self.stages):
            if t > 0:
                H[x(t), x(t)] += s["Q"]
                f[x(t)] += s["q"][:, 0]
            if t < T:
                H[u(t), u(t)] += np.diag(s["S"][:, 0])
                f[u(t)] += s["s"][:, 0]
                k = slice(t * nx, (t + 1) * nx)
                F[k, x(t + 1)] = np.eye(nx)
                F[k, u(t)] = -s["B"]
                b[k] = s["c"][:, 0]
                if t == 0:
                    b[k] += s["A"] @ self.x_start
                else:
                    F[k, x(t)] = -s["A"]
                for i in range(nu):
                    for sign, bound in ((1, s["upper"][i, 0]), (-1, -s["lower"][i, 0])):
                        row = np.zeros(n)
                        row[u(t)][i] = sign
                        rows.append(row)
                        right.append(bound)
                        prices.append(np.inf)
            for r in range(s["d"].size):
                row, d = np.zeros(n), s["d"][r, 0]
                if t > 0:
                    row[x(t)] = s["X"][r]
                else:
                    d -= s["X"][r] @ self.x_start
                if t < T:
                    row[u(t)] = s["U"][r]
                rows.append(row)
                right.append(d)
                prices.append(s["rho"][r, 0])
        G, d, rho = np.array(rows), np.array(right), np.array(prices)
        soft = np.flatnonzero(np.isfinite(rho))
        E = np.zeros((len(rho), soft.size))
        E[soft, np.arange(soft.size)] = -1
        H = scipy.linalg.block_diag(H, np.zeros((soft.size, soft.size)))
        f = np.concatenate([f, rho[soft]])
        F = np.hstack([F, np.zeros((F.shape[0], soft.size))])
        G = np.vstack([np.hstack([G, E]), np.hstack([np.zeros((soft.size, n)), -np.eye(soft.size)])])
        return H, f, F, b, G, np.concatenate([d, np.zeros(soft.size)]), soft.size

    def condensed_form(self):
        H, f, F, b, G, d, soft = self.sparse_form()
        states = self.T * self.nx
        free = H.shape[0] - states
        L = np.linalg.solve(F[:, :states], np.hstack([-F[:, states:], b[:, None]]))
        Z = np.vstack([L[:, :-1], np.eye(free)])
        z0 = np.concatenate([L[:, -1], np.zeros(free)])
        return Z.T @ H @ Z, Z.T @ (f + H @ z0), G @ Z, d - G @ z0, soft


def clarabel_solver(program):
    import clarabel

    H, f, F, b, G, d, _ = program.sparse_form()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(len(b)), clarabel.NonnegativeConeT(len(d))]
    A = sparse.csc_matrix(np.vstack([F, G]))
    H = sparse.csc_matrix(np.triu(H))
    begin = time.thread_time()
    solution = clarabel.DefaultSolver(H, f, A, np.concatenate([b, d]), cones, settings).solve()
    elapsed = time.thread_time() - begin
    first = program.T * program.nx
    return elapsed, np.array(solution.x)[first : first + program.u.size]


def daqp_solver(program):
    import daqp

    H, f, G, d, soft = program.condensed_form()
    # It wants a positive definite H: the violations get a curvature too small to be seen.
    H = H + scipy.linalg.block_diag(np.zeros((program.u.size,) * 2), 1e-7 * np.eye(soft))
    from ctypes import c_double, c_int

    lower, sense = np.full(d.size, -1e30), np.zeros(d.size, dtype=c_int)
    H, G = np.ascontiguousarray(H, c_double), np.ascontiguousarray(G, c_double)
    begin = time.thread_time()
    x = daqp.solve(H, np.ascontiguousarray(f, c_double), G, np.ascontiguousarray(d, c_double), lower, sense)[0]
    return time.thread_time() - begin, np.array(x)[: program.u.size]


def main():
    programs = [Program(entries) for entries in read(sys.argv[1])]
    print(f"{len(programs)} programs, {programs[0].T} steps, nx {programs[0].nx}, nu {programs[0].nu}")
    print(f"{'solver':<12}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}{'farthest u':>12}")
    for name, solve in (("clarabel", clarabel_solver), ("daqp", daqp_solver)):
        times, farthest = [], 0.0
        try:
            for program in programs:
                elapsed, u = solve(program)
                times.append(1e3 * elapsed)
                farthest = max(farthest, np.abs(u - program.u).max())
        except ImportError as error:
            print(f"{name:<12}{'absent':>9}  ({error})")
            continue
        p50, p99 = np.quantile(times, [0.5, 0.99])
        print(f"{name:<12}{p50:9.3f}{p99:9.3f}{max(times):9.3f}{farthest:12.1e}")


if __name__ == "__main__":
    main()
