"""What the tensors of PyTorch and JAX share: batches of steps as pure functions of coordinates, and their products.

Steps start cold. Inputs and outputs are coordinates (a free body: quat_wxyz, p_WB); inside, derivatives are along the tangents

    E = ∂q/∂δ at δ = 0, q ⊕ δ,        D = ∂δ/∂q of the normalised q:   E_quat = ½ G, D_quat = 2 Gᵀ/|q|,  q̇_quat = ½ G ω,

so that those of q are of the composition with the quaternion's normalisation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._errors import SolveError, Status
from ._model import Batch, StepModel
from .convert import _joints_of


class Steps(NamedTuple):
    """Steps of a batch with what their products need; NaN in rows that failed."""

    q: np.ndarray  # q⁺, (B, n_q)
    v: np.ndarray | None  # v⁺, (B, n_v); None for models of first order
    by: dict[tuple[str, str], np.ndarray]  # ∂(q, v)/∂(q, v, u, params), (B, n_out, n_in) in coordinates


def _blocks(quat: np.ndarray) -> np.ndarray:
    """G with d quat = ½ G ω, (B, 4, 3)."""
    w, x, y, z = quat.T
    return np.stack([np.stack([-x, -y, -z], -1), np.stack([w, z, -y], -1), np.stack([-z, w, x], -1), np.stack([y, -x, w], -1)], 1)


def _tangents(model: StepModel, q: np.ndarray, inverse: bool) -> np.ndarray:
    """E, (B, n_q, n_v), or D, (B, n_v, n_q), at the rows of q."""
    scene = model.scene
    out = np.zeros((len(q), scene.n_v, scene.n_q) if inverse else (len(q), scene.n_q, scene.n_v))
    for joint in _joints_of(scene):
        turn = 0 if joint.kind == "axis" else 3
        if turn:
            quat = q[:, joint.q : joint.q + 4]
            norm = np.linalg.norm(quat, axis=1)[:, None, None]
            G = _blocks(quat) / norm
            if inverse:
                out[:, joint.v : joint.v + 3, joint.q : joint.q + 4] = 2 * np.swapaxes(G, 1, 2) / norm
            else:
                out[:, joint.q : joint.q + 4, joint.v : joint.v + 3] = 0.5 * G
        rest = {"axis": 1, "ball": 0, "free": 3}[joint.kind]
        for k in range(rest):
            a, b = joint.q + (4 if turn else 0) + k, joint.v + turn + k
            out[(slice(None), b, a) if inverse else (slice(None), a, b)] = 1
    return out


def steps(model: StepModel, q: np.ndarray, u: np.ndarray, v: np.ndarray | None, derivatives: bool, on_failure: str = "raise") -> Steps:
    """Steps from the rows of (q, v) under those of u, (B, …) each."""
    if on_failure not in ("raise", "nan"):
        raise ValueError(f"on_failure: {on_failure!r} is unknown; valid: raise, nan")
    batch = Batch(model)
    out = batch.step(q, u, v, derivatives=derivatives)
    failed = np.flatnonzero(out.status > Status.NotUnique)
    if out.errors:
        raise SolveError(f"row {out.errors[0][0]}: {out.errors[0][1]}")
    if len(failed) and on_failure == "raise":
        status = Status(out.status[failed[0]])
        raise SolveError(f"the step of row {failed[0]} failed: {status.name}", status)
    q_next, v_next = np.array(out.q), None if out.v is None else np.array(out.v)
    by: dict[tuple[str, str], np.ndarray] = {}
    if derivatives:
        E, D = _tangents(model, q_next, False), _tangents(model, q, True)
        by["q", "q"], by["q", "u"] = E @ out.dq_dq @ D, E @ out.dq_du
        if v_next is not None:
            by["q", "v"], by["v", "q"], by["v", "u"], by["v", "v"] = E @ out.dq_dv, out.dv_dq @ D, np.array(out.dv_du), np.array(out.dv_dv)
    return Steps(q_next, v_next, by)


def rows(value: Any, size: int, count: int | None = None) -> np.ndarray:
    """float64 rows, (B, size), of (size,) or (B, size)."""
    array = np.asarray(value, np.float64)
    array = array[None] if array.ndim == 1 else array
    return array if count is None or len(array) == count else np.broadcast_to(array, (count, size))
