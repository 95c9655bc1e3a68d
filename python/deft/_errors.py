"""What calls of deft raise, and the outcomes of solves."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from . import _core


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


class SolveError(RuntimeError):
    """A solve without a usable result, where one was needed: its `status` and largest scaled `residual`."""

    def __init__(self, message: str, status: Status | None = None, residual: float = float("nan")):
        super().__init__(message)
        self.status = status
        self.residual = residual


Status = IntEnum("Status", {word: number for number, word in enumerate(_core.status_words)})  # type: ignore[misc]
Status.__doc__ = "Outcome of a solve, by the words of problem files."
STATUSES = list(Status)
