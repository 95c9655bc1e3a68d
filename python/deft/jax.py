"""Steps as differentiable functions of JAX (`pip install jax`).

    step = deft.jax.step(model)
    q_next = step(q, u)            # (n_q,), or with any batch axes in front; models of second order: (q_next, v_next) of (q, u, v)
    jax.grad(lambda u: loss(step(q, u)))(u)

Works under jit, vmap and grad; every step starts cold, so that the function is pure. Gradients are by the coordinates q (of the
composition with the quaternion's normalisation), u and v. Where contact is not differentiable they are one-sided or those of the
step smoothed at `mu_gradient`: set `kappa` for smooth ones. Inputs of float32 are computed in float64 and cast back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._differentiable import steps
from ._model import StepModel


def step(model: StepModel, on_failure: str = "raise") -> Callable[..., Any]:
    """q⁺ of (q, u), or (q⁺, v⁺) of (q, u, v) for models of second order. on_failure: raise SolveError, or nan rows."""
    scene, second = model.scene, model.second_order
    sizes = (scene.n_q, scene.n_u, scene.n_v) if second else (scene.n_q, scene.n_u)
    out_sizes = (scene.n_q, scene.n_v) if second else (scene.n_q,)
    names = ("q", "u", "v")

    def flat(arrays: tuple[Any, ...], of: tuple[int, ...]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        lead = np.broadcast_shapes(*(np.shape(array)[:-1] for array in arrays))
        return [np.broadcast_to(np.asarray(a, np.float64), (*lead, n)).reshape(math.prod(lead), n) for a, n in zip(arrays, of)], lead

    def forward(*inputs: Any) -> tuple[np.ndarray, ...]:
        (q, u, *v), lead = flat(inputs, sizes)
        done = steps(model, q, u, v[0] if v else None, False, on_failure)
        outputs = (done.q, done.v) if second else (done.q,)
        return tuple(np.asarray(out).reshape(*lead, n).astype(inputs[0].dtype) for out, n in zip(outputs, out_sizes))

    def backward(inputs: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
        (q, u, *rest), lead = flat((*inputs, *cotangents), (*sizes, *out_sizes))
        v, weights = (rest[0], rest[1:]) if second else (None, rest)
        done = steps(model, q, u, v, True, on_failure)
        bars = []
        for name, size in zip(names, sizes):
            bar = np.einsum("bo,boi->bi", weights[0], done.by["q", name])
            if second:
                bar += np.einsum("bo,boi->bi", weights[1], done.by["v", name])
            bars.append(bar.reshape(*lead, size).astype(inputs[0].dtype))
        return tuple(bars)

    def shapes(inputs: tuple[Any, ...], of: tuple[int, ...]) -> tuple[jax.ShapeDtypeStruct, ...]:
        lead = jnp.broadcast_shapes(*(array.shape[:-1] for array in inputs))
        return tuple(jax.ShapeDtypeStruct((*lead, n), inputs[0].dtype) for n in of)

    def summed(bar: Any, shape: tuple[int, ...]) -> Any:
        """What served several rows has the sum of theirs."""
        extra = bar.ndim - len(shape)
        axes = [*range(extra), *(extra + i for i, n in enumerate(shape) if n == 1 and bar.shape[extra + i] > 1)]
        return bar.sum(axes).reshape(shape) if axes else bar

    @jax.custom_vjp
    def pure(*inputs: Any) -> tuple[Any, ...]:
        return jax.pure_callback(forward, shapes(inputs, out_sizes), *inputs, vmap_method="broadcast_all")

    def pure_forward(*inputs: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return pure(*inputs), inputs

    def pure_backward(inputs: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        count = len(inputs)
        bars = jax.pure_callback(
            lambda *all_: backward(all_[:count], all_[count:]), shapes(inputs, sizes), *inputs, *cotangents, vmap_method="broadcast_all"
        )
        return tuple(summed(bar, array.shape) for bar, array in zip(bars, inputs))

    pure.defvjp(pure_forward, pure_backward)

    def differentiable(*inputs: Any) -> Any:
        if len(inputs) != len(sizes):
            raise TypeError(f"step: expected {', '.join(names[: len(sizes)])}, got {len(inputs)} arguments")
        arrays = [jnp.asarray(array) for array in inputs]
        kind = jnp.result_type(*arrays, jnp.float32)
        for name, array, size in zip(names, arrays, sizes):
            if array.ndim < 1 or array.shape[-1] != size:
                raise ValueError(f"{name}: expected shape ({size},) or (batch, {size}), got {array.shape}")
        outputs = pure(*(array.astype(kind) for array in arrays))
        return outputs if second else outputs[0]

    return differentiable
