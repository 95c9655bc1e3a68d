"""First plans made to hold by `deft optimize`: shares before and after, with and without margins, in one world and in several, as `./run bench optimize` recorded them."""

from __future__ import annotations

from suites.optimize import VARIANTS, rose

from .experiment import Laboratory, baseline, record_words, table
from .holding_study import MISSING, share, spread

SCENES = {"hand": "planar_hand", "pen": "allegro_pen", "ball": "allegro_ball"}
BAR = 0.6


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is run here."""
    return baseline("optimize") or {"systems": {}, "sources": []}


def shares_of(rows: list[dict]) -> list[str]:
    """Held before, and after each variant."""
    cells = [share(sum(row["before"] for row in rows), len(rows))]
    for name in VARIANTS:
        own = [row for row in rows if name in row]
        cells.append(share(sum(row[name]["holds"] for row in own), len(own)))
    return cells


def times_of(rows: list[dict]) -> list[str]:
    """Of those that hold afterwards: wall time, and how long plans take."""
    held = [row["optimized"] for row in rows if "optimized" in row and row["optimized"]["holds"]]
    return [spread([row["time_s"] for row in held]), spread([row["duration_s"] for row in held])]


def draw(result: dict) -> None:
    """The page has no figure."""


def text(result: dict) -> str:
    systems = {name: own["rows"] for name, own in result["systems"].items()}
    rows = [[scene, *shares_of(systems.get(name, [])), *times_of(systems.get(name, []))] for name, scene in SCENES.items()]
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

{table(["system", "first plans that hold", *VARIANTS, "time of those that hold", "duration of these plans"], rows)}

What was asked: {100 * BAR:g} % of 50 plans each, in {limit}. Plans that do not hold and whose cost rose: {rising if systems else MISSING}. Seeds without a first plan, which count in no row: {without or MISSING}.
Where the share stays below: commands are what is changed, grasps stay those of the plan or their like; a grasp that slips at
other step lengths is not made to hold by other commands. The search for [plans that hold](plans_that_hold.md) draws others, and finds them.
"""
