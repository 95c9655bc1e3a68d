"""Contact problems of all kinds, as plain numbers."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _core


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


class Problem(dict):
    """The fields of a problem file: kind, name, and what its kind states. Arrays count as lists."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Problem:
        """Reads a problem file; `.gz` is unpacked. Fields are checked when it is solved."""
        opener = gzip.open if os.fspath(path).endswith(".gz") else open
        with opener(path, "rt", encoding="utf-8") as file:
            return cls(json.load(file))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a problem file; `.gz` packs it."""
        opener = gzip.open if os.fspath(path).endswith(".gz") else open
        with opener(path, "wt", encoding="utf-8") as file:
            json.dump(_plain(self), file)


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
    text = json.dumps(_plain(problem))
    name = str(problem.get("name", "problem"))
    return json.loads(_core.solve(text, name, tolerance, time_limit, solver, uniqueness, forces, threads))


def check(path: str | os.PathLike[str], package_path: Iterable[str | os.PathLike[str]] = ()) -> list[dict[str, Any]]:
    """What is wrong or suspicious in a scene file: the entries of `deft check --json`, errors first."""
    return json.loads(_core.check(os.fspath(path), [os.fspath(folder) for folder in package_path]))
