"""Friction coefficients per geometry that give stated coefficients per pair, for simulators that know only the former."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

LEAST_INVERSE = 1e-6  # 1/μ


def combine(mu_a: float, mu_b: float) -> float:
    """The pair rule of deft and Drake, 2μ_aμ_b/(μ_a + μ_b); 0 if both are."""
    return 2 * mu_a * mu_b / (mu_a + mu_b) if mu_a + mu_b > 0 else 0.0


def fit_coefficients(mu: np.ndarray, pairs: list[tuple[int, int]], wanted: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Coefficients per geometry, near `mu`, whose pair rule gives `wanted` for the pairs that can meet.

    With x = 1/μ the rule is linear, x_a + x_b = 2/μ_ab: least squares, x ≥ 0. A geometry all of whose pairs are without friction gets 0.
    @returns the coefficients, and the pairs (indices into `pairs`) that they do not give to 1e-9.
    """
    slippery = {k for k in {k for pair in pairs for k in pair} if all(w == 0 for pair, w in zip(pairs, wanted) if k in pair)}
    rows = [(pair, w) for pair, w in zip(pairs, wanted) if w > 0]
    x0 = np.where(mu > 0, 1 / np.maximum(mu, 1e-12), 2.0)
    x = x0.copy()
    if rows:
        A = np.zeros((len(rows), len(mu)))
        for i, ((a, b), _) in enumerate(rows):
            A[i, a] += 1
            A[i, b] += 1
        rest = np.array([2 / w for _, w in rows]) - A @ x0
        x = x0 + np.linalg.lstsq(A, rest, rcond=None)[0]
        if np.any(x < LEAST_INVERSE):
            x = x0 + lsq_linear(A, rest, bounds=(np.minimum(LEAST_INVERSE - x0, -1e-12), np.inf), tol=1e-14).x
    fitted = np.where(np.abs(x - x0) < 1e-14, mu, 1 / np.maximum(x, LEAST_INVERSE))  # untouched coefficients come out as they are
    fitted[sorted(slippery)] = 0.0
    missed = [i for i, ((a, b), w) in enumerate(zip(pairs, wanted)) if abs(combine(fitted[a], fitted[b]) - w) > 1e-9 * max(1.0, w)]
    return fitted, missed
