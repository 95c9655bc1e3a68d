"""Plans of quasidynamic planning played open loop in Drake, segment by segment (the published planner's sim-to-sim check), from recorded runs."""

from __future__ import annotations

import sys

import numpy as np

from .experiment import Laboratory, baseline, new_figure, picture, record_words, save_figure, table
from .holding_study import LOST_M, MISSING

KEYS = {"position_m": "m", "rotation_rad": "rad"}
IN_THE_PLANE = ("planar_pushing", "planar_hand", "planar_bimanual")
LEAST = 1e-4  # of the axes [m, rad]


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is simulated here."""
    recorded = baseline("sim-to-sim")
    if not recorded:
        sys.exit("reproduce: nothing was recorded; ./run reproduce sim-to-sim does (needs Drake)")
    return recorded


def can_move(rows: list[dict], key: str) -> bool:
    """Whether any plan moves the object in this way: a hinge has no position."""
    return any(row["moved_" + key] > 0 for row in rows)


def quartile_words(rows: list[dict], key: str) -> str:
    """ "0.01 (0.002 … 0.1)": the median and the quartiles."""
    if not can_move(rows, key):
        return MISSING
    low, middle, high = np.percentile([row[key] for row in rows], [25, 50, 75])
    return f"{middle:.2g} ({low:.2g} … {high:.2g})"


def system_rows(systems: dict[str, list[dict]]) -> list[list]:
    return [[name, len({row["seed"] for row in rows}), len(rows), *(f"{np.median([row['moved_' + key] for row in rows]):.2g}" if can_move(rows, key) else MISSING for key in KEYS),
             *(quartile_words(rows, key) for key in KEYS), sum(row["position_m"] > LOST_M for row in rows)] for name, rows in systems.items()]  # fmt: skip


def ordering_words(systems: dict[str, list[dict]]) -> str:
    """Whether errors are smaller in the plane than in space, as published, and both medians."""

    def middle(in_plane: bool, key: str) -> float:
        own = [rows for name, rows in systems.items() if (name in IN_THE_PLANE) == in_plane and can_move(rows, key)]
        return float(np.median([row[key] for rows in own for row in rows]))

    smaller = [middle(True, key) < middle(False, key) for key in KEYS]
    word = (
        "As published, errors are"
        if all(smaller)
        else "Of one measure errors are"
        if any(smaller)
        else "Other than published, errors are not"
    )
    medians = [f"{middle(True, key):.2g} {unit} in the plane, {middle(False, key):.2g} {unit} in space" for key, unit in KEYS.items()]
    return f"{word} smaller in the plane than in space (medians: {'; '.join(medians)})."


def draw(result: dict) -> None:
    systems = result["systems"]
    figure, axes = new_figure(2)
    for axis, (key, unit) in zip(axes[0], KEYS.items()):
        for k, rows in enumerate(systems.values()):
            if not can_move(rows, key):
                continue
            values = np.maximum([row[key] for row in rows], LEAST)
            axis.plot(k + np.linspace(-0.25, 0.25, len(values)), values, ".", color="C0", markersize=4)
            axis.plot([k - 0.3, k + 0.3], [np.median(values)] * 2, color="C3")
        axis.set(yscale="log", ylabel=f"off at the end of a segment [{unit}]", xlim=(-0.5, len(systems) - 0.5), ylim=(LEAST / 1.5, None))
        axis.set_xticks(range(len(systems)), [name.replace("_", " ") for name in systems], fontsize=7, rotation=40, ha="right")
    save_figure(figure, "sim_to_sim")


def text(result: dict) -> str:
    systems = result["systems"]
    return f"""
# First plans in another simulator, segment by segment

Source: T. Pang, H. J. T. Suh, L. Yang and R. Tedrake, *Global planning for contact-rich manipulation via local smoothing of quasi-dynamic contact models*, IEEE T-RO 2023, Fig. 12.
Written by `./run reproduce sim_to_sim` from what `./run bench sim-to-sim --record` recorded, which needs Drake: {record_words(result["sources"])}

**Given**: the systems; segments of plans between regrasps, played open loop in Drake on stiffness-controlled robots from the plan's own state; errors on a logarithmic axis, small in the plane, larger in
space, from about 1e-3 to 3 m or rad; no table. **Ours**: everything else. Plans are the first of one step length that `deft plan scenes/planning/NAME.deft.yaml --first` finds, seeds {result["seeds"][1]} and after,
{result["seeds"][0]} a system, more until ten segments have contact; a seed without a plan, or without a segment that has contact, is in no row. Joint targets move by at most {result["speed"]:g} rad/s or m/s, the last command of a segment is held for {result["settle_s"]:g} s; dampers of
the joints are D = max(2 √(K M_ii), K · `10 ms`); objects that gravity does not act on feel −γ M v, γ = 1/h. Steps are {1e3 * result["step_s"]:g} ms, Drake's solver is SAP, with which
what begins to slide can be thrown up ([why worlds disagree](worlds_disagree.md)): part of these errors is this plant's. The study of plans that hold uses its lagged one.

{picture("sim_to_sim")}

Dots: segments; lines: medians. An object that only turns has no position.

{table(["system", "plans", "segments", "moves [m], p50", "[rad]", "off [m], p50 (quartiles)", "[rad]", f"lost (> {LOST_M:g} m)"], system_rows(systems))}

{ordering_words(systems)} Such plans are made for one length of step; what makes plans hold elsewhere, and how many then arrive, open loop
and with feedback, is on the page [plans that hold](plans_that_hold.md).
"""
