"""A robot, an object and a wall in one dimension; and the gap that opens under a box that slides (Pang 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, new_figure, plain_ticks, save_figure, table, write_page

STIFFNESS = 100.0
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
    picture = save_figure(figure, "squeezing")
    rows = [[name, *force_errors(run), ", ".join(f"{word} {count}" for word, count in run.statuses.items())]
            for name, run in (("quasidynamic", m.quasidynamic), ("quasistatic", m.quasistatic))]  # fmt: skip
    gaps = [[f"{h:g}", 1e3 * gap, 1e3 * FRICTION * SLIDING_SPEED * h] for h, gap in m.boundary_gap.items()]
    write_page(
        "squeezing",
        f"""
# A robot, an object and a wall; and a box that slides

Source: T. Pang, *Planning and control for contact-rich manipulation*, 2022. Scenes: `robot_object_wall` and `sliding_box` in
`scenes/reproductions`. Written by `./run reproduce`. **Ours**: all numbers (K = 100 N/m, h = 0.1 s, 0.1 m into the wall).

{picture}

Squeezed between robot and wall the object carries λ = K · (commanded penetration) on both sides. Before that the robot pushes it ahead.
Without inertia (quasistatic) nothing says where an object that touches nobody should be, nor one that the robot only touches: the
program has many solutions. deft then answers `NotUnique` and gives the motion of least δᵀM_uδ; with M_u/h² (quasidynamic) every step
is unique, and the inertia of the object takes a little of the motion that the robot commands.

{table(["dynamics", "robot's force − K · penetration [N]", "wall's force − K · penetration [N]", "statuses"], rows)}

A contact of the convex model that slides opens a gap of μ times the distance that it slides in a step. It halves with h:

{table(["h [s]", "gap [mm]", "μ v h [mm]"], gaps)}
""",
    )
