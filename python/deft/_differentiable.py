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
from .convert import joints_of


class Steps(NamedTuple):
    """Steps of a batch with what their products need; NaN in rows that failed."""

    q: np.ndarray  # q⁺, (B, n_q)
    v: np.ndarray | None  # v⁺, (B, n_v); None for models of first order
    by: dict[tuple[str, str], np.ndarray]  # ∂(q, v)/∂(q, v, u, theta), (B, n_out, n_in) in coordinates


def _blocks(quat: np.ndarray) -> np.ndarray:
    """G with d quat = ½ G ω, (B, 4, 3)."""
    w, x, y, z = quat.T
    return np.stack([np.stack([-x, -y, -z], -1), np.stack([w, z, -y], -1), np.stack([-z, w, x], -1), np.stack([y, -x, w], -1)], 1)


def _inverse_left_jacobians(phi: np.ndarray) -> np.ndarray:
    """J⁻¹ = I − ½[φ] + (1/θ² − (1 + cos θ)/(2 θ sin θ)) [φ]², θ = ‖φ‖, (B, 3, 3)."""
    theta = np.linalg.norm(phi, axis=1)
    small = theta < 1e-3
    t = np.where(small, 1, theta)
    c = np.where(small, 1 / 12 + theta**2 / 720, 1 / t**2 - (1 + np.cos(t)) / (2 * t * np.sin(t)))
    x, y, z, o = *phi.T, np.zeros(len(phi))
    cross = np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], 1)
    return np.eye(3) - 0.5 * cross + c[:, None, None] * (cross @ cross)


def _tangents(model: StepModel, q: np.ndarray, inverse: bool) -> np.ndarray:
    """E, (B, n_q, n_v), or D, (B, n_v, n_q), at the rows of q."""
    scene = model.scene
    out = np.zeros((len(q), scene.n_v, scene.n_q) if inverse else (len(q), scene.n_q, scene.n_v))
    for joint in joints_of(scene):
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


def _raise_failures(status: np.ndarray, on_failure: str) -> None:
    failed = np.flatnonzero(status > Status.NotUnique)
    if len(failed) and on_failure == "raise":
        word = Status(status[failed[0]])
        raise SolveError(f"the step of row {failed[0]} failed: {word.name}", word)


class Function:
    """The map (q, u[, v][, θ]) → q⁺[, v⁺] over any leading axes, and its products; v and v⁺ of models of second order.

    θ: the values of the parameters `names_theta` of the model, by which it is differentiated too.
    """

    def __init__(self, model: StepModel, on_failure: str, names_theta: Sequence[str] = ()):
        if on_failure not in ("raise", "nan"):
            raise ValueError(f"on_failure: {on_failure!r} is unknown; valid: raise, nan")
        scene = model.scene
        self.model, self.on_failure, self.names_theta = model, on_failure, tuple(names_theta)
        self.columns = [model.params.column(name) for name in self.names_theta if name in model.params]
        if len(set(self.columns)) < len(self.columns):
            raise ValueError("params: the friction of a pair is there twice")
        if len(self.columns) < len(self.names_theta):
            model.with_params(dict.fromkeys(names_theta, 1.0))  # names what there is not
        v, theta = (("v",) if model.second_order else ()), (("theta",) if self.names_theta else ())
        self.names = ("q", "u", *v, *theta)
        sizes = {"q": scene.n_q, "u": scene.n_u, "v": scene.n_v, "theta": len(self.names_theta)}
        self.sizes = tuple(sizes[name] for name in self.names)
        self.out_names = ("q", *v)
        self.out_sizes = tuple(sizes[name] for name in self.out_names)
        self._models: dict[bytes, StepModel] = {}

    def check(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Raises TypeError and ValueError for inputs of other numbers and shapes."""
        if len(shapes) != len(self.sizes):
            raise TypeError(f"step: expected {', '.join(self.names)}, got {len(shapes)} arguments")
        for name, shape, size in zip(self.names, shapes, self.sizes):
            if len(shape) < 1 or shape[-1] != size:
                raise ValueError(f"{name}: expected shape ({size},) or (batch, {size}), got {tuple(shape)}")

    def __call__(self, inputs: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        rows, lead = _flat(inputs, self.sizes)
        done = self._steps(dict(zip(self.names, rows)), False)
        outputs = (done.q, done.v) if self.model.second_order else (done.q,)
        return tuple(np.asarray(out).reshape(*lead, n) for out, n in zip(outputs, self.out_sizes))

    def vjp(self, inputs: Sequence[np.ndarray], cotangents: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Σ_out (∂out/∂in)ᵀ w_out of every input, with all leading axes."""
        rows, lead = _flat((*inputs, *cotangents), (*self.sizes, *self.out_sizes))
        weights = rows[len(self.sizes) :]
        by = self._steps(dict(zip(self.names, rows)), True).by
        bars = (sum(np.einsum("bo,boi->bi", w, by[out, name]) for out, w in zip(self.out_names, weights)) for name in self.names)
        return tuple(np.asarray(bar).reshape(*lead, size) for bar, size in zip(bars, self.sizes))

    def jvp(self, inputs: Sequence[np.ndarray], tangents: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Σ_in ∂out/∂in d_in of every output."""
        rows, lead = _flat((*inputs, *tangents), (*self.sizes, *self.sizes))
        moved = rows[len(self.sizes) :]
        by = self._steps(dict(zip(self.names, rows)), True).by
        changes = (sum(np.einsum("boi,bi->bo", by[out, name], d) for name, d in zip(self.names, moved)) for out in self.out_names)
        return tuple(np.asarray(change).reshape(*lead, n) for change, n in zip(changes, self.out_sizes))

    def _steps(self, at: dict[str, np.ndarray], derivatives: bool) -> Steps:
        """Steps from the rows of `at`, those of one θ together."""
        if not self.names_theta:
            return self._steps_of(self.model, at, derivatives)
        values, group = np.unique(at["theta"], axis=0, return_inverse=True)
        parts = []
        for k, value in enumerate(values):
            rows = np.flatnonzero(group.reshape(-1) == k)
            parts.append((rows, self._steps_of(self._model_of(value), {name: array[rows] for name, array in at.items()}, derivatives)))
        if len(parts) == 1:
            return parts[0][1]
        order = np.argsort(np.concatenate([rows for rows, _ in parts]))

        def together(arrays: list[np.ndarray]) -> np.ndarray:
            return np.concatenate(arrays)[order]

        first = parts[0][1]
        v = None if first.v is None else together([done.v for _, done in parts if done.v is not None])
        return Steps(together([done.q for _, done in parts]), v, {key: together([done.by[key] for _, done in parts]) for key in first.by})

    def _model_of(self, theta: np.ndarray) -> StepModel:
        key = theta.tobytes()
        if key not in self._models:
            if len(self._models) > 8:
                self._models.clear()
            self._models[key] = self.model.with_params(dict(zip(self.names_theta, theta.tolist())))
        return self._models[key]

    def _of_velocity(self, model: StepModel, tangent: np.ndarray, delta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """∂v⁺/∂θ of v⁺ = δ/h from ∂q⁺/∂θ, which is a tangent at q⁺: of rotations δ changes by J⁻¹ of it, Exp(δ + dδ) = Exp(J dδ) Exp(δ)."""
        by = tangent.copy()
        for joint in joints_of(model.scene):
            if joint.kind != "axis":
                turn = slice(joint.v, joint.v + 3)
                by[:, turn] = _inverse_left_jacobians(delta[:, turn]) @ tangent[:, turn]
        by /= model.h
        if "h" in self.names_theta:
            by[:, :, self.names_theta.index("h")] -= v / model.h
        return by

    def _steps_of(self, model: StepModel, at: dict[str, np.ndarray], derivatives: bool) -> Steps:
        bad = np.zeros(len(at["q"]), bool)
        for array in at.values():
            bad |= ~np.isfinite(array).all(axis=1)
        if self.on_failure == "nan" and bad.any():  # nothing comes of what is not a number
            return _with_nan(self._steps_of(model, {name: array[~bad] for name, array in at.items()}, derivatives), bad)
        q, u, v = at["q"], at["u"], at.get("v")
        out = Batch(model).step(q, u, v, derivatives=derivatives)
        if out.errors:
            raise SolveError(f"row {out.errors[0][0]}: {out.errors[0][1]}")
        _raise_failures(out.status, self.on_failure)
        done = Steps(np.array(out.q), None if out.v is None else np.array(out.v), {})
        if not derivatives:
            return done
        by, E, D = done.by, _tangents(model, done.q, False), _tangents(model, q, True)
        by["q", "q"], by["q", "u"] = E @ out.dq_dq @ D, E @ out.dq_du
        if done.v is not None:
            by["q", "v"], by["v", "q"], by["v", "u"], by["v", "v"] = E @ out.dq_dv, out.dv_dq @ D, np.array(out.dv_du), np.array(out.dv_dv)
        if self.names_theta:
            tangent = np.full((len(q), model.scene.n_v, len(self.columns)), np.nan)
            for row in np.flatnonzero(out.status <= Status.NotUnique):
                d = model.derivatives(q[row], u[row], None if v is None else v[row], wrt=("params",))
                tangent[row] = np.asarray(d.dq_dtheta)[:, self.columns]
            by["q", "theta"] = E @ tangent
            if done.v is not None:
                by["v", "theta"] = self._of_velocity(model, tangent, np.array(out.dq), done.v)
        return done


def _with_nan(done: Steps, bad: np.ndarray) -> Steps:
    """With rows of NaN where `bad`."""

    def spread(array: np.ndarray) -> np.ndarray:
        out = np.full((len(bad), *array.shape[1:]), np.nan)
        out[~bad] = array
        return out

    return Steps(spread(done.q), None if done.v is None else spread(done.v), {key: spread(array) for key, array in done.by.items()})


def _flat(arrays: Sequence[np.ndarray], sizes: Sequence[int]) -> tuple[list[np.ndarray], tuple[int, ...]]:
    """Rows of float64 with all leading axes flattened, and these."""
    lead = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
    return [np.broadcast_to(np.asarray(a, np.float64), (*lead, n)).reshape(math.prod(lead), n) for a, n in zip(arrays, sizes)], lead
