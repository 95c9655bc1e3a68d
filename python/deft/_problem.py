"""Contact problems of all kinds, as plain numbers."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from . import _core
from ._errors import InputError


def _plain(value: Any) -> Any:
    """Matrices (arrays with two axes) as problem files have them, other arrays as lists."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if getattr(value, "ndim", 0) == 2:
        return _numbers("matrix", value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _written(problem: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a problem as its file has them; one that was made in code need not name the format."""
    return {"format": "deft-problem", "version": 1, **_plain(problem)}


class Problem(dict):
    """The fields of a problem file: kind, name, and what its kind states. Arrays count as lists and matrices."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Reads a problem file; `.gz` is unpacked. Fields are checked when it is solved."""
        opener = gzip.open if os.fspath(path).endswith(".gz") else open
        try:
            with opener(path, "rt", encoding="utf-8") as file:
                fields = json.load(file)
        except (OSError, EOFError, ValueError) as error:
            raise InputError(f"{os.fspath(path)}: {error}") from error
        if not isinstance(fields, dict):
            raise InputError(f"{os.fspath(path)}: expected an object with 'kind' and the fields of its kind")
        return cls(fields)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a problem file; `.gz` packs it."""
        opener = gzip.open if os.fspath(path).endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as file:
            json.dump(_written(self), file)


def solve(
    problem: Mapping[str, Any],
    tolerance: float | None = None,
    time_limit: float | None = None,
    solver: str = "auto",
    uniqueness: str = "off",
    forces: str = "any",
    threads: int = 1,
) -> dict[str, Any]:
    """Solves a problem of any kind and certifies the solution: what `deft solve FILE --json` reports.

    `status` is one of the words of deft.Status, whatever it is; InputError is raised for a problem that is none, and names the
    field. tolerance: scaled residual, of lcs_mpc relative gap. time_limit [s].
    """
    text = json.dumps(_written(problem))
    is_main = threading.current_thread() is threading.main_thread()  # where Ctrl-C is answered
    name = str(problem.get("name", "problem"))
    return json.loads(_core.solve(text, name, tolerance, time_limit, solver, uniqueness, forces, threads, is_main))


class _Answer(SimpleNamespace):
    """Fields of the solution, with `status`, `time_s` and `residuals`; None where there is no solution."""

    @classmethod
    def of(cls, result: dict[str, Any], fields: Iterable[str]) -> _Answer:
        solution = result.get("solution") or {}
        arrays = {
            name: np.asarray(value, float) if isinstance(value, list) and name != "pairs" else value
            for name in fields
            for value in (solution.get(name, result.get(name)),)
        }
        return cls(status=result["status"], message=result.get("message"), time_s=result["time_s"], residuals=result["residuals"], **arrays)


def _numbers(name: str, value: Any) -> Any:
    """A vector as a list, a matrix as problem files have it."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: expected real numbers, got dtype {array.dtype}")
    array = array.astype(float)
    if array.ndim == 1:
        return array.tolist()
    if array.ndim != 2:
        raise ValueError(f"{name}: expected a vector or a matrix, got shape {array.shape}")
    return {"rows": array.shape[0], "cols": array.shape[1], "data": array.reshape(-1).tolist()}


class ContactControl:
    """Control of a linear complementarity system to proven optimality,

        x⁺ = A x + B u + C γ + F,    0 ≤ γ ⟂ D₀ x + D x⁺ + E γ + alpha + H u ≥ 0,

    n states, m inputs, n_γ multipliers; F, D0 and H may be left out.
    """

    def __init__(self, A: Any, B: Any, C: Any, D: Any, E: Any, alpha: Any, F: Any = None, D0: Any = None, H: Any = None):
        given = {"A": A, "B": B, "C": C, "D": D, "E": E, "alpha": alpha, "F": F, "D0": D0, "H": H}
        self._system = {name: _numbers(name, value) for name, value in given.items() if value is not None}

    def solve(
        self,
        x0: Any,
        N: int,
        Q: Any,
        R: Any,
        Qf: Any = None,
        x_goal: Any = None,
        gap: float | None = None,
        time_limit: float | None = None,
        threads: int = 1,
        **bounds: Any,
    ) -> _Answer:
        """Least Σ_{k<N} (x_k − x_goal)ᵀQ(x_k − x_goal) + u_kᵀR u_k + (x_N − x_goal)ᵀQf(x_N − x_goal) from x0 over N steps.

        bounds: x_min, x_max, u_min, u_max, gamma_max. gap: relative, of cost and bound. x (N + 1, n), u (N, m), gamma (N, n_γ), cost,
        bound, gap and nodes of the answer are those of the best trajectory; no trajectory costs less than bound.
        """
        known = ("x_min", "x_max", "u_min", "u_max", "gamma_max")
        for name in bounds:
            if name not in known:
                raise TypeError(f"solve: {name!r} is unknown; valid: {', '.join(known)}")
        weights = {"Q": Q, "R": R, "Qf": Q if Qf is None else Qf}
        program: dict[str, Any] = {"x0": _numbers("x0", x0), "N": N, **{name: _numbers(name, value) for name, value in weights.items()}}
        program["x_goal"] = np.zeros(len(x0)) if x_goal is None else np.asarray(x_goal, float)
        stated = {name: value for name, value in bounds.items() if value is not None}
        problem = {"format": "deft-problem", "version": 1, "kind": "lcs_mpc", "name": "control", **self._system, **program, **stated}
        return _Answer.of(
            solve(problem, tolerance=gap, time_limit=time_limit, threads=threads), ("x", "u", "gamma", "cost", "bound", "gap", "nodes")
        )


class PatchProblem:
    """One step of bodies that touch in points, lines and surfaces: the fields of problem files of kind `ecp`."""

    def __init__(self, bodies: Iterable[Mapping[str, Any]], pairs: Iterable[Mapping[str, Any]], h: float, gravity: Any = (0, 0, -9.81)):
        self._problem = {
            "format": "deft-problem",
            "version": 1,
            "kind": "ecp",
            "name": "patch",
            "bodies": list(bodies),
            "pairs": list(pairs),
            "h": h,
            "gravity": gravity,
        }

    def solve(self, tolerance: float | None = None, time_limit: float | None = None) -> _Answer:
        """nu and q of the bodies at the end of the step; of every pair point, normal, wrench and kind (point, line or surface)."""
        return _Answer.of(solve(self._problem, tolerance=tolerance, time_limit=time_limit), ("nu", "q", "pairs"))


def check(path: str | os.PathLike[str], package_path: Iterable[str | os.PathLike[str]] = ()) -> list[dict[str, Any]]:
    """What is wrong or suspicious in a scene file: the entries of `deft check --json`, errors first."""
    return json.loads(_core.check(os.fspath(path), [os.fspath(folder) for folder in package_path]))
