"""What the tensors of PyTorch and JAX share: batches of steps as pure functions of coordinates, and their products.

Steps start cold. Inputs and outputs are coordinates (a free body: quat_wxyz, p_WB); inside, derivatives are along the tangents

    E = ∂q/∂δ at δ = 0, q ⊕ δ,        D = ∂δ/∂q of the normalised q:   E_quat = ½ G, D_quat = 2 Gᵀ/|q|,  q̇_quat = ½ G ω,

so that those of q are of the composition with the quaternion's normalisation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

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


class Function:
    """The map (q, u) → (q⁺,), or (q, u, v) → (q⁺, v⁺) for models of second order, over any leading axes, and its products."""

    def __init__(self, model: StepModel, on_failure: str):
        scene = model.scene
        second = model.second_order
        self.model, self.on_failure = model, on_failure
        self.names = ("q", "u", "v") if second else ("q", "u")
        self.sizes = (scene.n_q, scene.n_u, scene.n_v) if second else (scene.n_q, scene.n_u)
        self.out_sizes = (scene.n_q, scene.n_v) if second else (scene.n_q,)

    def check(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Raises TypeError and ValueError for inputs of other numbers and shapes."""
        if len(shapes) != len(self.sizes):
            raise TypeError(f"step: expected {', '.join(self.names)}, got {len(shapes)} arguments")
        for name, shape, size in zip(self.names, shapes, self.sizes):
            if len(shape) < 1 or shape[-1] != size:
                raise ValueError(f"{name}: expected shape ({size},) or (batch, {size}), got {tuple(shape)}")

    def __call__(self, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        (q, u, *v), lead = _flat(inputs, self.sizes)
        done = steps(self.model, q, u, v[0] if v else None, False, self.on_failure)
        outputs = (done.q, done.v) if v else (done.q,)
        return tuple(np.asarray(out).reshape(*lead, n) for out, n in zip(outputs, self.out_sizes))

    def vjp(self, inputs: Sequence[np.ndarray], cotangents: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Σ_out (∂out/∂in)ᵀ w_out of every input, with all leading axes."""
        rows, lead = _flat((*inputs, *cotangents), (*self.sizes, *self.out_sizes))
        (q, u, *v), weights = rows[: len(self.sizes)], rows[len(self.sizes) :]
        done = steps(self.model, q, u, v[0] if v else None, True, self.on_failure)
        bars = (sum(np.einsum("bo,boi->bi", w, done.by[out, name]) for out, w in zip(("q", "v"), weights)) for name in self.names)
        return tuple(np.asarray(bar).reshape(*lead, size) for bar, size in zip(bars, self.sizes))

    def jvp(self, inputs: Sequence[np.ndarray], tangents: Sequence[np.ndarray | None]) -> tuple[np.ndarray, ...]:
        """Σ_in ∂out/∂in d_in of every output; None counts as 0."""
        given = [(name, size, tangent) for name, size, tangent in zip(self.names, self.sizes, tangents) if tangent is not None]
        rows, lead = _flat((*inputs, *(tangent for _, _, tangent in given)), (*self.sizes, *(size for _, size, _ in given)))
        (q, u, *v), moved = rows[: len(self.sizes)], rows[len(self.sizes) :]
        done = steps(self.model, q, u, v[0] if v else None, True, self.on_failure)
        return tuple(
            np.asarray(
                sum((np.einsum("boi,bi->bo", done.by[out, name], d) for (name, _, _), d in zip(given, moved)), np.zeros((len(q), n)))
            ).reshape(*lead, n)
            for out, n in zip(("q", "v"), self.out_sizes)
        )


def _flat(arrays: Sequence[np.ndarray], sizes: Sequence[int]) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Rows of float64 with all leading axes flattened, and these."""
    lead = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
    return [np.broadcast_to(np.asarray(a, np.float64), (*lead, n)).reshape(math.prod(lead), n) for a, n in zip(arrays, sizes)], lead
