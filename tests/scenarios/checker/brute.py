"""Linear complementarity by trying every one of the 2ⁿ modes: 0 ≤ z ⟂ w = Mz + q ≥ 0, w_i = 0 for free i."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog


def solution_spread(M: np.ndarray, q: np.ndarray, free=(), seed: int = 0):
    """(number of modes that have solutions, solutions: of each mode its only one in rational arithmetic, or if the mode's matrix is singular the
    extreme ones along two random directions, cut off at 1e6)."""
    n = len(q)
    bound = [i for i in range(n) if i not in set(free)]
    levelled_M, levelled_q, factors = levelled(M, q)
    directions = np.random.default_rng(seed).normal(size=(2, n))
    count, found = 0, []
    for mode in product((0, 1), repeat=len(bound)):
        held = sorted(set(free) | {i for i, m in zip(bound, mode, strict=True) if m})  # rows with w = 0
        z = exactly(M, q, held)
        if z is not None:
            w = [sum(Fraction(M[i, j]) * z[j] for j in held) + Fraction(q[i]) for i in range(n)]
            points = [np.array([float(x) for x in z])] if all(z[i] >= 0 and w[i] >= 0 for i in bound) else []
        else:
            points = [x * factors for x in extremes(levelled_M, levelled_q, set(free), held, directions)]
        count += bool(points)
        found += points
    return count, np.array(found).reshape(-1, n)


def exactly(M: np.ndarray, q: np.ndarray, held: list[int]):
    """z with (Mz + q)_held = 0 and zeros elsewhere, as fractions; None if that matrix is singular."""
    A = [[Fraction(M[i, j]) for j in held] + [-Fraction(q[i])] for i in held]
    for c in range(len(held)):
        pivot = next((r for r in range(c, len(held)) if A[r][c] != 0), None)
        if pivot is None:
            return None
        A[c], A[pivot] = A[pivot], A[c]
        A[c] = [x / A[c][c] for x in A[c]]
        for r in range(len(held)):
            if r != c and A[r][c] != 0:
                A[r] = [x - A[r][c] * y for x, y in zip(A[r], A[c], strict=True)]
    z = [Fraction(0)] * len(q)
    for row, i in enumerate(held):
        z[i] = A[row][-1]
    return z


def extremes(M, q, free: set, held: list[int], directions) -> list:
    """Solutions of one mode that go farthest along the directions, by linear programs."""
    n = len(q)
    above = [i for i in range(n) if i not in held]
    limits = [(-1e6, 1e6) if i in free else (0, 1e6) if i in held else (0, 0) for i in range(n)]
    out = []
    for direction in directions:
        for sign in (1, -1):
            result = linprog(
                sign * direction,
                A_ub=-M[above] if above else None,
                b_ub=q[above] if above else None,
                A_eq=M[held] if held else None,
                b_eq=-q[held] if held else None,
                bounds=limits,
                method="highs",
            )
            if result.status == 2:
                return []
            if result.status == 0:
                out.append(result.x)
    return out


def levelled(M: np.ndarray, q: np.ndarray):
    """Rows and columns scaled until their largest entries are near 1: M', q', and the factors s of z = s z'."""
    rows, columns = np.ones(len(q)), np.ones(len(q))
    for _ in range(20):
        A = np.abs(M * rows[:, None] * columns)
        rows /= np.sqrt(np.where(A.max(axis=1) > 0, A.max(axis=1), 1))
        columns /= np.sqrt(np.where(A.max(axis=0) > 0, A.max(axis=0), 1))
    size = np.abs(q * rows).max() or 1.0
    return M * rows[:, None] * columns, q * rows / size, columns * size


def errors(M: np.ndarray, q: np.ndarray, free, z: np.ndarray) -> float:
    """The largest error of the conditions at z over the size of their terms."""
    w = M @ z + q
    size = np.maximum(np.abs(M) @ np.abs(z) + np.abs(q), 1e-300)
    scale = max(np.abs(z).max(initial=0), 1e-300)
    worst = 0.0
    for i in range(len(q)):
        if i in set(free):
            worst = max(worst, abs(w[i]) / size[i])
        else:
            worst = max(worst, -z[i] / scale, -w[i] / size[i], min(z[i] / scale, w[i] / size[i]))
    return worst


def drawn(rng, n: int):
    """A problem of one of several kinds: dense, monotone, skew, small integers with many ties, frictional, with twin rows, badly scaled."""
    kind = rng.integers(8)
    M, q = rng.normal(size=(n, n)), rng.normal(size=n)
    if kind == 1:
        M = M @ M.T
    elif kind == 2:
        M = M - M.T
    elif kind == 3:
        M, q = rng.integers(-1, 2, size=(n, n)).astype(float), rng.integers(-2, 3, size=n).astype(float)
    elif kind == 4:
        M = M @ M.T
        M[-1] = np.abs(M[-1])
        M[:, -1] = 0
        q[-1] = 0
    elif kind == 5 and n > 1:
        M[1], q[1] = M[0], q[0]
        M[:, 1] = M[:, 0]
    elif kind == 6:
        low = rng.integers(-3, 4, size=(n, max(1, n // 2))).astype(float)  # exactly of low rank
        M, q = low @ low.T, rng.integers(-3, 4, size=n).astype(float)
        if rng.random() < 0.5:
            q = -M @ rng.integers(0, 3, size=n)
    elif kind == 7:
        M = M @ M.T * np.outer(10.0 ** rng.integers(-4, 5, n), 10.0 ** rng.integers(-4, 5, n))
        q = q * 10.0 ** rng.integers(-4, 5)
    return M, q
