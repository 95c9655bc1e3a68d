"""The Allegro hand turns a ball by 30°: as planned, from a start 3 mm off, at finer steps; open loop and with feedback, in deft's own world and in MuJoCo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .experiment import ROOT, Laboratory, claim, new_figure, picture, save_figure, table
from .holding_study import sign_test

SCENE = ROOT / "scenes" / "planning" / "allegro_ball.deft.yaml"
START = np.array([-0.081, 0.001, 0.071])  # of the ball [m]
GOAL_DEG = 30.0
GOAL_M, GOAL_RAD = 0.01, 0.1  # what may be missing from it
OFF = 0.003  # [m]
DIRECTIONS = {"+x": (1, 0), "−x": (-1, 0), "+y": (0, 1), "−y": (0, -1)}
PLANNED_STEP, STEP_LENGTHS = 0.1, (0.02, 0.01)  # [s]
DISTURBANCES = ROOT / "scenes" / "planning" / "disturb"  # drawn per seed
SETTINGS = ROOT / "scenes" / "reproductions" / "thirty_degrees.track.yaml"
SEEDS = 20
DRAWN = 5  # seeds in the figure
LEVEL = 0.05  # of the sign test
LOST_M = 0.2  # a ball farther from its place has left the hand


@dataclass(frozen=True)
class World:
    """A plant, what is wrong in it, and what both are called."""

    name: str
    off: str
    disturbance: str  # a file of DISTURBANCES
    options: tuple[str, ...]


WORLDS = {
    "slides": World("quasidynamic, the plan's steps of 0.1 s", "3 mm off", "offset.yaml",
                    ("--plant", "quasidynamic", "--set", "track.plant_step=0.1", "--set", "track.period=0.1", "--set", "track.speed=.inf", "--set", "track.filter_time=0")),
    "fine": World("quasidynamic, steps of 1 ms", "3 mm off", "offset.yaml", ("--plant", "quasidynamic")),
    "mujoco": World("MuJoCo", "everything disturbed", "all.yaml", ("--plant", "mujoco")),
}  # fmt: skip
CONTROLLERS = {
    "open loop": ("--controller", "open-loop"),
    "one step": ("--set", "track.horizon=1", "--set", "track.replan=false"),
    "feedback": (),
}


@dataclass
class Turn:
    """The ball on its way: times [s], turn about the vertical [deg], distance from where it should be [m]."""

    t: np.ndarray
    yaw: np.ndarray
    distance: np.ndarray


@dataclass
class Measured:
    plan: dict  # the summary of deft plan
    turns: dict[str, Turn]
    followed: dict[tuple[str, str], list[tuple[Turn, dict]]]  # by world and controller, with their summaries: undisturbed, then disturbed


def turn_of(run) -> Turn:
    w, z = run.coordinate("ball/qw"), run.coordinate("ball/qz")
    return Turn(run.t, np.degrees(np.unwrap(2 * np.arctan2(z, w))), np.linalg.norm(run.position("ball") - START, axis=1))


def measure(lab: Laboratory, seed: int = 0) -> Measured:
    folder = lab.folder / "plan"
    plan = lab.plan(SCENE, folder, "--goal", "sixth", "--seed", str(seed))
    commands = ("--with", str(folder / "plan.yaml"))
    turns = {"as planned": turn_of(lab.simulate(SCENE, *commands))}
    for name, direction in DIRECTIONS.items():
        p = START + OFF * np.array([*direction, 0])
        turns[f"3 mm off, {name}"] = turn_of(lab.simulate(SCENE, *commands, "--set", f"configurations.start.ball.position={p.tolist()}"))
    for h in STEP_LENGTHS:
        turns[f"h = {h} s"] = turn_of(lab.simulate(SCENE, *commands, "--h", str(h)))
    return Measured(
        plan, turns, {(world, controller): follow(lab, folder, WORLDS[world], controller) for world in WORLDS for controller in CONTROLLERS}
    )


def follow(lab: Laboratory, plan: Path, world: World, controller: str) -> list[tuple[Turn, dict]]:
    """`deft track` without a disturbance, and with those of some seeds."""
    options = ("--with", str(SETTINGS), *world.options, *CONTROLLERS[controller])
    disturbed = [("--disturb", str(DISTURBANCES / world.disturbance), "--seed", str(seed)) for seed in range(SEEDS)]
    runs = [lab.track(plan, *options), *(lab.track(plan, *options, *words) for words in disturbed)]
    return [(turn_of(run), run.summary) for run in runs]


def errors_of(summary: dict) -> tuple[float, float]:
    """At the end, beside where the plan ends [mm, °]."""
    return 1e3 * summary["final_error"]["position_m"], float(np.degrees(summary["final_error"]["rotation_rad"]))


def followed_rows(m: Measured) -> list[list]:
    rows = []
    for world, how in WORLDS.items():
        for controller in CONTROLLERS:
            (turn, summary), *disturbed = m.followed[world, controller]
            arrived, lost = (sum(test(run) for _, run in disturbed) for test in (lambda run: run["success"], is_lost))
            rows.append([how.name if controller == "open loop" else "", controller, float(turn.yaw[-1]), *errors_of(summary), "yes" if summary["success"] else "no",
                         how.off, f"{arrived} of {SEEDS}", lost, medians([errors_of(run) for _, run in disturbed]),
                         f"{np.median([run['duration_s'] / run['plan_duration_s'] for _, run in disturbed]):.2f}"])  # fmt: skip
    return rows


def is_lost(summary: dict) -> bool:
    return summary["final_error"]["position_m"] > LOST_M


def medians(errors: list[tuple[float, float]]) -> str:
    millimetres, degrees = np.median(errors, axis=0)
    return "lost" if millimetres > 1e3 * LOST_M else f"{millimetres:.2g} mm, {degrees:.2g}°"


def draw_followed(m: Measured) -> None:
    figure, axes = new_figure(len(WORLDS), 2)
    for column, (world, how) in enumerate(WORLDS.items()):
        for controller, color in zip(CONTROLLERS, ("C3", "C1", "C0")):
            for k, (turn, _) in enumerate(m.followed[world, controller][: 1 + DRAWN]):
                label = f"{controller}, {'as planned' if k == 0 else 'disturbed'}" if k < 2 else None
                style = {"color": color, "linestyle": "-" if k else "--", "linewidth": 1.0 if k else 1.8, "label": label}
                held = np.cumsum(turn.distance > LOST_M) == 0  # until it is lost
                axes[0, column].plot(turn.t[held], turn.yaw[held], **style)
                axes[1, column].plot(turn.t[held], np.maximum(1e3 * turn.distance[held], 0.1), **style)
        axes[0, column].axhline(GOAL_DEG, color="0.6", linestyle=":")
        axes[0, column].set(title=f"{how.name}; {how.off}", ylabel="turn about the vertical [°]")
        axes[1, column].set(xlabel="t [s]", ylabel="centre from its place [mm]", yscale="log", ylim=(0.1, 1e3 * LOST_M))
    axes[0, -1].legend(fontsize=7)
    save_figure(figure, "thirty_degrees_feedback")


def draw(m: Measured) -> None:
    figure, axes = new_figure(2)
    for name, turn in m.turns.items():
        style = {"as planned": {"color": "k", "linewidth": 2.2}}.get(name, {"linestyle": "--" if name.startswith("h =") else "-"})
        axes[0, 0].plot(turn.t, turn.yaw, label=name, **style)
        axes[0, 1].plot(turn.t, 1e3 * turn.distance, **style)
    axes[0, 0].axhline(GOAL_DEG, color="0.6", linestyle=":")
    axes[0, 0].set(xlabel="t [s]", ylabel="turn about the vertical [°]")
    axes[0, 1].set(xlabel="t [s]", ylabel="distance of the centre from its place [mm]")
    axes[0, 0].legend(fontsize=7)
    save_figure(figure, "thirty_degrees")
    draw_followed(m)


def facts(m: Measured) -> dict:
    """What was planned, where the ball ends in each run, the rows of the table of runs with feedback, and the worlds in which the plan alone arrives."""
    return {
        "plan": {key: m.plan[key] for key in ("steps", "regrasps", "first_solution_s")},
        "turns": [[name, turn.yaw[-1], 1e3 * turn.distance[-1]] for name, turn in m.turns.items()],
        "followed": followed_rows(m),
        "pairs": {world: {name: pair_counts(m, world, name) for name in CONTROLLERS if name != "open loop"} for world in WORLDS},
        "fits": {world: m.followed[world, "open loop"][0][1]["success"] for world in WORLDS},
    }


def pair_counts(m: Measured, world: str, controller: str) -> dict[str, list[int]]:
    """Seeds in which the controller does better than open loop, and worse: of arriving [1], and by error at the end [mm, °]."""
    pairs = list(zip(*([run for _, run in m.followed[world, name][1:]] for name in (controller, "open loop"))))
    better = {"arrives": lambda one, other: one["success"] > other["success"],
              "is nearer": lambda one, other: errors_of(one)[0] < errors_of(other)[0],
              "is turned more rightly": lambda one, other: errors_of(one)[1] < errors_of(other)[1]}  # fmt: skip
    return {
        what: [sum(test(one, other) for one, other in pairs), sum(test(other, one) for one, other in pairs)]
        for what, test in better.items()
    }


def verdict_of(counts: dict[str, list[int]]) -> str:
    """What pairs of runs say of a claim that the controller does better, by the sign test."""
    told = [one > other for one, other in counts.values() if sign_test(one, other) < LEVEL]
    return "cannot be told" if not told else "is borne out" if all(told) else "is borne out in part" if any(told) else "is contradicted"


def verdicts(pairs: dict[str, dict[str, dict[str, list[int]]]]) -> str:
    """What the runs with feedback say of the slides' claim, world by world."""
    return "\n".join(
        f"- **{WORLDS[world].name}**, {controller}: {', '.join(f'{what} {one} : {other}' for what, (one, other) in counts.items())}; the claim {verdict_of(counts)}."
        for world, by_controller in pairs.items()
        for controller, counts in by_controller.items()
    )


def text(facts: dict) -> str:
    plan = facts["plan"]
    turn = {name: degrees for name, degrees, _ in facts["turns"]}
    (planned, planned_deg, planned_mm), off = facts["turns"][0], [turn[name] for name in turn if "off" in name]
    change = max(abs(degrees - planned_deg) for degrees in off)
    finer = [turn[f"h = {h} s"] for h in STEP_LENGTHS]
    goal_deg, off_mm = float(np.degrees(GOAL_RAD)), 1e3 * OFF
    goal = f"{1e2 * GOAL_M:g} cm and {GOAL_RAD:g} rad = {goal_deg:.1f}°"
    met = planned == "as planned" and abs(planned_deg - GOAL_DEG) <= goal_deg and planned_mm <= 1e3 * GOAL_M
    return f"""
# A ball turned by {GOAL_DEG:g}°, open loop and with feedback

Source: slides on which a hand turns a ball by 30° without feedback, again with the ball 3 mm off, and once more with feedback; they give no figures.
They belong to T. Pang et al., *Global planning for contact-rich manipulation via local smoothing of quasi-dynamic contact models*, T-RO 2023. Written by
`./run reproduce thirty_degrees`. **Ours**: the scene (`scenes/planning/allegro_ball.deft.yaml`, goal `sixth`, {goal}) and all numbers.

`deft plan` {claim("found", plan["first_solution_s"] is not None)} {plan["steps"]} steps of {PLANNED_STEP:g} s with
{plan["regrasps"]} regrasps after {plan["first_solution_s"]:.2f} s. The same commands, repeated by `deft sim SCENE --with plan.yaml`:

{picture("thirty_degrees")}

{table(["run", "turn [°]", "centre from its place [mm]"], facts["turns"])}

As planned {claim("the goal is met", met)}: a plan counts only if it is when all of it is simulated exactly. A start {off_mm:g} mm off
{claim("changes the turn by degrees", change >= 2)}, {change:.1f}° at most: friction drags the ball along with the fingers wherever it lies.
At finer steps the same commands {claim("turn it less", max(finer) < planned_deg)}, because steps of {PLANNED_STEP:g} s let a sliding contact carry more
than it should; a plan that has to hold there must be refined at that step length ([planning](../../src/deft/planning/README.md)).

## With feedback: on the slides' terms, and on ours

The slides' claim is that a controller of one step, which knows where the ball is, makes up for a start that is off where commands
alone do not. Their terms: the plan's own world and step, the ball's pose off at the start, the controller of one step
(`deft track --set track.horizon=1`), no new plans. Ours: the same in short steps, where the plan {claim("no longer fits", not facts["fits"]["fine"])};
then MuJoCo with friction, mass, size, delay, noise, lag and play disturbed at once (`scenes/planning/disturb/all.yaml`); and `deft track` as it is,
with three steps and new plans where the ball is off the plan ([control](../../src/deft/control/README.md)).
Settings: `scenes/reproductions/thirty_degrees.track.yaml`.
The {off_mm:g} mm are in a direction drawn across gravity, and the start settles: fingers that the ball would penetrate move aside.
`friction.rolling: 0.001` resists the ball's rolling by 0.01 N m under its weight; without it a ball that is let go rolls on for ever.
Errors are against where the plan ends; a run arrives within {goal} of it.

{picture("thirty_degrees_feedback")}

Undisturbed: the turn [°], the error at the end [mm, °] and whether it arrives; disturbed: how many seeds arrive, how many lose the ball,
medians of the errors at the end, and durations as multiples of the plan's. The figure has the first {DRAWN} of the {SEEDS} seeds.

{table(["world", "", "turn", "off [mm]", "[°]", "arrives", "disturbed", "arrive", "lost", "off", "duration"], facts["followed"])}

Seeds for : against the controller, beside open loop, and what the sign test says of it at {LEVEL:g} (where open loop arrives always, arriving says nothing):

{verdicts(facts["pairs"])}
"""
