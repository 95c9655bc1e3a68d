"""deft: simulation, planning and control of robots that work through contact."""

from . import _core
from ._core import BatchResult, Contacts, Derivatives, StepResult
from ._errors import Diagnostic, InputError, InputWarning, SolveError, Status
from ._model import Batch, StepModel, simulate
from ._plan import Plan, plan, plan_statistics
from ._run import Run
from ._scene import Coordinate, Scene, load, loads, scene_path, scenes

__version__: str = _core.__version__

__all__ = [
    "Batch", "BatchResult", "Contacts", "Coordinate", "Derivatives", "Diagnostic", "InputError", "InputWarning", "Plan", "Run", "Scene",
    "SolveError", "Status", "StepModel", "StepResult", "load", "loads", "plan", "plan_statistics", "scene_path", "scenes", "simulate",
]
