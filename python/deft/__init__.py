"""deft: simulation, planning and control of robots that work through contact."""

import sys as _sys
from collections.abc import Sequence as _Sequence
from importlib import import_module as _import_module
from typing import Any as _Any

from . import _core, convert
from ._builder import SceneBuilder
from ._core import BatchResult, Contacts, Derivatives, LimitSurface, StepResult
from ._errors import Diagnostic, InputError, InputWarning, SolveError, Status
from ._model import Batch, StepModel, bundle, simulate
from ._page import page, show
from ._plan import Plan, optimize, plan, plan_statistics
from ._problem import ContactControl, PatchProblem, Problem, check, solve
from ._resources import CMAKE as _CMAKE
from ._robot import Driver, LogPlant, RobotPlant
from ._run import Run
from ._scene import Coordinate, Scene, load, loads, scene_path, scenes
from ._track import Controller, DrakePlant, MujocoPlant, Plant, Policy, StepPlant, TrackedRun, track

__version__: str = _core.version


def main(argv: _Sequence[str] | None = None) -> int:
    """The command line: runs a command (argv without the program's name; those of this process) and returns its exit code."""
    return _core.main(list(_sys.argv[1:] if argv is None else argv))


def __getattr__(name: str) -> _Any:
    """deft.gym, deft.jax, deft.render and deft.torch are imported when they are first used."""
    if name in ("gym", "jax", "render", "torch"):
        return _import_module(f"deft.{name}")
    raise AttributeError(f"module 'deft' has no attribute {name!r}")


def cmake_dir() -> str:
    """The folder of deftConfig.cmake, for find_package(deft) of C++ projects. @throws RuntimeError if this installation has none"""
    if _CMAKE is None:
        raise RuntimeError("cmake_dir: this installation of deft has no CMake files")
    return str(_CMAKE)


def doctor() -> bool:
    """Prints what is installed and loaded, and from where; whether that is as it should be."""
    return main(["doctor"]) == 0


__all__ = [
    "Batch",
    "BatchResult",
    "ContactControl",
    "Contacts",
    "Controller",
    "Coordinate",
    "Derivatives",
    "Diagnostic",
    "DrakePlant",
    "Driver",
    "InputError",
    "InputWarning",
    "LimitSurface",
    "LogPlant",
    "MujocoPlant",
    "PatchProblem",
    "Plan",
    "Plant",
    "Policy",
    "Problem",
    "RobotPlant",
    "Run",
    "Scene",
    "SceneBuilder",
    "SolveError",
    "Status",
    "StepModel",
    "StepPlant",
    "StepResult",
    "TrackedRun",
    "bundle",
    "check",
    "cmake_dir",
    "convert",
    "doctor",
    "load",
    "loads",
    "main",
    "optimize",
    "page",
    "plan",
    "plan_statistics",
    "scene_path",
    "scenes",
    "show",
    "simulate",
    "solve",
    "track",
]
