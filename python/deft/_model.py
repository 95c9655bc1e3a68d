"""Step models: q⁺ of (q, u), its derivatives, and batches of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _core
from ._scene import Scene


class Params(dict[str, float]):
    """Parameters by name; friction also by the other order of its pair, "mu:box|tip" or "mu:tip|box"."""

    def __missing__(self, name: str) -> float:
        if isinstance(name, str) and name != (other := _swapped(name)) and dict.__contains__(self, other):
            return self[other]
        raise KeyError(name)

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and super().__contains__(_swapped(name)))

    def get(self, name: str, default: Any = None) -> Any:
        """As a dict's."""
        return self[name] if name in self else default

    def column(self, name: str) -> int:
        """Of a parameter in dq_dtheta. KeyError for unknown names."""
        names = list(self)
        known = name if name in names else _swapped(name)
        if known not in names:
            raise KeyError(name)
        return names.index(known)


def _swapped(name: str) -> str:
    kind, _, pair = name.partition(":")
    a, bar, b = pair.partition("|")
    return f"{kind}:{b}|{a}" if bar else name


class StepModel(_core.StepModel):
    """A step model of a scene, one per thread.

    Keywords are the keys of `step:`: StepModel(scene, model="convex", h=0.1, kappa=100). Steps may start warm from earlier
    ones; after `reset` the same call gives the same bits.
    """

    def __init__(self, scene: Scene, **step: Any):
        if not isinstance(scene, Scene):
            raise TypeError(f"scene: expected a deft.Scene, got {type(scene).__name__}")
        changed = scene.with_({f"step.{key}": value for key, value in step.items()}) if step else scene
        super().__init__(changed._core)
        self.scene = changed

    @property
    def params(self) -> Params:
        """θ: name → value, in the order of the columns of dq_dtheta."""
        return Params(super().params)

    def with_params(self, values: Mapping[str, float]) -> StepModel:
        """A model with other values of some entries of `params`: {"mu:tip|box": 0.3, "mass:box": 0.2}. Its scene is built again."""
        return StepModel(Scene(_core.with_parameters(self.scene._core, {name: float(value) for name, value in values.items()})))

    def derivatives(
        self, q: Any, u: Any, v: Any = None, wrt: Iterable[str] = ("q", "u"), of: Iterable[str] = ("motion",)
    ) -> _core.Derivatives:
        """Jacobians of the step from (q, v) under u, started cold. wrt: any of q, u, v, params; of: motion, forces.

        Raises SolveError if the step fails and InputError where a model has no derivative.
        """
        wrt, of = ((words,) if isinstance(words, str) else tuple(words) for words in (wrt, of))
        known_wrt, known_of = ("q", "u", "v", "params"), ("motion", "forces")
        for name, given, known in (("wrt", wrt, known_wrt), ("of", of, known_of)):
            for word in given:
                if word not in known:
                    raise ValueError(f"{name}: {word!r} is unknown; valid: {', '.join(known)}")
        return self._derivatives(q, u, v, "q" in wrt or "v" in wrt, "forces" not in of, "params" in wrt)


class Batch(_core.Batch):
    """Steps of one model's scene for many rows at once; threads: 0 is one per core. Results do not depend on their number."""

    def __init__(self, model: StepModel, threads: int = 0):
        super().__init__(model.scene._core, threads)
        self.model = model


def bundle(
    model: StepModel,
    q: Any,
    u: Any,
    samples: int = 100,
    std: Any = 0.05,
    order: int = 1,
    seed: int = 0,
    std_q: Any = None,
    antithetic: bool = False,
    threads: int = 0,
) -> _core.Bundle:
    """The gradient of a step averaged over noise on u (and q), which smooths contact by sampling: E[∂q⁺/∂u (q, u + w)].

    std, std_q: standard deviations of the noise, one for all or per command [rad, m] and velocity. order: 1, the mean of the
    samples' Jacobians; 0, a fit to their motions, which sees jumps too. Raises SolveError if the step itself fails.
    """
    return _core.bundle(model, q, u, samples, std, std_q, order, seed, antithetic, threads)


def simulate(
    scene: Scene,
    q0: Any = None,
    commands: Any = None,
    steps: int | None = None,
    on_step: Callable[[int, Any], Any] | None = None,
    v0: Any = None,
) -> Any:
    """Steps a scene from q0 (its start): a Run.

    commands: (T, n_u), row k in force during step k, or a callable (t, q) → u; without it the scene's own. steps: how many;
    without it as many as there are rows, or as the scene's commands last. on_step(k, result) is called after each; False ends the run, exceptions propagate.
    """
    from ._run import Run

    if steps is not None and steps < 0:
        raise ValueError(f"steps: {steps}; valid: 0 or more")
    if steps is None and commands is None and scene._core.last_knot_time > 0:
        steps = math.ceil(scene._core.last_knot_time / scene.settings["step"]["h"] - 1e-9)
    if steps is None and (commands is None or callable(commands)):
        raise ValueError("steps: expected a number, since commands has no rows")
    return Run(_core.simulate(scene._core, q0, v0, commands, -1 if steps is None else steps, on_step))
