"""First plans made to hold by `deft optimize`: shares before and after, with and without margins, in one world and in several, as `./run bench optimize` recorded them."""

from __future__ import annotations

import math
import re

from suites.optimize import VARIANTS, rose

from .experiment import ROOT, Laboratory, baseline, record_words, table
from .holding_study import MISSING, Study, met, share, spread
from .holding_study import measure as measure_study

SCENES = {"hand": "planar_hand", "pen": "allegro_pen", "ball": "allegro_ball"}
BAR = 0.6


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is run here."""
    study = Study(measure_study(lab))
    searched = [[scene, len(study.found(scene)), len(study.rows(scene))] for scene in SCENES.values()]
    return {**(baseline("optimize") or {"systems": {}, "sources": []}), "searched": searched}


def in_time(after: dict, limit_s: float) -> bool:
    """Whether a plan holds afterwards, and was made within the limit."""
    return after["holds"] and after["time_s"] <= limit_s


def shares_of(rows: list[dict], limit_s: float) -> list[str]:
    """Held before, and after each variant, with what became of the bar."""
    cells = [share(sum(row["before"] for row in rows), len(rows))]
    for name in VARIANTS:
        own = [row for row in rows if name in row]
        good = sum(in_time(row[name], limit_s) for row in own)
        cells.append(f"{share(good, len(own))}, {met(good / len(own), BAR)}" if own else MISSING)
    return cells


def times_of(rows: list[dict], h: float, limit_s: float) -> list[str]:
    """Of those that hold afterwards: wall time, how long the same plans took before, and how long they take."""
    held = [row for row in rows if "optimized" in row and in_time(row["optimized"], limit_s)]
    after = [row["optimized"] for row in held]
    return [
        spread([row["time_s"] for row in after]),
        spread([h * row["steps"] for row in held]),
        spread([row["duration_s"] for row in after]),
    ]


def step_of(scene: str) -> float:
    """h [s] of a planning scene."""
    return float(re.search(r"^step: \{h: ([\d.]+)", (ROOT / f"scenes/planning/{scene}.deft.yaml").read_text(), re.M)[1])  # type: ignore[index]


def draw(result: dict) -> None:
    """The page has no figure."""


def text(result: dict) -> str:
    systems = {name: own["rows"] for name, own in result["systems"].items()}
    seconds = result.get("time_limit_s", math.inf)
    rows = [
        [scene, *shares_of(systems.get(name, []), seconds), *times_of(systems.get(name, []), step_of(scene), seconds)]
        for name, scene in SCENES.items()
    ]
    searched = [f"{scene} {good} of {count}" for scene, good, count in result.get("searched", [])]
    limit = f"{result['time_limit_s']:g} s" if "time_limit_s" in result else MISSING
    recorded = f" Recorded {record_words(result['sources'])}" if result["sources"] else " **Nothing has been recorded yet.**"
    at_once = ", ".join(f"{SCENES[name]}: {own['at_once']}" for name, own in result["systems"].items() if own.get("at_once", 1) > 1)
    without = ", ".join(f"{SCENES[name]}: {own['seeds'] - len(own['rows'])} of {own['seeds']}" for name, own in result["systems"].items())
    rising = sum(rose(row[name]) for own in systems.values() for row in own for name in VARIANTS if name in row)
    return f"""
# First plans, made to hold

Written by `./run reproduce optimized_plans` from what `./run bench optimize` recorded (`benchmarks/baselines/optimize.json`): the first plan of `deft plan --first` for every seed,
then `deft optimize` with {limit} of wall time, which plans as it stands hold before all judges before and after.{recorded}

- **optimized**: the settings of the scenes (`optimize:`), forces of fingers within half of their friction cones, drawn worlds beside the steps of h and h/n.
- **without margins**: `cone_share: 1`, `force_weight: 0`: forces may reach the sides of their cones.
- **one world**: `corners: 0`: no drawn worlds.

Every run has two threads; more than one run at once: {at_once or "none"}. Shares with Wilson's interval of `95 %`; times p50 and p95 in seconds.

{table(["system", "first plans that hold", *VARIANTS, "time of those that hold", "their duration before", "and after"], rows)}

What was asked: {100 * BAR:g} % of 50 plans each, in {limit}; a plan that was made to hold later does not count. The last columns say how long plans last before and after.
The seeds were looked at while the method was made, so that these shares are those of its development. Plans that do not hold and whose cost rose: {rising if systems else MISSING}. Seeds without a first plan, which count in no row: {without or MISSING}.
Where the share stays below: commands are what is changed, grasps stay those of the plan or their like; a grasp that slips at
other step lengths is not made to hold by other commands. The search for [plans that hold](plans_that_hold.md) draws others, and
finds, of its seeds, within its own limit: {", ".join(searched) or MISSING}.
"""
