"""Steps as differentiable functions of JAX (`pip install jax`).

    step = deft.jax.step(model)
    q_next = step(q, u)            # (n_q,), or with any batch axes in front; models of second order: (q_next, v_next) of (q, u, v)
    jax.grad(lambda u: loss(step(q, u)))(u)

Works under jit, vmap and grad; every step starts cold, so that the function is pure. Gradients are by the coordinates q (of the
composition with the quaternion's normalisation), u, v and params. Where contact is not differentiable they are one-sided or those of the
step smoothed at `mu_gradient`: set `kappa` for smooth ones. Inputs of float32 are computed in float64 and cast back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._differentiable import Function
from ._model import StepModel


def step(model: StepModel, params: Sequence[str] = (), on_failure: str = "raise") -> Callable[..., Any]:
    """q⁺ of (q, u), or (q⁺, v⁺) of (q, u, v) for models of second order.

    params: names of parameters, of `model.params`, whose values are a further argument, (len(params),) or with the batch's axes.
    on_failure: raise SolveError, or nan rows.
    """
    function = Function(model, on_failure, params)
    sizes, out_sizes = function.sizes, function.out_sizes

    def cast(outputs: tuple[np.ndarray, ...], inputs: tuple[Any, ...]) -> tuple[np.ndarray, ...]:
        return tuple(out.astype(inputs[0].dtype) for out in outputs)

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
        return jax.pure_callback(lambda *all_: cast(function(all_), all_), shapes(inputs, out_sizes), *inputs, vmap_method="broadcast_all")

    def pure_forward(*inputs: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return pure(*inputs), inputs

    def pure_backward(inputs: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
        count = len(inputs)
        bars = jax.pure_callback(
            lambda *all_: cast(function.vjp(all_[:count], all_[count:]), all_),
            shapes(inputs, sizes),
            *inputs,
            *cotangents,
            vmap_method="broadcast_all",
        )
        return tuple(summed(bar, array.shape) for bar, array in zip(bars, inputs))

    pure.defvjp(pure_forward, pure_backward)

    def differentiable(*inputs: Any) -> Any:
        arrays = [jnp.asarray(array) for array in inputs]
        for name, array in zip(function.names, arrays):
            if not (jnp.issubdtype(array.dtype, jnp.floating) or jnp.issubdtype(array.dtype, jnp.integer)):
                raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
        kind = jnp.result_type(*arrays, jnp.float32)
        function.check([array.shape for array in arrays])
        outputs = pure(*(array.astype(kind) for array in arrays))
        return outputs if len(outputs) > 1 else outputs[0]

    return differentiable
