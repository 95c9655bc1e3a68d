"""Plans of quasidynamic planning played open loop in Drake, segment by segment (the published planner's sim-to-sim check), from recorded runs."""

from __future__ import annotations

import json

import numpy as np
from suites.sim_to_sim import FOLDER

from .experiment import Laboratory, baseline, claim, new_figure, picture, record_words, recorded_words, save_figure, table
from .holding_study import LOST_M, MISSING

KEYS = {"position_m": "m", "rotation_rad": "rad"}
IN_THE_PLANE = ("planar_pushing", "planar_hand", "planar_bimanual")
LEAST = 1e-4  # of the axes [m, rad]


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is simulated here."""
    first = json.loads((FOLDER / "first_version.json").read_text())
    settings = json.loads((FOLDER / "settings.json").read_text())
    return {**(baseline("sim-to-sim") or {"systems": {}, "sources": [], "settings": settings}), "first_version": first}


def can_move(rows: list[dict], key: str) -> bool:
    """Whether any plan moves the object in this way: a hinge has no position."""
    return any(row["moved_" + key] > 0 for row in rows)


def quartile_words(rows: list[dict], key: str) -> str:
    """ "0.01 (0.002 … 0.1)": the median and the quartiles."""
    if not can_move(rows, key):
        return MISSING
    low, middle, high = np.percentile([row[key] for row in rows], [25, 50, 75])
    return f"{middle:.2g} ({low:.2g} … {high:.2g})"


def of_plant(result: dict, approximation: str) -> dict[str, list[dict]]:
    """The segments of every system, under one of Drake's approximations."""
    return {name: [row for row in system["rows"] if row["approximation"] == approximation] for name, system in result["systems"].items()}


def system_rows(systems: dict[str, list[dict]]) -> list[list]:
    return [[name, len({row["seed"] for row in rows}), len(rows), *(f"{np.median([row['moved_' + key] for row in rows]):.2g}" if can_move(rows, key) else MISSING for key in KEYS),
             *(quartile_words(rows, key) for key in KEYS), sum(row["position_m"] > LOST_M for row in rows)] for name, rows in systems.items()]  # fmt: skip


def ordering_words(systems: dict[str, list[dict]]) -> str:
    """Whether errors are smaller in the plane than in space, as published, and both medians."""

    def middle(in_plane: bool, key: str) -> float:
        own = [rows for name, rows in systems.items() if (name in IN_THE_PLANE) == in_plane and can_move(rows, key)]
        return float(np.median([row[key] for rows in own for row in rows]))

    sentences = []
    for key, unit in KEYS.items():
        plane, space = (middle(in_plane, key) for in_plane in (True, False))
        what = ("positions", "rotations")[key == "rotation_rad"]
        how = claim("smaller, as published", plane < space) if plane < space else claim("not smaller, other than published", plane >= space)
        sentences.append(f"errors of {what} are {how} ({plane:.2g} {unit} against {space:.2g} {unit})")
    return f"In the plane, medians against those in space, {'; '.join(sentences)}."


def draw(result: dict) -> None:
    figure, axes = new_figure(2)
    for axis, (key, unit) in zip(axes[0], KEYS.items()):
        for number, approximation in enumerate(result["settings"]["approximations"]):
            draw_plant(axis, of_plant(result, approximation), key, number, approximation)
        names = list(result["settings"]["systems"])
        axis.set(yscale="log", ylabel=f"off at the end of a segment [{unit}]", xlim=(-0.5, len(names) - 0.5), ylim=(LEAST / 1.5, None))
        axis.set_xticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=7, rotation=40, ha="right")
    if result["systems"]:
        axes[0][0].legend(fontsize=7)
    save_figure(figure, "sim_to_sim")


def draw_plant(axis, systems: dict[str, list[dict]], key: str, number: int, label: str) -> None:
    """The segments of one plant as dots, their medians as lines, beside those of the others."""
    for k, rows in enumerate(systems.values()):
        if not can_move(rows, key):
            continue
        x, values = k - 0.2 + 0.4 * number, np.maximum([row[key] for row in rows], LEAST)
        axis.plot(x + np.linspace(-0.15, 0.15, len(values)), values, ".", color=f"C{number}", markersize=3, label=label)
        axis.plot([x - 0.17, x + 0.17], [np.median(values)] * 2, color="C3")
        label = "_"  # once in the legend


def text(result: dict) -> str:
    settings, first = result["settings"], result["first_version"]
    recorded = recorded_words(result["sources"])
    main, other = settings["approximations"]
    columns = ["system", "plans", "segments", "moves [m], p50", "[rad]", "off [m], p50 (quartiles)", "[rad]", f"lost (> {LOST_M:g} m)"]
    systems, seeds = of_plant(result, main), settings["seeds"]
    tried = ", ".join(f"{name} {own['seeds']}" for name, own in result["systems"].items())
    return f"""
# First plans in another simulator, segment by segment

Source: T. Pang, H. J. T. Suh, L. Yang and R. Tedrake, *Global planning for contact-rich manipulation via local smoothing of quasi-dynamic contact models*, IEEE T-RO 2023, Fig. 12.
Written by `./run reproduce sim_to_sim` from what `./run bench sim-to-sim --record` recorded, which needs Drake. {recorded}
Settings were frozen, and seeds drawn from the commit that froze them ([benchmarks/sim_to_sim](../../benchmarks/sim_to_sim)).

**Given**: the systems; segments of plans between regrasps, played open loop in Drake on stiffness-controlled robots from the plan's own state; errors on a logarithmic axis, small in the plane, larger in
space, from about 1e-3 to 3 m or rad; no table. **Ours**: everything else. Plans are the first of one step length that `deft plan scenes/planning/NAME.deft.yaml --first` finds,
{settings["batch"]} seeds a system, more (of {seeds["count"]}) until {settings["least_segments"]} segments have contact; a seed without a plan, or without a segment that has contact, is in no row. Seeds tried: {tried or MISSING}.
Joint targets move by at most {settings["speed"]:g} rad/s or m/s, the last command of a segment is held for {settings["settle_s"]:g} s; dampers of
the joints are D = max(2 √(K M_ii), K · `10 ms`); objects that gravity does not act on feel −γ M v, γ = 1/h. Steps are {1e3 * settings["step_s"]:g} ms. Drake's contact approximation is
`{main}`, that of the study of [plans that hold](plans_that_hold.md).

{picture("sim_to_sim")}

Dots: segments; lines: medians. An object that only turns has no position.

{table(columns, system_rows(systems))}

{ordering_words(systems) if systems else MISSING} Such plans are made for one length of step; what makes plans hold elsewhere, and how many then arrive, open loop
and with feedback, is on the page [plans that hold](plans_that_hold.md).

## With the other approximation

The same segments under `{other}`, with which what begins to slide can be thrown up ([why worlds disagree](worlds_disagree.md)): part of these errors is this plant's.

{table(columns, system_rows(of_plant(result, other)))}

The first version of this page had `{other}` alone, with seeds 2001 and after, none of them drawn ({record_words(list(first["sources"].values())).rstrip(".")}):

{table(columns, system_rows(first["result"]["systems"]))}
"""
