"""Runs: motions as they were simulated, planned or tracked."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from . import _core


class Run:
    """A motion of T steps: T + 1 times and configurations, T commands, contacts of each step."""

    def __init__(self, core: _core.Run, folder: Path | None = None):
        self._core = core
        self._folder = folder

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """A run folder, or its run.h5; also one that is still being written. Raises InputError if it is none."""
        place = Path(path)
        return cls(_core.open_run(str(place)), place if place.is_dir() else place.parent)

    @cached_property
    def t(self) -> np.ndarray:
        """Times [s], (T + 1,)."""
        return self._core.t

    @cached_property
    def q(self) -> np.ndarray:
        """Configurations, (T + 1, n_q)."""
        return self._core.q

    @cached_property
    def v(self) -> np.ndarray | None:
        """Velocities, (T + 1, n_v); None for models of first order."""
        return self._core.v

    @cached_property
    def u(self) -> np.ndarray:
        """Commands, (T, n_u)."""
        return self._core.u

    @property
    def status(self) -> str:
        """Completed, Interrupted, or the status of the step that failed."""
        return self._core.status or str(self.summary.get("status", ""))

    @property
    def reason(self) -> str:
        """Contacts and limits that left the failed step without a solution, if known."""
        return self._core.reason or str(self.summary.get("reason", ""))

    @property
    def name(self) -> str:
        """Of the scene."""
        return self._core.name

    @property
    def bodies(self) -> list[str]:
        """Names of all bodies; the first is the world."""
        return self._core.bodies

    @cached_property
    def summary(self) -> dict[str, Any]:
        """summary.json of the folder, empty before the run has ended; of a run in memory status, reason, steps and t_end."""
        if self._folder is None:
            return {"status": self._core.status, "reason": self._core.reason, "steps": len(self.u), "t_end": float(self.t[-1])}
        file = self._folder / "summary.json"
        return json.loads(file.read_text()) if file.is_file() else {}

    def contacts(self, t: float) -> _core.RunContacts:
        """Contacts, with their forces, of the step that ends at time t [s]."""
        return self._core.contacts(t)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Writes a run folder; `force` also into one that is not empty."""
        self._core._save(os.fspath(path), force)
        Path(path, "summary.json").write_text(json.dumps(self.summary, indent=1) + "\n")

    def __len__(self) -> int:
        return len(self.u)
