"""The impedance-controlled robot in one dimension: second order against quasistatic (Pang 2022, first toy problem), and on every plant of second order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, claim, new_figure, picture, save_figure, table

MASS, DAMPING, STIFFNESS = 1.0, 20.0, 100.0
OMEGA = 10.0  # √(K/m) [rad/s]; D = 2 √(K m): critically damped
RAMP = 1.0  # [m/s]
COMMANDS = {"step": "[{t: 0, robot: {s: 1}}, {t: 1.5, robot: {s: 1}}]", "ramp": "[{t: 0, robot: {s: 0}}, {t: 1.5, robot: {s: 1.5}}]"}
FINE, COARSE = 1e-4, 0.1  # step lengths [s] of the two models
PERIOD = 0.01  # [s], of the commands that plants repeat
SETTLED = 0.5  # [s], when a step's transient should be over
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
        axis.plot(response.t, response.second_order, label=f"second order, h = {1e3 * FINE:g} ms")
        axis.plot(response.t_quasistatic, response.quasistatic, "o", label=f"quasistatic, h = {COARSE:g} s")
        axis.set(xlabel="t [s]", ylabel="s [m]", title=name)
        axis.legend()
    save_figure(figure, "impedance_robot")


def facts(responses: dict[str, Response]) -> dict:
    """By command: the row of the table, what the model of second order still lacks after SETTLED and at the end, and errors of the plants [m]."""

    def of(name: str, r: Response) -> dict:
        lacking = commanded(name, r.t) - r.second_order
        wanted = commanded(name, r.t_quasistatic[1:])
        return {
            "second_order": np.abs(r.second_order - exact(name, r.t)).max(),
            "quasistatic": np.abs(r.quasistatic[1:] - wanted).max(),
            "closed_form_at_end": np.abs(exact(name, r.t_quasistatic[1:]) - wanted)[-1],
            "lacking_settled": np.abs(lacking[r.t > SETTLED - 0.5 * FINE]).max(),
            "lacking_at_end": lacking[-1],
            "plants": r.plant_errors,
        }

    return {name: of(name, r) for name, r in responses.items()}


def text(facts: dict) -> str:
    rows = [[name, own["second_order"], own["quasistatic"], own["closed_form_at_end"]] for name, own in facts.items()]
    step, ramp = facts["step"], facts["ramp"]
    only_lag = abs(step["lacking_at_end"]) < 1e-3 and abs(ramp["lacking_at_end"] - DAMPING * RAMP / STIFFNESS) < 1e-3
    return f"""
# An impedance-controlled robot in one dimension

Source: T. Pang, *Planning and control for contact-rich manipulation*, 2022. Scene:
`scenes/reproductions/impedance_robot.deft.yaml`. Written by `./run reproduce`.

**Given**: m = {MASS:g} kg, D = {DAMPING:g} N s/m, K = {STIFFNESS:g} N/m. **Ours**: a step of 1 m and a ramp of {RAMP:g} m/s.

{picture("impedance_robot")}

The spring and its damper {claim("bring the mass to its command within half a second", step["lacking_settled"] < 0.05)},
but for {100 * step["lacking_settled"]:.1f} % of a step; after that {claim("only the lag D v/K = 2 ω⁻¹ v behind a ramp is left", only_lag)}.
The quasistatic step leaves the transient out:
the robot {claim("is where its command is", max(step["quasistatic"], ramp["quasistatic"]) < 1e-12)}, and a step may be as long as one likes.

{table(["command", "second order − closed form [m]", "quasistatic − command [m]", "closed form − command at the end [m]"], rows)}

The same commands, once per {1e3 * PERIOD:g} ms, on the plants of second order with inner steps of {1e3 * FINE:g} ms (`deft replay RUN --plant P`):
targets go linearly from each to the next, so the closed form is a sum of ramps. Largest difference from it [m]:

{table(["command", *PLANTS], [[name, *(own["plants"][plant] for plant in PLANTS)] for name, own in facts.items()])}
"""
