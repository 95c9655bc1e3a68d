"""The impedance-controlled robot in one dimension: second order against quasistatic (Pang 2022, first toy problem), and on every plant of second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, new_figure, save_figure, table, write_page

MASS, DAMPING, STIFFNESS = 1.0, 20.0, 100.0
OMEGA = 10.0  # √(K/m) [rad/s]; D = 2 √(K m): critically damped
RAMP = 1.0  # [m/s]
COMMANDS = {"step": "[{t: 0, robot: {s: 1}}, {t: 1.5, robot: {s: 1}}]", "ramp": "[{t: 0, robot: {s: 0}}, {t: 1.5, robot: {s: 1.5}}]"}
FINE, COARSE = 1e-4, 0.1  # step lengths [s] of the two models
PERIOD = 0.01  # [s], of the commands that plants repeat
OWN_PLANTS = ("convex-second-order", "stewart-trinkle")
PLANTS = (*OWN_PLANTS, "mujoco")


@dataclass
class Response:
    """To one command."""

    t: np.ndarray
    second_order: np.ndarray
    t_quasistatic: np.ndarray
    quasistatic: np.ndarray
    plant_errors: dict[str, float]  # largest difference from the closed form, by plant [m]


def measure(lab: Laboratory, plants: tuple[str, ...] = PLANTS) -> dict[str, Response]:
    responses = {}
    for name, knots in COMMANDS.items():
        command = ("--set", f"commands.knots={knots}")
        fine = lab.simulate("impedance_robot", *command, "--h", str(FINE))
        coarse = lab.simulate("impedance_robot", *command, "--h", str(COARSE), "--model", "convex", "--set", "step.joint_damping=0")
        spoken = lab.simulate("impedance_robot", *command, "--h", str(PERIOD)).folder
        errors = {plant: repeat(lab, spoken, plant) for plant in plants}
        responses[name] = Response(fine.t, fine.coordinate("robot/s"), coarse.t, coarse.coordinate("robot/s"), errors)
    return responses


def repeat(lab: Laboratory, spoken, plant: str) -> float:
    """The commands of a run on a plant, which goes linearly from each to the next: largest difference from the closed form of such commands [m]."""
    run = lab.replay(
        spoken, "--plant", plant, "--set", f"track.plant_step={FINE}", "--set", f"track.period={PERIOD}", "--set", "track.settle=0"
    )
    slopes = np.diff(np.r_[0, run.data["u"][:, 0]]) / np.diff(run.t)
    bends = np.diff(np.r_[0, slopes])  # of the command, at the start of each period
    expected = sum(
        bend * np.where(run.t > start, exact("ramp", np.maximum(run.t - start, 0)), 0) / RAMP for bend, start in zip(bends, run.t[:-1])
    )
    return float(np.abs(run.coordinate("robot/s") - expected).max())


def exact(name: str, t: np.ndarray) -> np.ndarray:
    """m s̈ + D ṡ + K (s − u) = 0 from rest at 0, critically damped."""
    decay = np.exp(-OMEGA * t)
    if name == "step":
        return 1 - (1 + OMEGA * t) * decay
    return RAMP * (t - 2 / OMEGA + (t + 2 / OMEGA) * decay)


def commanded(name: str, t: np.ndarray) -> np.ndarray:
    return np.ones_like(t) if name == "step" else RAMP * t


def draw(responses: dict[str, Response]) -> None:
    figure, axes = new_figure(2)
    for axis, (name, response) in zip(axes[0], responses.items()):
        axis.plot(response.t, commanded(name, response.t), color="0.6", linestyle="--", label="command")
        axis.plot(response.t, response.second_order, label="second order, h = 0.1 ms")
        axis.plot(response.t_quasistatic, response.quasistatic, "o", label="quasistatic, h = 0.1 s")
        axis.set(xlabel="t [s]", ylabel="s [m]", title=name)
        axis.legend()
    picture = save_figure(figure, "impedance_robot")
    rows = [[name, float(np.abs(r.second_order - exact(name, r.t)).max()), float(np.abs(r.quasistatic[1:] - commanded(name, r.t_quasistatic[1:])).max()),
             float(np.abs(exact(name, r.t_quasistatic[1:]) - commanded(name, r.t_quasistatic[1:]))[-1])] for name, r in responses.items()]  # fmt: skip
    write_page(
        "impedance_robot",
        f"""
# An impedance-controlled robot in one dimension

Source: T. Pang, *Planning and control for contact-rich manipulation*, 2022. Scene:
`scenes/reproductions/impedance_robot.deft.yaml`. Written by `./run reproduce`.

**Given**: m = {MASS:g} kg, D = {DAMPING:g} N s/m, K = {STIFFNESS:g} N/m. **Ours**: a step of 1 m and a ramp of {RAMP:g} m/s.

{picture}

The spring and its damper bring the mass to its command within half a second; after that only the lag D v/K = 2 ω⁻¹ v behind a ramp
is left. The quasistatic step leaves the transient out: the robot is where its command is, and a step may be as long as one likes.

{table(["command", "second order − closed form [m]", "quasistatic − command [m]", "closed form − command at the end [m]"], rows)}

The same commands, once per {1e3 * PERIOD:g} ms, on the plants of second order with inner steps of {1e3 * FINE:g} ms (`deft replay RUN --plant P`): targets go linearly from each to the next, so the closed
form is a sum of ramps. Largest difference from it [m]:

{table(["command", *PLANTS], [[name, *(r.plant_errors[plant] for plant in PLANTS)] for name, r in responses.items()])}
""",
    )
