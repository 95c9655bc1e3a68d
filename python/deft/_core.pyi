from collections.abc import Mapping, Sequence
from typing import overload

import numpy
import numpy.typing

import deft._errors


version: str = '0.1.0'

def main(arguments: Sequence[str]) -> int: ...

def resource(place: str) -> str: ...

def set_interpreter(path: str) -> None: ...

def yaml_to_objects(text: str) -> object: ...

class Contacts:
    """Contact points of a configuration, nearer than `step.contact_margin`."""

    def __len__(self) -> int: ...

    @property
    def bodies(self) -> list[tuple[str, str]]:
        """The names (a, b) of the two bodies of each contact."""

    @property
    def gap(self) -> numpy.ndarray:
        """φ [m], shape (n_c,); negative: penetration."""

    @property
    def mu(self) -> numpy.ndarray:
        """Coefficient of friction, shape (n_c,)."""

    @property
    def normal(self) -> numpy.ndarray:
        """Unit normals from b to a in the world, shape (n_c, 3)."""

    @property
    def point(self) -> numpy.ndarray:
        """Midpoints of the witness points in the world [m], shape (n_c, 3)."""

    @property
    def jacobian(self) -> numpy.ndarray:
        """
        Velocity of a's witness point minus that of b's per unit of v, world axes, shape (n_c, 3, n_v): d gap = n·J dq.
        """

def vector(value: object | None, name: str, size: int) -> numpy.ndarray: ...

def load(path: str, overlays: Sequence[str], texts: Mapping[str, str], settings: Sequence[str], package_paths: Sequence[str], bundled_scenes: str) -> tuple: ...

class Scene:
    @property
    def name(self) -> str: ...

    @property
    def file(self) -> str: ...

    @property
    def merged_yaml(self) -> str: ...

    @property
    def n_q(self) -> int: ...

    @property
    def n_v(self) -> int: ...

    @property
    def n_u(self) -> int: ...

    @property
    def names_q(self) -> list[str]: ...

    @property
    def names_v(self) -> list[str]: ...

    @property
    def names_u(self) -> list[str]: ...

    @property
    def bodies(self) -> list[str]: ...

    @property
    def robots(self) -> list[str]: ...

    @property
    def objects(self) -> list[str]: ...

    @property
    def goals(self) -> list[str]: ...

    @property
    def configurations(self) -> list[str]: ...

    @property
    def coordinates(self) -> list: ...

    @property
    def command_coordinates(self) -> list[int]: ...

    def index(self, name: str) -> int: ...

    def slice_q(self, name: str) -> slice: ...

    def slice_v(self, name: str) -> slice: ...

    def slice_u(self, name: str) -> slice: ...

    @overload
    def q(self) -> numpy.ndarray: ...

    @overload
    def q(self, name: str) -> numpy.ndarray: ...

    def v(self) -> numpy.ndarray: ...

    def pack(self, models: dict) -> numpy.ndarray: ...

    def body_pose(self, q: object | None, body: str) -> numpy.ndarray: ...

    @property
    def last_knot_time(self) -> float: ...

    def contacts(self, q: object | None) -> Contacts: ...

    def jacobian(self, q: object | None, body: str) -> numpy.ndarray: ...

    def integrate(self, q: object | None, dq: object | None) -> numpy.ndarray: ...

    def difference(self, q0: object | None, q1: object | None) -> numpy.ndarray: ...

status_words: list = ...

class StepResult:
    """One step, at its end."""

    @property
    def q(self) -> numpy.ndarray:
        """q⁺, shape (n_q,), read-only; of a failed step q."""

    @property
    def v(self) -> numpy.ndarray | None:
        """v⁺, shape (n_v,), read-only; None for models of first order."""

    @property
    def dq(self) -> numpy.ndarray:
        """δ with q⁺ = q ⊕ δ [rad, m], shape (n_v,), read-only."""

    @property
    def status(self) -> deft._errors.Status:
        """deft.Status of the solve."""

    @property
    def residual(self) -> float:
        """Largest scaled residual of the certificate [-]."""

    @property
    def contacts(self) -> Contacts:
        """Contacts at the start of the step."""

    @property
    def forces(self) -> numpy.ndarray:
        """
        Forces on a at a's witness point in the world [N], shape (n_c, 3), in the order of `contacts`; NaN of a failed step.
        """

    @property
    def time_s(self) -> float:
        """Time that the step took in C++, its certificate included [s]."""

class Derivatives:
    """Jacobians of a step along world tangents (a free body: [θ, v])."""

    @property
    def dq_dq(self) -> numpy.ndarray | None:
        """∂q⁺/∂q, (n_v, n_v); None if not asked for."""

    @property
    def dq_du(self) -> numpy.ndarray | None:
        """∂q⁺/∂u, (n_v, n_u)."""

    @property
    def dq_dv(self) -> numpy.ndarray | None:
        """∂q⁺/∂v, (n_v, n_v); None for models of first order."""

    @property
    def dv_dq(self) -> numpy.ndarray | None:
        """∂v⁺/∂q, likewise."""

    @property
    def dv_du(self) -> numpy.ndarray | None:
        """∂v⁺/∂u, (n_v, n_u), likewise."""

    @property
    def dv_dv(self) -> numpy.ndarray | None:
        """∂v⁺/∂v, likewise."""

    @property
    def df_dq(self) -> numpy.ndarray | None:
        """∂f/∂q in the world [N/rad, N/m], (n_c, 3, n_v)."""

    @property
    def df_du(self) -> numpy.ndarray | None:
        """∂f/∂u, (n_c, 3, n_u)."""

    @property
    def dq_dtheta(self) -> numpy.ndarray | None:
        """
        ∂q⁺/∂θ, (n_v, n_θ), columns in the order of StepModel.params; None if not asked for.
        """

    @property
    def df_dtheta(self) -> numpy.ndarray | None:
        """∂f/∂θ, (n_c, 3, n_θ)."""

    @property
    def nonsmooth(self) -> bool:
        """Whether they are one-sided or those of a smoothed step."""

    @property
    def nonsmooth_points(self) -> list[str]:
        """Why, one line each."""

def with_parameters(scene: Scene, values: Mapping[str, float]) -> Scene: ...

class StepModel:
    def __init__(self, scene: Scene) -> None: ...

    def step(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, v: numpy.typing.ArrayLike | None = None, out: StepResult | None = None) -> StepResult:
        """
        One step of length h from (q, v) under the commands u: a StepResult, `out` if given.
        """

    def reset(self) -> None:
        """Forgets warm starts."""

    def _derivatives(self, q: object | None, u: object | None, v: object | None, by_configuration: bool, motion_only: bool, by_parameters: bool) -> Derivatives: ...

    def jvp(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, dq: numpy.typing.ArrayLike | None = None, du: numpy.typing.ArrayLike | None = None) -> numpy.ndarray:
        """∂q⁺/∂q dq + ∂q⁺/∂u du, shape (n_v,) or (batch, n_v)."""

    def vjp(self, q: numpy.typing.ArrayLike, u: numpy.typing.ArrayLike, cotangent: numpy.typing.ArrayLike) -> tuple[numpy.ndarray, numpy.ndarray]:
        """
        (∂q⁺/∂q)ᵀ w and (∂q⁺/∂u)ᵀ w, shapes (n_v,) and (n_u,) or with a batch in front.
        """

    @property
    def params(self) -> dict:
        """θ: name → value, in the order of the columns of dq_dtheta."""

    @property
    def h(self) -> float:
        """Length of a step [s]."""

    @property
    def kappa(self) -> float:
        """Weight of the smoothing barrier [1/J]; infinity: exact."""

    @property
    def second_order(self) -> bool:
        """Whether velocities are part of the state."""

class Bundle:
    """A gradient averaged over noise."""

    @property
    def dq_du(self) -> numpy.ndarray | None:
        """E[∂q⁺/∂u], (n_v, n_u)."""

    @property
    def standard_error(self) -> numpy.ndarray | None:
        """Of the entries of dq_du."""

    @property
    def dq_dq(self) -> numpy.ndarray | None:
        """E[∂q⁺/∂q], (n_v, n_v); None without std_q."""

    @property
    def dq_dq_standard_error(self) -> numpy.ndarray | None:
        """Of the entries of dq_dq."""

    @property
    def mean(self) -> numpy.ndarray:
        """E[q⁺ ⊖ q⁺(q, u)] [rad, m], (n_v,)."""

    @property
    def used(self) -> int:
        """Samples that have a step."""

def bundle(model: StepModel, q: object | None, u: object | None, samples: int, std: object, std_q: object | None, order: int, seed: int, antithetic: bool, threads: int) -> Bundle: ...

class BatchResult:
    """
    Steps of a batch; NaN in the rows of items that failed. Arrays are read-only views.
    """

    def __len__(self) -> int: ...

    @property
    def q(self) -> numpy.ndarray | None:
        """q⁺, (B, n_q)."""

    @property
    def v(self) -> numpy.ndarray | None:
        """v⁺, (B, n_v); None for models of first order."""

    @property
    def dq(self) -> numpy.ndarray | None:
        """δ with q⁺ = q ⊕ δ [rad, m], (B, n_v)."""

    @property
    def dq_dq(self) -> numpy.ndarray | None:
        """∂q⁺/∂q, (B, n_v, n_v); None without derivatives."""

    @property
    def dq_du(self) -> numpy.ndarray | None:
        """∂q⁺/∂u, (B, n_v, n_u)."""

    @property
    def dq_dv(self) -> numpy.ndarray | None:
        """∂q⁺/∂v, (B, n_v, n_v); None for models of first order."""

    @property
    def dv_dq(self) -> numpy.ndarray | None:
        """∂v⁺/∂q, likewise."""

    @property
    def dv_du(self) -> numpy.ndarray | None:
        """∂v⁺/∂u, (B, n_v, n_u), likewise."""

    @property
    def dv_dv(self) -> numpy.ndarray | None:
        """∂v⁺/∂v, likewise."""

    @property
    def status(self) -> numpy.ndarray:
        """Numbers of deft.Status, (B,), uint8."""

    @property
    def nonsmooth(self) -> numpy.ndarray:
        """Whether the Jacobians are one-sided or those of a smoothed step, (B,)."""

    @property
    def time_s(self) -> float:
        """Time that the C++ batch took [s], without what Python adds."""

    @property
    def errors(self) -> list[tuple[int, str]]:
        """
        (item, reason) of the items that have no step or no derivative for another reason than their status.
        """

class Batch:
    def __init__(self, scene: Scene, threads: int) -> None: ...

    def step(self, Q: numpy.typing.ArrayLike, U: numpy.typing.ArrayLike, V: numpy.typing.ArrayLike | None = None, derivatives: bool = False, out: BatchResult | None = None) -> BatchResult:
        """
        Steps all rows of (Q, V) under those of U on all cores: a BatchResult, `out` if given.
        """

class RunContacts:
    """Contacts of one step of a run, at its end."""

    def __len__(self) -> int: ...

    @property
    def bodies(self) -> list[tuple[str, str]]:
        """The names (a, b) of the two bodies of each contact."""

    @property
    def gap(self) -> numpy.ndarray:
        """φ + J_n δ [m], (n_c,)."""

    @property
    def mu(self) -> numpy.ndarray:
        """Coefficient of friction, (n_c,)."""

    @property
    def point(self) -> numpy.ndarray:
        """Midpoints of the witness points in the world [m], (n_c, 3)."""

    @property
    def normal(self) -> numpy.ndarray:
        """Unit normals from b to a in the world, (n_c, 3)."""

    @property
    def force(self) -> numpy.ndarray:
        """Forces on a in the world [N], (n_c, 3)."""

    @property
    def torque(self) -> numpy.ndarray:
        """Torques on a about `point` in the world [N·m], (n_c, 3)."""

class Run:
    @property
    def t(self) -> numpy.ndarray: ...

    @property
    def q(self) -> numpy.ndarray: ...

    @property
    def v(self) -> numpy.ndarray | None: ...

    @property
    def u(self) -> numpy.ndarray: ...

    @property
    def names_q(self) -> list[str]: ...

    @property
    def names_u(self) -> list[str]: ...

    @property
    def bodies(self) -> list[str]: ...

    @property
    def name(self) -> str: ...

    @property
    def scene_yaml(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def reason(self) -> str: ...

    @property
    def complete(self) -> bool: ...

    def contacts(self, t: float) -> RunContacts: ...

    def _save(self, path: str, force: bool) -> None: ...

    def _page(self, folder: str, beside: Run | None, title: str, title_here: str) -> str: ...

def simulate(scene: Scene, q0: object | None, v0: object | None, commands: object | None, steps: int, on_step: object | None) -> Run: ...

def open_run(path: str) -> Run: ...

def visual_json(scene: Scene) -> str: ...

class Goal:
    @property
    def name(self) -> str:
        """Of the scene's goal."""

    @property
    def q(self) -> numpy.ndarray:
        """
        A configuration at the goal, (n_q,); what it leaves free is as at the start.
        """

    @property
    def size(self) -> int:
        """Entries of the residual."""

    @property
    def tolerance_m(self) -> float:
        """Distance of what is just within one tolerance [m]."""

    def residual(self, q: object) -> numpy.ndarray:
        """
        W (q_goal - q) along world tangents, (size,) or (batch, size) [m]: rotations and joints in the unit in which their tolerance is that of positions.
        """

    def distance(self, q: object) -> object:
        """Norm of the residual [m], a number or (batch,)."""

    def error(self, q: object) -> tuple:
        """
        The largest errors: of positions [m], rotations [rad], joints [rad, m]; NaN of what the goal does not name.
        """

    def reached(self, q: object) -> object:
        """Whether every part is within its tolerance: a bool, or a list of them."""

def make_goal(scene: Scene, name: str) -> Goal: ...

class Plan:
    @property
    def success(self) -> bool: ...

    @property
    def status(self) -> str: ...

    @property
    def q(self) -> numpy.ndarray: ...

    @property
    def u(self) -> numpy.ndarray: ...

    @property
    def u_start(self) -> numpy.ndarray: ...

    @property
    def h(self) -> float: ...

    @property
    def goal(self) -> str: ...

    @property
    def segments(self) -> list: ...

    @property
    def error(self) -> dict: ...

    @property
    def holds(self) -> list: ...

    @property
    def reasons(self) -> list: ...

    @property
    def first_solution_s(self) -> float | None: ...

    @property
    def first_holding_s(self) -> float | None: ...

    @property
    def time_s(self) -> float: ...

    @property
    def regrasps(self) -> int: ...

    @property
    def cost_s(self) -> float: ...

    @property
    def nodes(self) -> int: ...

    @property
    def cost_before(self) -> float | None: ...

    @property
    def cost_after(self) -> float | None: ...

    @property
    def seed(self) -> int: ...

    def _save(self, path: str, force: bool) -> None: ...

    @property
    def step_solves(self) -> int: ...

def plan_of_run(scene: Scene, run: Run, folder: str, goal: str) -> Plan: ...

def optimize_plan(plan: Plan, scene: Scene, seed: int, threads: int, time_limit_s: float) -> Plan: ...

def make_plan(scene: Scene, goal: str, seed: int, threads: int, on_progress: object | None) -> Plan: ...

class NativePlant:
    def __init__(self, scene: Scene, name: str) -> None: ...

    def reset(self, q: object | None, v: object | None = None, u: object | None = None, seed: int = 0) -> None:
        """
        Puts the world at (q, v; None: at rest) with the springs at joint targets u.
        """

    def step(self, u: object | None, dt: float) -> None:
        """
        Advances by dt [s]; joint targets go linearly from the last ones to u. Raises SolveError if the simulation fails.
        """

    @property
    def q(self) -> numpy.ndarray:
        """Configuration, (n_q,)."""

    @property
    def v(self) -> numpy.ndarray:
        """Velocity, (n_v,); 0 on plants of first order."""

    @property
    def time(self) -> float:
        """Since `reset` [s]."""

    @property
    def settings(self) -> list[str]:
        """What the plant adds to the scene, a line each."""

class Controller:
    @property
    def period_s(self) -> float: ...

    @property
    def duration_s(self) -> float: ...

    @property
    def plan(self) -> int: ...

    @property
    def status(self) -> str | None: ...

    def update(self, q: object | None, periods: int) -> numpy.ndarray: ...

def make_controller(plan: Plan, controller: str, seed: int, threads: int) -> Controller: ...

class Tracked:
    @property
    def run(self) -> Run: ...

    @property
    def arrived(self) -> bool: ...

    @property
    def new_plans(self) -> int: ...

    @property
    def replan_s(self) -> float: ...

    @property
    def held_s(self) -> float: ...

    @property
    def final_error(self) -> dict: ...

    @property
    def largest_error(self) -> dict: ...

    @property
    def settings(self) -> list[str]: ...

    @property
    def errors(self) -> numpy.ndarray: ...

    @property
    def period_s(self) -> numpy.ndarray: ...

def track(plan: Plan, plant: object, controller: object, disturbance: str, seed: int, max_duration_s: float, threads: int) -> tuple: ...

class LimitSurface:
    """
    The loads F = (f_x, f_y, m) [N, N, N·m] that a support just resists; twists are V = (v_x, v_y, ω) [m/s, rad/s]. LimitSurface(A): the ellipsoid FᵀAF = 1.
    """

    def __init__(self, A: object) -> None: ...

    def wrench(self, twist: object) -> numpy.ndarray:
        """
        The load that drives a twist, on the surface: for an ellipsoid A⁻¹V/√(VᵀA⁻¹V); 0 for V = 0. (3,) or (batch, 3).
        """

    def twist(self, wrench: object) -> numpy.ndarray:
        """
        How the support moves under a load: ∇H(F), H = ½g² with the surface's gauge g; for an ellipsoid A F. (3,) or (batch, 3).
        """

    @staticmethod
    def from_pressure(polygon: object, friction_N: float) -> LimitSurface:
        """
        Of a flat support with uniform pressure, exactly: corners in order, (n, 2) [m], and μN [N].
        """

def check(scene: str, package_paths: Sequence[str]) -> str: ...

def solve(text: str, name: str, tolerance: float | None, time_limit_s: float | None, solver: str, uniqueness: str, forces: str, threads: int, in_main_thread: bool) -> str: ...
