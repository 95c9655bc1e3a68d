"""Plans that hold: how many are found, which judges they pass, and where they lead in simulators that share no code with the planner, from recorded cells."""

from __future__ import annotations

import json
import math
from pathlib import Path

from .experiment import ROOT, Laboratory, new_figure, record_words, save_figure, table, write_page
from .feedback import wilson

FOLDER = ROOT / "benchmarks/plans_that_hold"  # cells of `./run bench plans-that-hold`, which needs MuJoCo and Drake
PLANNING = "plan"  # the plant of cells that hold plans
MISSING = "–"
WORLDS, INNER_STEP_S = 10, 0.01  # kWorlds and kStep_s of planning/ensemble
Rows = list[dict]


def measure(lab: Laboratory, folder: Path = FOLDER) -> dict:
    """What was recorded; nothing is run here. "cells": rows by system, variant and plant; "heads": what the cells say of themselves."""
    cells: dict[str, Rows] = {}
    heads = []
    for file in sorted((folder / "cells").glob("*.json"), key=lambda file: (file.stem.rsplit(".", 1)[0], int(file.stem.rsplit(".", 1)[1]))):
        cell = json.loads(file.read_text())
        cells.setdefault(name_of(cell["system"], cell["variant"], cell["plant"]), []).extend(cell.pop("rows"))
        heads.append(cell)
    kept = {name: folder / f"{name}.json" for name in ("seeds", "obstacles", "first_version")}
    return {"settings": json.loads((folder / "settings.json").read_text()), "cells": cells, "heads": heads,
            **{name: json.loads(file.read_text()) if file.exists() else None for name, file in kept.items()}}  # fmt: skip


def name_of(system: str, variant: str, plant: str) -> str:
    return f"{system}.{variant}.{plant}"


def share(good: int, count: int) -> str:
    """ "45/50 (79 … 96 %)": Wilson's interval of 95 %."""
    if count == 0:
        return MISSING
    low, high = wilson(good, count)
    return f"{good}/{count} ({100 * low:.0f} … {100 * high:.0f} %)"


def percentile(values: list[float], part: float) -> float:
    """The smallest value that is not exceeded by at least `part` of them; there must be some."""
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


def spread(values: list[float | None]) -> str:
    """ "1.2, 8.1": p50 and p95 of those that there are."""
    known = [value for value in values if value is not None]
    return f"{percentile(known, 0.5):.3g}, {percentile(known, 0.95):.3g}" if known else MISSING


class Study:
    """The cells with the words of the settings."""

    def __init__(self, result: dict):
        self.settings, self.cells = result["settings"], result["cells"]

    def rows(self, system: str, variant: str = "default", plant: str = PLANNING) -> Rows:
        return self.cells.get(name_of(system, variant, plant), [])

    def is_found(self, row: dict) -> bool:
        """A plan that holds, within the time limit: what was begun in time may end later, and then it counts as none. With `--first`: a plan at h."""
        seconds = row["first_solution_s"] if row["first_holding_s"] is None else row["first_holding_s"]
        return row["success"] and seconds <= self.settings["plan"]["time_limit_s"]

    def found(self, system: str, variant: str = "default") -> Rows:
        return [row for row in self.rows(system, variant) if self.is_found(row)]

    def systems(self) -> dict[str, dict]:
        return self.settings["systems"]

    def arrivals(self, system: str, variant: str, plant: str) -> tuple[int, int]:
        """Of the plans that were found: how many arrive, and how many were played."""
        found = {row["seed"] for row in self.found(system, variant)}
        played = [row for row in self.rows(system, variant, plant) if row["seed"] in found]
        return sum(row["arrived"] for row in played), len(played)

    def goal_words(self, system: str) -> str:
        goals = self.systems()[system]["goals"]
        return goals[0] if len(goals) == 1 else f"{len(goals)} in turn"


def success_rows(study: Study) -> list[list]:
    rows = []
    for name in study.systems():
        own, found = study.rows(name), study.found(name)
        rows.append([name, study.goal_words(name), share(len(found), len(own)), spread([row["first_solution_s"] for row in own]),
                     spread([row["first_holding_s"] for row in found]), spread([row["duration_s"] for row in found]),
                     spread([float(row["regrasps"]) for row in found])])  # fmt: skip
    return rows


def parts_of_limit(study: Study) -> list[float]:
    return [part * study.settings["plan"]["time_limit_s"] for part in (0.125, 0.25, 0.5, 1)]


def within_rows(study: Study) -> list[list]:
    """Shares of all seeds that have a plan that holds after parts of the time: where the last part still adds many, time is what bounds them."""
    rows = []
    for name in study.systems():
        own, seconds = study.rows(name), [row["first_holding_s"] for row in study.found(name)]
        if own:
            counts = [sum(value <= limit for value in seconds) for limit in parts_of_limit(study)]
            rows.append([name, *(f"{100 * count / len(own):.0f} %" for count in counts)])
    return rows


def judge_rows(study: Study) -> list[list]:
    """Of all seeds: the plan that was returned passes this judge. Of those found: it arrives in this plant."""
    judges, plants = study.settings["plan"]["judges"], bar_plants(study)
    rows = []
    for name in study.systems():
        own = study.rows(name)
        passed = [share(sum(row["holds"].get(judge, {}).get("success", False) for row in own), len(own)) for judge in judges]
        rows.append([name, *passed, *(share(*study.arrivals(name, "default", plant)) for plant in plants)])
    return rows


def bar_plants(study: Study) -> list[str]:
    return [name for name, plant in study.settings["plants"].items() if plant.get("bar")]


def met(value: float, bar: float, at_least: bool = True) -> str:
    return "met" if (value >= bar if at_least else value <= bar) else "**missed**"


def bar_rows(study: Study) -> list[list]:
    """What was asked, per system."""
    bars, rows = study.settings["bars"], []
    for name, system in study.systems().items():
        own, found = study.rows(name), study.found(name)
        asked = system.get("found_bar", bars["found"])
        row = [name, f"{100 * asked:g} %: {met(len(found) / len(own), asked)}" if own else MISSING]
        for plant in bar_plants(study):
            good, count = study.arrivals(name, "default", plant)
            row.append(met(good / count, bars["arrive"]) if count else MISSING)
        times = [row["first_holding_s"] if study.is_found(row) else math.inf for row in own]
        most = bars["first_holding_p50_s"][system["group"]]
        rows.append([*row, f"{most:g} s: {met(percentile(times, 0.5), most, at_least=False)}" if own else MISSING])
    return rows


def miss_rows(study: Study) -> list[list]:
    """Plans that were found and do not arrive: how far off they end, the median and the largest."""
    rows = []
    for name in study.systems():
        found = {row["seed"] for row in study.found(name)}
        for plant in bar_plants(study):
            lost = [row for row in study.rows(name, "default", plant) if row["seed"] in found and not row["arrived"]]
            if lost:
                errors = [spread_of_misses([row[key] for row in lost]) for key in ("position_m", "rotation_rad", "joint")]
                rows.append([name, plant, len(lost), *errors])
    return rows


def spread_of_misses(values: list[float | None]) -> str:
    """ "0.06, 0.15": the median and the largest; errors that a goal does not name are 0, and a run that stopped early has none."""
    known = [value for value in values if value is not None]
    return f"{percentile(known, 0.5):.2g}, {max(known):.2g}" if any(known) else MISSING


def judgement_solves(study: Study, row: dict) -> float:
    """Steps of one judgement of a plan: h, h/2 and h/5, and the second-order step of INNER_STEP_S alone and in WORLDS worlds."""
    return (1 + 2 + 5) * row["steps"] + (1 + WORLDS) * (row["duration_s"] + study.settings["arrived"]["settle_s"]) / INNER_STEP_S


def effort_rows(study: Study) -> list[list]:
    """What the search of a plan took, beside one judgement of it, which the counter of the search leaves out."""
    rows = []
    for name in study.systems():
        found = study.found(name)
        if found:
            searched, judged = [row["step_solves"] for row in found], [judgement_solves(study, row) for row in found]
            shares = [100 * one / (one + other) for one, other in zip(judged, searched)]
            rows.append(
                [name, *(f"{percentile(values, 0.5) / 1000:.0f}" for values in (searched, judged)), f"{percentile(shares, 0.5):.0f} %"]
            )
    return rows


def obstacle_words(obstacles: list[dict] | None) -> str:
    """Of every bar that was missed: what was measured, with its record, and what was tried."""
    if not obstacles:
        return "Nothing has been recorded yet."
    return "\n\n".join(
        f"**{entry['systems']}: {entry['bar']}.** {entry['obstacle']}\nMeasured: {entry['measured']} ({entry['commit'][:8]}, {entry['date']}). "
        f"Tried: {entry['tried']} Next: {entry['next']}"
        for entry in obstacles
    )


def first_version_words(version: dict | None) -> str:
    """The study as it was first asked, why it was begun anew, and what it had found."""
    if not version:
        return ""
    one = lambda pair: share(*pair)  # noqa: E731
    rows = [[row["system"], one(row["found"]), "never" if row["first_holding_p50_s"] is None else f"{row['first_holding_p50_s']:.3g}",
             one(row["mujoco"]), one(row["drake"])] for row in version["rows"]]  # fmt: skip
    why = "\n".join(f"- {words}" for words in version["why"])
    return f"""
## The first version

Settings were frozen once before (seeds drawn from commit {version["seeds_commit"][:8]}). After {len(rows)} systems ({version["hours"]:g} h, {version["dates"][-1]},
commits {", ".join(commit[:8] for commit in version["commits"])}, {"; ".join(version["machines"])}) its misses showed two causes, and it was begun anew with new seeds:

{why}

{table(["system", "found", "first plan that holds, p50 of all [s]", "mujoco", "drake"], rows)}
"""


def draw_shares(axes, study: Study, names: list[str], counts: dict[str, list[tuple[int, int]]]) -> None:
    """A dot with Wilson's interval per system and column of `counts`."""
    for k, (label, own) in enumerate(counts.items()):
        shown = [(row, good, count) for row, (good, count) in enumerate(own) if count]
        middle = [100 * good / count for _, good, count in shown]
        ends = [[100 * end for end in wilson(good, count)] for _, good, count in shown]
        spans = [
            [max(x - low, 0) for x, (low, _) in zip(middle, ends)],
            [max(high - x, 0) for x, (_, high) in zip(middle, ends)],
        ]  # 0 but for rounding
        axes.errorbar(
            middle,
            [row + 0.22 * (k - (len(counts) - 1) / 2) for row, _, _ in shown],
            xerr=spans,
            fmt="o",
            markersize=3.5,
            linewidth=0.9,
            label=label,
        )
    axes.set(xlim=(0, 104), ylim=(len(names) - 0.5, -0.5))
    axes.set_yticks(range(len(names)), names)


def picture(study: Study) -> str:
    """Shares and times per system beside what was asked."""
    names, bars = [name for name in study.systems() if study.rows(name)], study.settings["bars"]
    if not names:
        return ""
    figure, ((found, arrive, times),) = new_figure(3)
    figure.set_size_inches(12, 0.6 + 0.3 * len(names))
    draw_shares(found, study, names, {"found": [(len(study.found(name)), len(study.rows(name))) for name in names]})
    found.axvline(100 * bars["found"], color="black", linestyle=":")
    found.set_xlabel("found [%]")
    draw_shares(arrive, study, names, {plant: [study.arrivals(name, "default", plant) for name in names] for plant in bar_plants(study)})
    arrive.axvline(100 * bars["arrive"], color="black", linestyle=":")
    arrive.set_xlabel("of those found, arrive [%]")
    arrive.legend(loc="lower left")
    for row, name in enumerate(names):
        seconds = [own["first_holding_s"] for own in study.found(name)]
        if seconds:
            times.plot([percentile(seconds, 0.5), percentile(seconds, 0.95)], [row, row], color="C0")
            times.plot(percentile(seconds, 0.5), row, "o", color="C0", markersize=3.5)
        times.plot(bars["first_holding_p50_s"][study.systems()[name]["group"]], row, "|", color="black", markersize=9)
    times.set(xscale="log", ylim=(len(names) - 0.5, -0.5), xlabel="first plan that holds, p50 to p95 [s]; | asked of p50")
    for axes in (arrive, times):
        axes.set_yticks(range(len(names)), [""] * len(names))
    return save_figure(figure, "plans_that_hold")


def weightless_rows(study: Study) -> list[list]:
    """Shares with less support friction, of the systems without weight."""
    plants = [name for name, plant in study.settings["plants"].items() if plant.get("bar") or plant.get("only") == "weightless"]
    names = [name for name, system in study.systems().items() if system["weightless"]]
    return [[name, *(share(*study.arrivals(name, "default", plant)) for plant in plants)] for name in names]


def failure_words(row: dict) -> str:
    """Why a seed has no plan that holds: its status, and its heaviest cause."""
    if row["success"]:
        return "held after the time limit"
    cause = row["reasons"][0] if row["reasons"] else None
    what = "" if cause is None else f": {cause['detail'].split(':')[0]}" if cause["reason"] == "judge" else f": {cause['reason']}"
    return f"{row['status']}{what}"


def failure_rows(study: Study) -> list[list]:
    rows = []
    for name in study.systems():
        counts: dict[str, list[int]] = {}
        for row in (row for row in study.rows(name) if not study.is_found(row)):
            counts.setdefault(failure_words(row), []).append(row["seed"])
        for k, (words, seeds) in enumerate(sorted(counts.items(), key=lambda item: -len(item[1]))):
            rows.append([name if k == 0 else "", words, len(seeds), ", ".join(map(str, seeds[:8])) + (", …" if len(seeds) > 8 else "")])
    return rows


def variant_rows(study: Study) -> list[list]:
    """Per system and variant: found, arrived, times; the same seeds for all."""
    rows, plants = [], bar_plants(study)
    for name in study.systems():
        for k, (variant, words) in enumerate(study.settings["variants"].items()):
            own, found = study.rows(name, variant), study.found(name, variant)
            if not own:
                continue
            judges = study.settings["plan"]["judges"]
            asked = any(judge in row["holds"] for row in own for judge in judges[1:])
            held = sum(all(row["holds"].get(judge, {}).get("success", False) for judge in judges) for row in own)
            rows.append([name if k == 0 else "", words["what"], share(len(found), len(own)), share(held, len(own)) if asked else "not asked",
                         *(share(*study.arrivals(name, variant, plant)) for plant in plants), spread([row["first_holding_s"] for row in found]),
                         spread([row["duration_s"] for row in found])])  # fmt: skip
    return rows


def cell_words(heads: list[dict]) -> str:
    """How many cells there are, how long they took, and where they come from."""
    if not heads:
        return "No cell has been recorded yet."
    return f"{len(heads)} cells, {sum(head['wall_s'] for head in heads) / 3600:.1f} h, {record_words(heads)}"


def seed_words(result: dict) -> str:
    seeds = result["seeds"]
    return f"drawn on {seeds['date']} from commit {seeds['commit'][:8]}, which froze the settings" if seeds else "not drawn yet"


def setting_words(settings: dict) -> str:
    """The numbers that the definitions speak of."""
    plan, arrived, tolerances = settings["plan"], settings["arrived"], settings["arrived"]["tolerances"]
    written = lambda name: f"{1e3 * tolerances[name]['position_m']:g} mm and {tolerances[name]['rotation_rad']:g} rad"  # noqa: E731
    return (f"Time limit {plan['time_limit_s']:g} s on {plan['threads']} threads; judges {', '.join(plan['judges'])}; plans are made to {plan['made_to']:g} of the tolerances of an arrival: "
            f"{written('other')}, planar {written('planar')}, joints {tolerances['joints']}; `settle_s` {arrived['settle_s']:g} s.")  # fmt: skip


def text_of(result: dict, shares: str = "") -> str:
    """The page; `shares`: Markdown of the figure."""
    study, settings = Study(result), result["settings"]
    plants = bar_plants(study)
    weightless = [name for name, plant in settings["plants"].items() if plant.get("bar") or plant.get("only") == "weightless"]
    failures = failure_rows(study)
    definitions = "\n".join(f"- **{name.replace('_', ' ')}**: {words}" for name, words in settings["definitions"].items())
    return f"""
# Plans that hold

Written by `./run reproduce plans-that-hold` from cells of ten seeds in [benchmarks/plans_that_hold](../../benchmarks/plans_that_hold) (hours; a cell whose key still matches is not run again).
Settings are frozen in `settings.json` there; seeds: {seed_words(result)}. {cell_words(result["heads"])}

{definitions}

{setting_words(settings)}

Shares come with Wilson's interval of 95 %; times are p50 and p95 in seconds. Nothing is left out: a seed without a plan counts against every share of the first two tables but those of plants, which are of the plans found.

## Found

{table(["system", "goal", "found", "first plan at h [s]", "first plan that holds [s]", "duration of the plan [s]", "regrasps"], success_rows(study))}

{shares}

Dots with intervals; dotted lines and bars say what was asked.

Found by then; where the last column is well above the one before, more time would find more.

{table(["system", *(f"{limit:g} s" for limit in parts_of_limit(study))], within_rows(study))}

## Which judges the plans pass, and where they lead

Judges: of all seeds. Plants: of the plans found that were played.

{table(["system", *settings["plan"]["judges"], *plants], judge_rows(study))}

What was asked: {100 * settings["bars"]["arrive"]:g} % of the plans found arrive. Times: p50 of all seeds, one without a plan counts as never.

{table(["system", "found", *(f"arrive, {plant}" for plant in plants), "first plan that holds, p50"], bar_rows(study))}

Plans that were found and do not arrive; median and largest error at the end.

{table(["system", "plant", "plans", "[m]", "[rad]", "of a joint"], miss_rows(study))}

## What was missed, and why

{obstacle_words(result["obstacles"])}

What a search takes, beside one judgement of the plan that it returned (h, h/2, h/5, second order, {WORLDS} worlds); p50 of those found, in thousands of steps.

{table(["system", "steps of the search", "of one judgement", "its share of the sum"], effort_rows(study))}

{first_version_words(result["first_version"])}
## With less support friction

Systems without weight; `tenth` and `undamped`: a tenth of 1/h, and none. Shown, not asked for.

{table(["system", *weightless], weightless_rows(study))}

## Why seeds failed

{table(["system", "status: heaviest cause", "seeds", "which"], failures) if failures else "None did." if result["cells"] else "–"}

## With and without parts of the planner

"Holds": the plan passes all judges, where the variant asks them. Seeds are the first of the study's.

{table(["system", "variant", "found", "holds", *plants, "first plan that holds [s]", "duration [s]"], variant_rows(study))}
"""


def draw(result: dict) -> None:
    write_page("plans_that_hold", text_of(result, picture(Study(result))))
