"""What calls of deft raise, and the outcomes of solves."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One thing that is wrong or suspicious in an input, and where. Fields are read by attribute or by name in brackets."""

    file: str  # path; empty: an argument
    line: int  # from 1; 0: unknown
    column: int
    severity: str  # "error" or "warning"
    message: str

    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)


class InputError(ValueError):
    """Bad input. `diagnostics` lists every problem with file, line and column."""

    def __init__(self, message: str, diagnostics: list[Diagnostic] | None = None):
        super().__init__(message)
        self.diagnostics = diagnostics or []


class InputWarning(UserWarning):
    """Something suspicious in an input, which is used nevertheless."""


class Status(IntEnum):
    """Outcome of a solve, by the words of problem files; batches hold the numbers."""

    Solved = 0  # a solution whose motion is unique
    NotUnique = 1  # a solution; other motions are as good
    Infeasible = 2  # proved: no motion satisfies all constraints
    Unbounded = 3  # proved: the energy decreases without limit
    RayTermination = 4  # pivoting ended on a ray, which proves nothing
    IterationLimit = 5  # the best iterate, not to the tolerance
    TimeLimit = 6  # the same
    NumericalFailure = 7  # rounding stopped the solver before the tolerance was met


class SolveError(RuntimeError):
    """A solve without a usable result, where one was needed: its `status` and largest scaled `residual`."""

    def __init__(self, message: str, status: Status | None = None, residual: float = float("nan")):
        super().__init__(message)
        self.status = status
        self.residual = residual


STATUSES = list(Status)
