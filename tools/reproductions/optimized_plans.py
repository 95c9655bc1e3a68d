"""First plans made to hold by `deft optimize`: shares before and after, with and without margins, in one world and in several, as `./run bench optimize` recorded them."""

from __future__ import annotations

import json
import re

from suites.optimize import FOLDER

from .experiment import ROOT, Laboratory, baseline, recorded_words, table
from .holding_study import MISSING, Study, met, share, sign_test, spread
from .holding_study import measure as measure_study

NOTHING: dict = {"systems": {}, "sources": [], "settings": json.loads((FOLDER / "settings.json").read_text())}
DEVELOPMENT = {"planar_hand": "hand", "allegro_pen": "pen", "allegro_ball": "ball"}  # names of the systems in development.json


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is run here."""
    study = Study(measure_study(lab))
    searched = [[scene, len(study.found(scene)), len(study.rows(scene))] for scene in NOTHING["settings"]["systems"]]
    development = json.loads((FOLDER / "development.json").read_text())["result"]
    return {**(baseline("optimize") or NOTHING), "searched": searched, "development": development}


def in_time(after: dict, limit_s: float) -> bool:
    """Whether a plan holds afterwards, and was made within the limit."""
    return after["holds"] and after["time_s"] <= limit_s


def shares_of(rows: list[dict], settings: dict, against_bar: bool) -> list[str]:
    """Held before, and after each variant, with what became of the bar."""
    cells = [share(sum(row["before"] for row in rows), len(rows))]
    for name in settings["variants"]:
        own = [row for row in rows if name in row]
        good = sum(in_time(row[name], settings["time_limit_s"]) for row in own)
        verdict = f", {met(good / len(own), settings['bars']['share'])}" if own and against_bar else ""
        cells.append(share(good, len(own)) + verdict if own else MISSING)
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


def failed_words(rows: list[dict], variants: dict, limit_s: float) -> list[str]:
    """Of the plans that do not hold afterwards, per variant: how many took all of the time, and how many cost what they did before."""
    cells = []
    for name in variants:
        failed = [row[name] for row in rows if name in row and not in_time(row[name], limit_s)]
        late = sum(after["time_s"] >= limit_s for after in failed)
        same = sum(after["cost"] == after["cost_before"] for after in failed)
        cells.append(f"{len(failed)} failed: {late} at the limit, {same} unchanged" if failed else MISSING)
    return cells


def undecided_words(systems: dict[str, list[dict]], limit_s: float) -> str:
    """Where one of two variants made plans hold that the other did not, and how likely so uneven a split is by chance."""
    lines = []
    for scene, rows in systems.items():
        for other in ("without margins", "one world"):
            pairs = [tuple(in_time(row[name], limit_s) for name in ("optimized", other)) for row in rows if other in row]
            ours, theirs = sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)
            if ours + theirs:
                lines.append(
                    f"{scene}, {ours} by the settings of the scene alone against {theirs} {other} alone (p = {sign_test(ours, theirs):.2g})"
                )
    return f"Seeds that only one of two variants made hold, with the two-sided sign test: {'; '.join(lines)}." if lines else ""


def draw(result: dict) -> None:
    """The page has no figure."""


def text(result: dict) -> str:
    settings = result["settings"]
    variants, seconds, bar = settings["variants"], settings["time_limit_s"], 100 * settings["bars"]["share"]
    systems = {name: own["rows"] for name, own in result["systems"].items()}
    rows = [[scene, *shares_of(systems.get(scene, []), settings, True), *times_of(systems.get(scene, []), step_of(scene), seconds)]
            for scene in settings["systems"]]  # fmt: skip
    before = result["development"]["systems"]
    development = [[scene, *shares_of(before[name]["rows"], settings, False)] for scene, name in DEVELOPMENT.items()]
    searched = [f"{scene} {good} of {count}" for scene, good, count in result["searched"]]
    recorded = f" {recorded_words(result['sources'])}"
    without = ", ".join(f"{name}: {own['seeds'] - len(own['rows'])} of {own['seeds']}" for name, own in result["systems"].items())
    return f"""
# First plans, made to hold

Written by `./run reproduce optimized_plans` from what `./run bench optimize` recorded (`benchmarks/baselines/optimize.json`): the first plan of `deft plan --first` for every seed,
then `deft optimize` with {seconds:g} s of wall time, which plans as it stands hold before all judges before and after.{recorded}
Settings were frozen, and seeds drawn from the commit that froze them ([benchmarks/optimize](../../benchmarks/optimize)).

- **optimized**: the settings of the scenes (`optimize:`), forces of fingers within half of their friction cones, drawn worlds beside the steps of h and h/n.
- **without margins**: `cone_share: 1`, `force_weight: 0`: forces may reach the sides of their cones.
- **one world**: `corners: 0`: no drawn worlds.

Every run has {settings["threads"]} threads, {settings["at_once"]} at once. Shares with Wilson's interval of `95 %`; times p50 and p95 in seconds.

{table(["system", "first plans that hold", *variants, "time of those that hold", "their duration before", "and after"], rows)}

What was asked: {bar:g} % of {settings["seeds"]["count"]} plans each, in {seconds:g} s; a plan that was made to hold later does not count. The last columns say how long plans last before and after.
Seeds without a first plan, which count in no row: {without or MISSING}.

What became of plans that were not made to hold: how many took the {seconds:g} s, and how many ended as they began:

{table(["system", *variants], [[scene, *failed_words(systems.get(scene, []), variants, seconds)] for scene in settings["systems"]])}

{undecided_words(systems, seconds)}
Commands are what is changed; grasps stay those of the plan or their like. The search for [plans that hold](plans_that_hold.md) draws others, and
finds, of its seeds, within its own limit: {", ".join(searched)}.

## Seeds of the development

An earlier version of this page had the seeds that were looked at while the method was made, on another machine. Their shares:

{table(["system", "first plans that hold", *variants], development)}
"""
