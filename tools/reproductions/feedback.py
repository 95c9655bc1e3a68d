"""Plans followed in MuJoCo while things go wrong: open loop and with feedback, from recorded runs."""

from __future__ import annotations

import math

import numpy as np

from .experiment import Laboratory, baseline, new_figure, save_figure, table, write_page

WORDS = {"open-loop": "open loop", "mpc": "feedback"}
COLORS = {"open-loop": "C3", "mpc": "C0"}
KEYS = {"position_m": ("position [mm]", 1e3), "rotation_rad": ("rotation [rad]", 1.0)}
TOLERANCES = {"position_m": 0.01, "rotation_rad": 0.1}  # of an arrival
LOST_M = 0.2  # an object that ends farther from its place has left the robot
SHOWN = {"position_m": (1e-4, 2.0), "rotation_rad": (1e-3, 5.0)}  # errors that the figures tell apart; others lie on the edge


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is simulated here."""
    return baseline("feedback")


def errors(rows: list[dict], key: str) -> np.ndarray:
    return np.array([math.inf if row[key] is None else row[key] for row in rows])


def quantile(rows: list[dict], key: str, share: float) -> float:
    """Between the runs, so that an infinite one does not spoil those below it."""
    values = np.sort(errors(rows, key))
    place = share * (len(values) - 1)
    low, high = values[math.floor(place)], values[math.ceil(place)]
    return float(low if place == math.floor(place) or low == high else low + (place - math.floor(place)) * (high - low))


def wilson(successes: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval of a share: Wilson's score."""
    share, spread = successes / count, z * z / count
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max((centre - half) / (1 + spread), 0.0), (centre + half) / (1 + spread)  # the bound of no success is 0 but for rounding


def arrivals(rows: list[dict]) -> str:
    return f"{sum(row['success'] for row in rows)}/{len(rows)}"


def number(value: float, key: str = "") -> str:
    """For a table, in the unit of its column."""
    if key == "position_m" and value > LOST_M:
        return "lost"
    return "∞" if math.isinf(value) else f"{value * KEYS[key][1] if key else value:.2g}"


def ratio(cell: dict, key: str) -> float:
    """Median of the open loop to that of the feedback."""
    open_loop, fed = (quantile(cell[controller], key, 0.5) for controller in WORDS)
    return math.inf if math.isinf(open_loop) or fed == 0 else open_loop / fed


def complete(system: dict, disturbance: str) -> bool:
    return all(controller in system["cells"].get(disturbance, {}) for controller in WORDS)


def draw_errors(systems: dict) -> str:
    """Where the objects end, all runs under all disturbances."""
    figure, axes = new_figure(2)
    for axis, (key, (label, scale)) in zip(axes[0], KEYS.items()):
        for k, system in enumerate(systems.values()):
            for controller, rows in system["cells"].get("all", {}).items():
                values = np.clip(errors(rows, key), *SHOWN[key]) * scale
                place = k + (0.2 if controller == "mpc" else -0.2)
                spread = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else np.zeros(1)
                axis.plot(
                    place + spread,
                    values,
                    "o",
                    markersize=2.5,
                    alpha=0.6,
                    color=COLORS[controller],
                    label=WORDS[controller] if k == 0 else None,
                )
                axis.plot([place - 0.17, place + 0.17], [float(np.median(values))] * 2, color=COLORS[controller], linewidth=2)
        axis.axhline(TOLERANCES[key] * scale, color="0.4", linestyle=":")
        axis.set(yscale="log", ylabel=f"final error of {label}", ylim=[0.8 * SHOWN[key][0] * scale, 1.25 * SHOWN[key][1] * scale])
        axis.set_xticks(range(len(systems)), [name.replace("_", "\n") for name in systems], fontsize=8)
    axes[0, 1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return save_figure(figure, "feedback_errors")


def draw_courses(systems: dict) -> str:
    """How far the objects are from where the plan ends, over the time of one run under all disturbances."""
    shown = {name: system["courses"]["all"] for name, system in systems.items() if "all" in system["courses"]}
    figure, axes = new_figure(len(shown), 2)
    for column, (name, courses) in enumerate(shown.items()):
        for row, (key, (label, scale)) in enumerate(KEYS.items()):
            axis = axes[row, column]
            for controller, course in courses.items():
                axis.plot(course["t"], np.clip(course[key], *SHOWN[key]) * scale, color=COLORS[controller], label=WORDS[controller])
                if row == 0 and course["replanned_at"]:
                    axis.plot(course["replanned_at"], np.full(len(course["replanned_at"]), 0.02), "|", color=COLORS[controller], markersize=5,
                              transform=axis.get_xaxis_transform(), label="new plan")  # fmt: skip
            axis.axhline(TOLERANCES[key] * scale, color="0.4", linestyle=":")
            axis.set(yscale="log", xlabel="t [s]" if row else "", title="" if row else name.replace("_", " "),
                     ylim=[0.8 * SHOWN[key][0] * scale, 1.25 * SHOWN[key][1] * scale])  # fmt: skip
            if column == 0:
                axis.set_ylabel(f"{label.replace('[', 'from the end [')}")
    axes[0, -1].legend(fontsize=7)
    return save_figure(figure, "feedback_courses")


def all_rows(systems: dict) -> list[list]:
    rows = []
    for name, system in systems.items():
        for controller, runs in system["cells"].get("all", {}).items():
            low, high = wilson(sum(run["success"] for run in runs), len(runs))
            replans = [run["replans"] for run in runs]
            seconds = sum(run["replan_s"] or 0 for run in runs) / max(sum(replans), 1)
            rows.append([name, WORDS[controller], len(runs), *(number(quantile(runs, key, share), key) for key in KEYS for share in (0.5, 0.95)), arrivals(runs),
                         f"{100 * low:.0f} … {100 * high:.0f} %", f"{np.median(replans):g}", f"{seconds:.2g}" if sum(replans) else "–"])  # fmt: skip
    return rows


def bar_rows(systems: dict, asked_ratio: float) -> list[list]:
    """What is asked of feedback, and whether it is met."""
    rows = []
    for name, system in systems.items():
        if not complete(system, "all"):
            continue
        cell = system["cells"]["all"]
        ratios = [ratio(cell, key) for key in KEYS]
        share = float(np.mean([row["success"] for row in cell["mpc"]]))
        met = lambda value, asked: "met" if value >= asked else "missed"  # noqa: E731
        rows.append([name, *(f"{number(value)} ({met(value, asked_ratio)})" for value in ratios),
                     f"{100 * share:.0f} % ({met(share, system['asked_share'])}: {100 * system['asked_share']:.0f} %)"])  # fmt: skip
    return rows


def undisturbed_rows(systems: dict) -> list[list]:
    rows = []
    for name, system in systems.items():
        if complete(system, "none"):
            (plain,), (fed,) = (system["cells"]["none"][controller] for controller in WORDS)
            values = [number(math.inf if row[key] is None else row[key], key) for key in KEYS for row in (plain, fed)]
            worse = [label.split()[0] for key, (label, _) in KEYS.items() if errors([fed], key)[0] > errors([plain], key)[0]]
            rows.append(
                [
                    name,
                    *values,
                    f"{'yes' if plain['success'] else 'no'}, {'yes' if fed['success'] else 'no'}",
                    " and ".join(worse) or "nowhere",
                    fed["replans"],
                ]
            )
    return rows


def alone_rows(systems: dict) -> list[list]:
    rows = []
    for name, system in systems.items():
        single = [word for word in system["cells"] if word not in ("none", "all") and complete(system, word)]
        for k, word in enumerate(single):
            cell = system["cells"][word]
            pairs = [number(quantile(cell[controller], key, 0.5), key) for key in KEYS for controller in WORDS]
            rows.append(
                [
                    name if k == 0 else "",
                    word,
                    *pairs,
                    *(arrivals(cell[controller]) for controller in WORDS),
                    f"{np.median([row['replans'] for row in cell['mpc']]):g}",
                ]
            )
    return rows


def failures(systems: dict) -> list[str]:
    """How runs with feedback end that do not arrive, all disturbances at once."""
    lines = []
    for name, system in systems.items():
        runs = system["cells"].get("all", {}).get("mpc", [])
        missed = [run for run in runs if not run["success"]]
        if not missed:
            continue
        lost = [run for run in missed if run["position_m"] is None or run["position_m"] > LOST_M]
        words: dict[str, int] = {}
        for run in missed:
            words[run["status"]] = words.get(run["status"], 0) + 1
        lines.append(f"- {name}: {len(missed)} of {len(runs)} runs do not arrive ({', '.join(f'{count} {word}' for word, count in sorted(words.items()))}); in {len(lost)} of them the object "
                     f"ends more than {LOST_M:g} m from its place. Seeds: {', '.join(str(run['seed']) for run in missed)}.")  # fmt: skip
    return lines or ["- Every run arrives."]


def system_rows(systems: dict) -> list[list]:
    code = lambda values: " ".join(f"`{value}`" for value in values) or "–"  # noqa: E731
    return [[name, system["goal"], code(system["set_plan"]), code(system["set_track"]), system["plan"]["steps"], system["plan"]["regrasps"],
             *(f"{run['t_end']:.3g}" for run in system["cells"].get("none", {}).get("open-loop", [])[:1])] for name, system in systems.items()]  # fmt: skip


def disturbance_rows(files: dict) -> list[list]:
    """The first line of each file says what it does."""
    return [
        [
            f"`{name}`",
            text.splitlines()[0].lstrip("# ").rstrip("."),
            ", ".join(f"`{line}`" for line in text.splitlines()[1:] if line.strip()),
        ]
        for name, text in files.items()
    ]


def draw(result: dict) -> None:
    systems = result["systems"]
    shown = [line for system in list(systems.values())[:1] for line in system["settings"][:2]]
    own = [f"- {name}: {'; '.join(system['settings'][2:])}" for name, system in systems.items()]
    absent = "".join(f"\n- not measured: {who} ({why})" for who, why in result["absent"].items())
    newline, quick = "\n", [name for name, system in systems.items() if system["quick"]]
    write_page(
        "feedback",
        f"""
# Plans that are followed while things go wrong

Source: T. Pang's slides of 2022, *Planning and control for contact-rich manipulation*: contact-rich plans open loop and stabilised by a program of one step, without figures. Written by `./run reproduce feedback` from
what it records (hours; it goes on where it was cut short; `--quick`: a few seeds). **Ours**: scenes, disturbances, controller and all numbers.

A plan is quasidynamic; the world it is followed in is MuJoCo, of second order, which shares no code with deft ([plant](../../src/deft/plant/README.md)). `deft track PLAN --plant mujoco --controller
open-loop` plays its commands, re-timed to the robots' speed; `--controller mpc` corrects them every 5 ms and asks for a new plan when the object is off the old one
([control](../../src/deft/control/README.md)). What goes wrong is drawn per seed, the same for both. A run arrives if every object ends within {1e3 * TOLERANCES["position_m"]:g} mm and
{TOLERANCES["rotation_rad"]:g} rad of where the first plan ends.

{table(["system", "goal", "plan made with", "followed with ([settings](../../scenes/planning/feedback/README.md))", "steps", "regrasps", "open loop takes [s]"], system_rows(systems))}

## All disturbances at once

{draw_errors(systems)}

Every dot is a run, bars are medians, dotted lines the tolerances; larger errors lie on the upper edge.

{table(["system", "", "runs", "position [mm], median", "95th percentile", "rotation [rad], median", "95th percentile", "arrive", "95 % interval", "new plans, median", "wall time of each [s]"], all_rows(systems))}

What was asked of feedback: medians at least {result["asked_ratio"]:g} times smaller than open loop's, and enough arrivals.

{table(["system", "position, open loop / feedback", "rotation", "arrivals with feedback"], bar_rows(systems, result["asked_ratio"]))}

Runs with feedback that do not arrive:

{newline.join(failures(systems))}

{draw_courses(systems)}

The first seed of each system: distance of the object from where the plan ends; ticks at the bottom are new plans. These runs are of the loop before new plans were searched
for beside it: plans made at h alone and slowed down to 0.1 rad/s and m/s, the robots held for half a second of the plant's time while a plan was made, whatever finding it took on the wall
(last column of the table), and MuJoCo's contact was harder. An object that ends more than {LOST_M:g} m from its place is lost.

## Without a disturbance

{table(["system", "position [mm], open loop", "feedback", "rotation [rad], open loop", "feedback", "arrive", "feedback is worse in", "new plans"], undisturbed_rows(systems))}

## One disturbance at a time

Medians.

{table(["system", "disturbance", "position [mm], open loop", "feedback", "rotation [rad], open loop", "feedback", "arrive, open loop", "feedback", "new plans"], alone_rows(systems))}

## What goes wrong, and where

`scenes/planning/disturb`; shares are drawn evenly within ±.

{table(["file", "what", "amounts"], disturbance_rows(result["disturbances"]))}

The plant: {"; ".join(shown)}.

{newline.join(own)}

{f"Made from a few seeds, for trying: {', '.join(quick)}." if quick else ""}{absent}
""",
    )
