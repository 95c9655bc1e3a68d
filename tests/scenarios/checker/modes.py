"""All motions that the laws of one planar step allow, by branching on the contacts' modes with a linear program per node.

Modes: open (no force), stick, and sliding either way. A node leaves contacts undecided: for them φ⁺ ≥ 0, f_n ≥ 0, |f_t| ≤ μf_n.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .equations import Equations

OPEN, STICK, PLUS, MINUS, ANY = "o", "s", "+", "-", "?"
TOLERANCE = 1e-7


class Modes:
    """Searches the modes of one step, in units of a length (m) and a force (N)."""

    def __init__(self, e: Equations, length: float, force: float, budget: int = 4000):
        self.nc, self.nv, self.budget, self.nodes = len(e.phi), len(e.r), budget, 0
        self.length = length
        J_t = np.array([t[0] for t in e.J_t]).reshape(self.nc, self.nv)
        self.J_n, self.J_t, self.phi, self.mu = e.J_n, J_t, e.phi / length, e.mu
        balance = np.hstack([e.L * length, -e.S @ e.J_n.T * force, -e.S @ J_t.T * force])
        size = np.maximum(np.abs(balance).max(axis=1), np.abs(e.r))
        size[size == 0] = 1
        self.balance, self.r = balance / size[:, None], e.r / size

    def _program(self, mode: str, cost: np.ndarray):
        nv, nc = self.nv, self.nc
        A_eq, b_eq, A_ub, b_ub = [*self.balance], [*self.r], [], []
        lower, upper = np.full(nv + 2 * nc, -np.inf), np.full(nv + 2 * nc, np.inf)
        lower[nv : nv + nc] = 0
        for i, m in enumerate(mode):
            gap, slip = np.zeros(nv + 2 * nc), np.zeros(nv + 2 * nc)
            gap[:nv], slip[:nv] = self.J_n[i], self.J_t[i]
            n, t = nv + i, nv + nc + i
            if m in (OPEN, ANY):
                A_ub.append(-gap)
                b_ub.append(self.phi[i])
            else:
                A_eq.append(gap)
                b_eq.append(-self.phi[i])
            if m == OPEN:
                upper[n] = lower[t] = upper[t] = 0
            elif m in (STICK, ANY):
                for sign in (1, -1):
                    row = np.zeros(nv + 2 * nc)
                    row[t], row[n] = sign, -self.mu[i]
                    A_ub.append(row)
                    b_ub.append(0)
                if m == STICK:
                    A_eq.append(slip)
                    b_eq.append(0)
            else:
                sign = 1 if m == PLUS else -1
                A_ub.append(-sign * slip)
                b_ub.append(0)
                row = np.zeros(nv + 2 * nc)
                row[t], row[n] = 1, sign * self.mu[i]
                A_eq.append(row)
                b_eq.append(0)
        self.nodes += 1
        if cost[:nv].any():  # what nothing holds may go far
            lower[:nv], upper[:nv] = -1e4, 1e4
        return linprog(
            cost,
            A_ub=np.array(A_ub) if A_ub else None,
            b_ub=b_ub or None,
            A_eq=np.array(A_eq),
            b_eq=b_eq,
            bounds=list(zip(lower, upper, strict=True)),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )

    def _worst(self, mode: str, x: np.ndarray):
        """The undecided contact whose law is broken most, and its modes; None if all hold."""
        worst, at = TOLERANCE, None
        for i, m in enumerate(mode):
            if m != ANY:
                continue
            gap, slip = self.J_n[i] @ x[: self.nv] + self.phi[i], self.J_t[i] @ x[: self.nv]
            n, t = x[self.nv + i], x[self.nv + self.nc + i]
            lag = min(abs(slip), self.mu[i] * n + (t if slip > 0 else -t))
            broken = max(min(gap, n), lag if n > TOLERANCE else 0)
            if broken > worst:
                worst, at = broken, i
        return at

    def _first_open(self, mode: str):
        return mode.find(ANY)

    def solve(self):
        """A motion δ that obeys all laws; None with `complete` if there is none, with `exhausted` if the budget ends."""
        return self._search(None)

    def another(self, delta: np.ndarray):
        """A motion other than δ by more than 1e-5 of the length; None likewise."""
        return self._search(delta / self.length)

    def _search(self, known):
        rng = np.random.default_rng(7)
        directions = rng.normal(size=(2, self.nv))
        stack, self.complete = [ANY * self.nc], False
        while stack:
            if self.nodes > self.budget:
                return None
            mode = stack.pop()
            if known is None:
                costs = [np.concatenate([np.zeros(self.nv), np.ones(self.nc), np.zeros(self.nc)])]
            else:
                costs = [np.concatenate([s * d, np.zeros(2 * self.nc)]) for d in directions for s in (1, -1)]
            branch, alive = None, False
            for cost in costs:
                found = self._program(mode, cost)
                if found.status == 2:
                    alive, branch = False, None
                    break
                x = found.x
                if found.status != 0 or x is None:  # unbounded or undecided: branch
                    alive = True
                    continue
                if known is not None and np.abs(x[: self.nv] - known).max() <= 1e-5 * (1 + np.abs(known).max()):
                    continue
                at = self._worst(mode, x)
                if at is None:
                    return x[: self.nv] * self.length
                alive, branch = True, at
            if not alive:
                continue
            if branch is None:
                branch = self._first_open(mode)
                if branch < 0:
                    raise RuntimeError(f"a leaf that the linear program cannot decide: {mode}")
            slides = [PLUS, MINUS] if self.mu[branch] > 0 else []
            stack += [mode[:branch] + m + mode[branch + 1 :] for m in ([OPEN, STICK, *slides] if slides else [OPEN, PLUS, MINUS])]
        self.complete = True
        return None

    def allows(self, delta: np.ndarray, tolerance: float = 1e-6) -> bool:
        """Whether forces exist with which δ obeys all laws (gaps and slips within `tolerance` lengths decide the modes)."""
        x = delta / self.length
        gap, slip = self.J_n @ x + self.phi, self.J_t @ x
        if (gap < -tolerance).any():
            return False
        nc = self.nc
        lower, upper = np.zeros(2 * nc), np.full(2 * nc, np.inf)
        lower[nc:] = -np.inf
        A_ub, b_ub, A_eq = [], [], []
        for i in range(nc):
            if gap[i] > tolerance:
                upper[i] = lower[nc + i] = upper[nc + i] = 0
                continue
            for sign in (1, -1):
                row = np.zeros(2 * nc)
                row[nc + i], row[i] = sign, -self.mu[i]
                if abs(slip[i]) > tolerance and sign == -np.sign(slip[i]):
                    A_eq.append(row)
                A_ub.append(row)
                b_ub.append(0)
        # The balance holds within the tolerance: |B_f f − (r − B_δ x)| ≤ tolerance.
        rest, forces = self.r - self.balance[:, : self.nv] @ x, self.balance[:, self.nv :]
        size = np.abs(self.balance[:, : self.nv]) @ np.abs(x) + np.abs(self.r) + np.abs(self.balance[:, : self.nv]).max(axis=1)
        A_ub += [*forces, *-forces]
        b_ub += [*(rest + tolerance * size), *(-rest + tolerance * size)]
        found = linprog(
            np.concatenate([np.ones(nc), np.zeros(nc)]),
            A_ub=np.array(A_ub),
            b_ub=b_ub,
            A_eq=np.array(A_eq) if A_eq else None,
            b_eq=np.zeros(len(A_eq)) if A_eq else None,
            bounds=list(zip(lower, upper, strict=True)),
            method="highs",
        )
        return found.status == 0
