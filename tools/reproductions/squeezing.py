"""A robot, an object and a wall in one dimension; and the gap that opens under a box that slides (Pang 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, claim, new_figure, picture, plain_ticks, save_figure, table

STIFFNESS = 100.0
STEP, INTO_WALL = 0.1, 0.1  # of the squeeze: h [s], how far its command goes into the wall [m]
ROBOT_AT_OBJECT, ROBOT_AT_WALL = 0.2, 0.4  # s of the robot when it touches the object at rest, and the object the wall [m]
SLIDING_SPEED, FRICTION = 0.05, 0.5  # of the box [m/s]
SLIDING_STEP_LENGTHS = (0.1, 0.05, 0.025, 0.0125)


@dataclass
class Squeeze:
    """One run of robot, object and wall; per step, at its end."""

    t: np.ndarray
    command: np.ndarray
    robot: np.ndarray
    object: np.ndarray
    force_robot: np.ndarray  # robot – object [N]
    force_wall: np.ndarray  # object – wall [N]
    statuses: dict


@dataclass
class Measured:
    quasidynamic: Squeeze
    quasistatic: Squeeze
    boundary_gap: dict[float, float]  # by h, while sliding steadily [m]


def squeeze(lab: Laboratory, dynamics: str) -> Squeeze:
    run = lab.simulate("robot_object_wall", "--set", f"step.dynamics={dynamics}")
    return Squeeze(run.t[1:], run.data["u"][:, 0], run.coordinate("robot/s")[1:], run.coordinate("object/s")[1:],
                   np.abs(run.between("robot", "object", "force_W")[:, 0]), np.abs(run.between("object", "wall", "force_W")[:, 0]),
                   run.summary["statuses"])  # fmt: skip


def measure(lab: Laboratory) -> Measured:
    gaps = {h: float(lab.simulate("sliding_box", "--h", str(h)).coordinate("box/z")[-1] - 0.05) for h in SLIDING_STEP_LENGTHS}
    return Measured(squeeze(lab, "quasidynamic"), squeeze(lab, "quasistatic"), gaps)


def force_errors(run: Squeeze) -> tuple[float, float]:
    """Largest differences of both forces from K · (commanded penetration) where the object stands still at the wall [N]."""
    at_wall = run.object > ROBOT_AT_WALL - ROBOT_AT_OBJECT - 1e-12
    squeezed = (run.command > ROBOT_AT_WALL) & at_wall & np.roll(at_wall, 1)
    wanted = STIFFNESS * (run.command - ROBOT_AT_WALL)
    robot, wall = (float(np.abs(force - wanted)[squeezed].max()) for force in (run.force_robot, run.force_wall))
    return robot, wall


def draw(m: Measured) -> None:
    figure, axes = new_figure(3)
    for axis, run, title in ((axes[0, 0], m.quasidynamic, "quasidynamic"), (axes[0, 1], m.quasistatic, "quasistatic")):
        axis.plot(run.t, run.command, color="0.6", linestyle="--", label="command")
        axis.plot(run.t, run.robot, ".-", label="robot")
        axis.plot(run.t, run.object, ".-", label="object")
        axis.plot(run.t, run.force_wall / STIFFNESS, ":", color="k", label="force on the wall / K")
        axis.set(xlabel="t [s]", ylabel="s [m]", title=title, ylim=(-0.02, 0.85))
        axis.legend(loc="upper left", ncols=2)
    h = np.array(list(m.boundary_gap))
    axes[0, 2].loglog(h, [1e3 * gap for gap in m.boundary_gap.values()], "o-", label="deft")
    axes[0, 2].loglog(h, 1e3 * FRICTION * SLIDING_SPEED * h, "k:", label="μ v h")
    axes[0, 2].set(xlabel="h [s]", ylabel="gap under a sliding box [mm]")
    plain_ticks(axes[0, 2].xaxis, h)
    axes[0, 2].legend()
    save_figure(figure, "squeezing")


def pushed(run: Squeeze) -> dict[str, float]:
    """While the robot pushes the object and it has not reached the wall: largest gap between them, and how far the robot is behind its command [m]."""
    before = np.arange(len(run.t)) < np.argmax(run.object > ROBOT_AT_WALL - ROBOT_AT_OBJECT - 1e-9)
    pushing = before & (run.robot > ROBOT_AT_OBJECT + 1e-9)
    gap, behind = np.abs(run.object - (run.robot - ROBOT_AT_OBJECT)), run.command - run.robot
    return {"gap_m": float(gap[pushing].max()), "behind_m": float(behind[pushing].max())}


def facts(m: Measured) -> dict:
    """Of the squeeze by dynamics: errors of both forces, the push before it, statuses; and the gaps under the box."""
    runs = {"quasidynamic": m.quasidynamic, "quasistatic": m.quasistatic}
    return {
        "forces": {name: {"errors_N": force_errors(run), **pushed(run), "statuses": run.statuses} for name, run in runs.items()},
        "gaps": [[h, 1e3 * gap, 1e3 * FRICTION * SLIDING_SPEED * h] for h, gap in m.boundary_gap.items()],  # h [s], ours and μ v h [mm]
    }


def near(value: float, wanted: float) -> bool:
    """Within a thousandth."""
    return abs(value / wanted - 1) < 1e-3


def text(facts: dict) -> str:
    forces = facts["forces"]
    rows = [
        [name, *own["errors_N"], ", ".join(f"{word} {count}" for word, count in own["statuses"].items())] for name, own in forces.items()
    ]
    dynamic, static = forces["quasidynamic"], forces["quasistatic"]
    gaps, carries = facts["gaps"], max(*dynamic["errors_N"], *static["errors_N"]) < 1e-9
    halves = all(near(a[1] / b[1], 2) and near(a[0] / b[0], 2) for a, b in zip(gaps, gaps[1:]))
    lag = dynamic["behind_m"] > 1e-3 > 1e-9 > abs(static["behind_m"])
    return f"""
# A robot, an object and a wall; and a box that slides

Source: T. Pang, *Planning and control for contact-rich manipulation*, 2022. Scenes: `robot_object_wall` and `sliding_box` in
`scenes/reproductions`. Written by `./run reproduce`. **Ours**: all numbers (K = {STIFFNESS:g} N/m, h = {STEP:g} s, {INTO_WALL:g} m into the wall).

{picture("squeezing")}

Squeezed between robot and wall the object {claim("carries λ = K · (commanded penetration) on both sides", carries)}. Before that
{claim("the robot pushes it ahead", max(dynamic["gap_m"], static["gap_m"]) < 1e-9)}.
Without inertia (quasistatic) nothing says where an object that touches nobody should be, nor one that the robot only touches: the
program has many solutions. deft then {claim("answers `NotUnique`", static["statuses"].get("NotUnique", 0) > 0)} and gives
the motion of least δᵀM_uδ; with M_u/h² (quasidynamic) {claim("every step is unique", set(dynamic["statuses"]) == {"Solved"})}, and the inertia of the object
{claim("takes some of the motion that the robot commands", lag)}: while it pushes, the robot is up to {1e3 * dynamic["behind_m"]:.2g} mm behind.

{table(["dynamics", "robot's force − K · penetration [N]", "wall's force − K · penetration [N]", "statuses"], rows)}

A contact of the convex model that slides
{claim("opens a gap of μ times the distance that it slides in a step", all(near(gap, wanted) for _, gap, wanted in gaps))}.
It {claim("halves with h", halves)}:

{table(["h [s]", "gap [mm]", "μ v h [mm]"], [[f"{h:g}", gap, wanted] for h, gap, wanted in gaps])}
"""
