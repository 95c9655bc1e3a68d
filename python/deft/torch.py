"""Steps as differentiable functions of PyTorch (`pip install torch`).

    q_next = deft.torch.step(model, q, u)            # (n_q,), or with any batch axes in front
    q_next, v_next = deft.torch.step(model, q, u, v) # models of second order
    loss(q_next).backward()

Reverse and forward mode, and torch.func.vmap, work; every step starts cold, so that the function is pure. Gradients are by the
coordinates q (of the composition with the quaternion's normalisation), u, v and params. Where contact is not differentiable they are
one-sided or those of the step smoothed at `mu_gradient`: set `kappa` for smooth ones. Tensors of float32 are computed in float64
and cast back, those of other devices on the processor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ._differentiable import Function
from ._model import StepModel


def step(model: StepModel, q: Any, u: Any, v: Any = None, params: Mapping[str, Any] | None = None, on_failure: str = "raise") -> Any:
    """q⁺ of (q, u), or (q⁺, v⁺) of (q, u, v) for models of second order.

    params: values of parameters by their names in `model.params`, for this call instead of the model's: {"mu:tip|box": mu}; numbers,
    or tensors with the batch's axes. on_failure: raise SolveError, or nan rows.
    """
    inputs = [torch.as_tensor(each) for each in (q, u, v) if each is not None]
    function = Function(model, on_failure, tuple(params or ()))
    if params:
        values = torch.broadcast_tensors(*(torch.as_tensor(value, dtype=inputs[0].dtype) for value in params.values()))
        inputs.append(torch.stack(list(values), -1))
    function.check([tuple(tensor.shape) for tensor in inputs])
    kind = inputs[0].dtype if inputs[0].is_floating_point() else torch.get_default_dtype()
    for tensor in inputs[1:]:
        kind = torch.promote_types(kind, tensor.dtype)
    outputs = _Step.apply(function, *(tensor.to(kind) for tensor in inputs))
    return outputs if len(outputs) > 1 else outputs[0]


def _numbers(tensors: tuple[Any, ...]) -> list[Any]:
    return [None if tensor is None else tensor.detach().cpu().double().numpy() for tensor in tensors]


def _like(arrays: tuple[np.ndarray, ...], tensor: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(np.ascontiguousarray(array)).to(tensor) for array in arrays)


def _in_front(info: Any, in_dims: tuple[Any, ...], tensors: tuple[Any, ...]) -> list[Any]:
    """The axis of a vmap as the first, also of tensors that do not have it."""
    moved = []
    for tensor, at in zip(tensors, in_dims):
        if at is None:
            moved.append(tensor.expand(info.batch_size, *tensor.shape))
        else:
            moved.append(tensor.movedim(at, 0))
    # Axes of tensors with fewer of them come after that one.
    most = max(tensor.ndim for tensor in moved)
    return [tensor.reshape(tensor.shape[0], *[1] * (most - tensor.ndim), *tensor.shape[1:]) for tensor in moved]


class _Step(torch.autograd.Function):
    @staticmethod
    def forward(function: Function, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return _like(function(_numbers(inputs)), inputs[0])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.function = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        inputs = ctx.saved_tensors
        bars = _Vjp.apply(ctx.function, *inputs, *cotangents)
        return None, *(bar.sum_to_size(tensor.shape) for bar, tensor in zip(bars, inputs))

    @staticmethod
    def jvp(ctx: Any, _: None, *tangents: Any) -> tuple[torch.Tensor, ...]:
        inputs = ctx.saved_tensors
        moved = (torch.zeros_like(at) if tangent is None else tangent for at, tangent in zip(inputs, tangents))
        return _Jvp.apply(ctx.function, *inputs, *moved)

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], function: Function, *inputs: torch.Tensor) -> Any:
        outputs = _Step.apply(function, *_in_front(info, in_dims[1:], inputs))
        return outputs, (0,) * len(outputs)


class _Products(torch.autograd.Function):
    """Products of the derivatives of _Step, which have no derivatives themselves."""

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        raise NotImplementedError("deft.torch.step has first derivatives only")


class _Vjp(_Products):
    @staticmethod
    def forward(function: Function, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        count = len(function.sizes)
        numbers = _numbers(tensors)
        return _like(function.vjp(numbers[:count], numbers[count:]), tensors[0])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], function: Function, *tensors: torch.Tensor) -> Any:
        outputs = _Vjp.apply(function, *_in_front(info, in_dims[1:], tensors))
        return outputs, (0,) * len(outputs)


class _Jvp(_Products):
    @staticmethod
    def forward(function: Function, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        count = len(function.sizes)
        numbers = _numbers(tensors)
        return _like(function.jvp(numbers[:count], numbers[count:]), tensors[0])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], function: Function, *tensors: torch.Tensor) -> Any:
        outputs = _Jvp.apply(function, *_in_front(info, in_dims[1:], tensors))
        return outputs, (0,) * len(outputs)
