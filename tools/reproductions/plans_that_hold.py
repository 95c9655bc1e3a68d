"""Plans that hold: how many are found, which judges they pass, and where they lead in simulators that share no code with the planner, from recorded cells."""

from __future__ import annotations

import math

from .experiment import picture, record_words, table
from .holding_beside import beside_words
from .holding_feedback import feedback_words
from .holding_pictures import draw_executed, draw_found, executed, tried
from .holding_study import (
    EARLIER,
    FEW,
    LOST_M,
    MISSING,
    NOT_RUN,
    PLANNING,
    Study,
    measure,
    median_of_all,
    met,
    name_of,
    part_verdict,
    percentile,
    share,
    spread,
    times_of_all,
    verdict,
)

__all__ = ["Study", "draw", "measure", "text"]
WORLDS, INNER_STEP_S = 10, 0.01  # kWorlds and kStep_s of planning/ensemble


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
    """Of the plans returned that this judge was asked about: it passes them. Of those found: it arrives in this plant."""
    judges, plants = study.settings["plan"]["judges"], study.bar_plants()
    rows = []
    for name in study.systems():
        answers = [[row["holds"][judge]["success"] for row in study.rows(name) if judge in row["holds"]] for judge in judges]
        passed = [f"{sum(own)} of {len(own)}" if own else MISSING for own in answers]
        rows.append([name, *passed, *(study.arrival_words(name, "default", plant) for plant in plants)])
    return rows


def bar_rows(study: Study) -> list[list]:
    """What was asked, per system, and what is behind it: plans found of seeds, arrivals of plans played, seconds."""
    bars, rows = study.settings["bars"], []
    for name, system in study.systems().items():
        own, found = study.rows(name), study.found(name)
        asked, most = system.get("found_bar", bars["found"]), bars["first_holding_p50_s"][system["group"]]
        if not own:
            rows.append([name, *[NOT_RUN] * (2 + len(study.bar_plants()))])
            continue
        row = [name, f"{verdict(len(found), len(own), study.seeds_left(name), asked)} ({len(found)} of {len(own)}; {100 * asked:g} %)"]
        for plant in study.bar_plants():
            good, count = study.arrivals(name, "default", plant)
            left = study.seeds_left(name, plant)
            said = verdict(good, count, left, bars["arrive"]) if count >= FEW else "too few"
            row.append(f"{said} ({good} of {count})" if count else study.arrival_words(name, "default", plant))
        seconds, times = median_of_all(study, name), times_of_all(study, name)
        known = f"{seconds:.3g} s" if math.isfinite(seconds) else "never"
        rows.append([*row, f"{part_verdict(times, 0.5, study.seeds_left(name), most)} ({known}; {most:g} s)"])
    return rows


def bar_summary(rows: list[list], heads: list[str]) -> str:
    """How many systems meet each bar, of those that say anything about it, and how many of all say nothing."""
    cells = [[row[k] for row in rows if row[k].startswith(("met", "**missed**"))] for k in range(1, len(heads) + 1)]
    silent = [f", {len(rows) - len(own)} without" if len(own) < len(rows) else "" for own in cells]
    so_far = [sum(cell.startswith("met so far") for cell in own) for own in cells]
    return "; ".join(
        f"{head}: {sum(cell.startswith('met') for cell in own)} of {len(own)}{f' ({early} so far)' if early else ''}{none}"
        for head, own, early, none in zip(heads, cells, so_far, silent)
    )


def hour_words(study: Study) -> str:
    """How long a pass takes, beside what was asked: hours of the cells there are, scaled to the seeds that are asked for."""
    bar = study.settings["bars"].get("hours")
    wall: dict[str, float] = {}
    for head in study.heads:
        name = name_of(head["system"], head["variant"], head["plant"])
        wall[name] = wall.get(name, 0.0) + head["wall_s"] / 3600
    if not bar or not wall:
        return ""
    counts = {name_of(*key): count for key, count in study.counts().items()}
    scaled = sum(hours * counts[name][1] / counts[name][0] for name, hours in wall.items() if name in counts and counts[name][0])
    return f"One pass of everything was to take at most {bar:g} h: {met(scaled, bar, at_least=False)}. The cells of which some seeds were run would take {scaled:.0f} h for all seeds asked for, the others not counted."


def miss_rows(study: Study) -> list[list]:
    """Plans that were found and do not arrive: how far off they end, the median and the largest."""
    rows = []
    for name in study.systems():
        found = {row["seed"] for row in study.found(name)}
        for plant in study.bar_plants():
            lost = [row for row in study.rows(name, "default", plant) if row["seed"] in found and not row["arrived"]]
            if lost:
                errors = [spread_of_misses([row[key] for row in lost]) for key in ("rotation_rad", "joint")]
                rows.append([name, plant, len(lost), lost_words([row["position_m"] for row in lost]), *errors])
    return rows


def spread_of_misses(values: list[float | None]) -> str:
    """ "0.06, 0.15": the median and the largest; errors that a goal does not name are 0, and a run that stopped early has none."""
    known = [value for value in values if value is not None]
    return f"{percentile(known, 0.5):.2g}, {max(known):.2g}" if any(known) else MISSING


def lost_words(values: list[float | None]) -> str:
    """How many end so far off that the object has left the robot, and the errors of the others."""
    lost = sum(value is None or value > LOST_M for value in values)
    near = spread_of_misses([value for value in values if value is not None and value <= LOST_M])
    return near if not lost else f"{lost} lost" + ("" if near == MISSING else f"; {near}")


def judgement_solves(study: Study, row: dict) -> float:
    """Steps of one judgement of a plan: h, h/2 and h/5, and the second-order step of INNER_STEP_S alone and in WORLDS worlds."""
    return (1 + 2 + 5) * row["steps"] + (1 + WORLDS) * (row["duration_s"] + study.settings["arrived"]["settle_s"]) / INNER_STEP_S


def effort_rows(study: Study) -> list[list]:
    """What the search of a plan took, beside one judgement of it, which the counter of the search leaves out, and how fast the machine was."""
    rows = []
    for name in study.systems():
        own, found = study.rows(name), study.found(name)
        if not own:
            continue
        searched, judged = [row["step_solves"] for row in found], [judgement_solves(study, row) for row in found]
        shares = [100 * one / (one + other) for one, other in zip(judged, searched)]
        size = study.settings["seeds"]["block"]
        rates = [
            percentile([row["step_solves"] / row["time_s"] / 1000 for row in own[k : k + size]], 0.5) for k in range(0, len(own), size)
        ]
        rows.append([name, *(f"{percentile(values, 0.5) / 1000:.0f}" if values else MISSING for values in (searched, judged)),
                     f"{percentile(shares, 0.5):.0f} %" if shares else MISSING, f"{min(rates):.3g} to {max(rates):.3g}",
                     f"{max(row['time_s'] for row in own):.1f}"])  # fmt: skip
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


def version_words(ordinal: str, version: dict) -> str:
    """The study as it was asked before, why it was begun anew, and what it had found."""
    one = lambda pair: share(*pair)  # noqa: E731
    rows = [[row["system"], one(row["found"]), "never" if row["first_holding_p50_s"] is None else f"{row['first_holding_p50_s']:.3g}",
             one(row["mujoco"]), one(row["drake"])] for row in version["rows"]]  # fmt: skip
    why = "\n".join(f"- {words}" for words in version["why"])
    return f"""
## The {ordinal} version

Its settings were frozen and its seeds drawn from commit {version["seeds_commit"][:8]}. After {len(rows)} rows ({version["hours"]:g} h, {version["dates"][-1]},
commits {", ".join(commit[:8] for commit in version["commits"])}, {"; ".join(version["machines"])}) it was ended, and the study begun anew with new seeds:

{why}

{table(["system", "found", "first plan that holds, p50 of all [s]", "mujoco", "drake"], rows)}
"""


def weightless_rows(study: Study) -> list[list]:
    """Shares with less support friction, of the systems without weight."""
    plants = [name for name, plant in study.settings["plants"].items() if plant.get("bar") or plant.get("only") == "weightless"]
    names = [name for name, system in study.systems().items() if system["weightless"]]
    return [[name, *(study.arrival_words(name, "default", plant) for plant in plants)] for name in names]


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
    """Per system and variant: found, arrived, times; all of the seeds that every variant shown has. A plan of `--first` is found when it is one at h."""
    rows, plants, judges = [], study.bar_plants(), study.settings["plan"]["judges"]
    for name in study.systems():
        shown = [variant for variant in study.settings["variants"] if study.rows(name, variant)]
        seeds = set.intersection(*({row["seed"] for row in study.rows(name, variant)} for variant in shown)) if len(shown) > 1 else set()
        for k, variant in enumerate(shown if seeds else []):
            own, found = ([row for row in rows_of(name, variant) if row["seed"] in seeds] for rows_of in (study.rows, study.found))
            asked = any(judge in row["holds"] for row in own for judge in judges[1:])
            known = f"{len(found)} of {len(own)}" if asked else f"at h: {len(found)} of {len(own)}"
            played = [
                [row["arrived"] for row in study.rows(name, variant, plant) if row["seed"] in {one["seed"] for one in found}]
                for plant in plants
            ]
            arrive = [
                f"{sum(one)} of {len(one)}" if one else study.arrival_words(name, variant, plant) for one, plant in zip(played, plants)
            ]
            rows.append([name if k == 0 else "", study.settings["variants"][variant]["what"], known, *arrive,
                         spread([row["first_holding_s"] for row in found]), spread([row["duration_s"] for row in found]), study.machines(name, variant)])  # fmt: skip
    return rows


def absent_rows(study: Study) -> list[list]:
    """What the settings ask for and no cell holds."""
    missing: dict[tuple[str, str], list[str]] = {}
    for (system, variant, plant), (count, asked) in study.counts().items():
        if count < asked:
            missing.setdefault((variant, plant), []).append(f"{system} ({count} of {asked} seeds)" if count else system)
    return [[variant, "plans" if plant == PLANNING else plant, ", ".join(systems)] for (variant, plant), systems in missing.items()]


def cell_words(heads: list[dict]) -> str:
    """How many cells there are, how long they took, and where they come from."""
    if not heads:
        return "No cell has been recorded yet."
    return f"{len(heads)} cells, {sum(head['wall_s'] for head in heads) / 3600:.1f} h, {record_words(heads)}"


def program_words(seeds: dict | None) -> str:
    commit = (seeds or {}).get("commit")
    return f"The program is that of commit {commit[:8]} throughout, whatever was recorded with it later. " if commit else ""


def seed_words(result: dict) -> str:
    seeds = result["seeds"]
    return f"drawn on {seeds['date']} from commit {seeds['commit'][:8]}, which froze the settings" if seeds else "not drawn yet"


def setting_words(settings: dict) -> str:
    """The numbers that the definitions speak of."""
    plan, arrived, tolerances = settings["plan"], settings["arrived"], settings["arrived"]["tolerances"]
    written = lambda name: f"{1e3 * tolerances[name]['position_m']:g} mm and {tolerances[name]['rotation_rad']:g} rad"  # noqa: E731
    return (f"Time limit {plan['time_limit_s']:g} s on {plan['threads']} threads; judges {', '.join(plan['judges'])}; plans are made to {plan['made_to']:g} of the tolerances of an arrival: "
            f"{written('other')}, planar {written('planar')}, joints {tolerances['joints']}; `settle_s` {arrived['settle_s']:g} s.")  # fmt: skip


def text(result: dict) -> str:
    study, settings = Study(result), result["settings"]
    plants = study.bar_plants()
    weightless = [name for name, plant in settings["plants"].items() if plant.get("bar") or plant.get("only") == "weightless"]
    failures, asked, absent = failure_rows(study), bar_rows(study), absent_rows(study)
    bars = ["found", *(f"arrive, {plant}" for plant in plants), "first plan that holds, p50"]
    recorded = sum(min(count, most) for count, most in study.counts().values()), sum(most for _, most in study.counts().values())
    definitions = "\n".join(f"- **{name.replace('_', ' ')}**: {words}" for name, words in settings["definitions"].items())
    return f"""
# Plans that hold

Written by `./run reproduce plans-that-hold` from cells of ten seeds in [benchmarks/plans_that_hold](../../benchmarks/plans_that_hold) (hours; a cell whose key still matches is not run again).
Settings are frozen in `settings.json` there; seeds: {seed_words(result)}. {program_words(result["seeds"])}{cell_words(result["heads"])}
Of what the settings ask for, {100 * recorded[0] / recorded[1]:.0f} % was run ({recorded[0]} of {recorded[1]} seeds of all systems, variants and plants); the last section lists the rest. {hour_words(study)}

{definitions}

{setting_words(settings)}

Shares come with Wilson's interval of `95 %`; times are p50 and p95 in seconds, of the seeds that have them. A seed without a plan counts against "found"; shares of plants are of the plans found.
Both simulators were looked at while planner, contact settings and the range of worlds were made, with other seeds: they judge no plan, but they are not unseen.

## Found

{table(["system", "goal", "found", "first plan at h [s]", "first plan that holds [s]", "duration of the plan [s]", "regrasps"], success_rows(study))}

{picture("plans_that_hold") if tried(study) else ""}

Dots with intervals; dotted lines and bars (|) say what was asked.

Found by then; where the last column is well above the one before, more time would find more.

{table(["system", *(f"{limit:g} s" for limit in parts_of_limit(study))], within_rows(study))}

## Which judges the plans pass, and where they lead

Judges: of the plans returned that were judged by them, also after the time limit; steps of h/n and of second order are asked together, the drawn worlds only of plans that pass them; a world's plan holds in 8 of 10.
Plants: of the plans found that were played.

{table(["system", *settings["plan"]["judges"], *plants], judge_rows(study))}

What was asked: {100 * settings["bars"]["arrive"]:g} % of the plans found arrive. "So far": the seeds that were asked for and not run could still decide otherwise; "too few": fewer than {FEW} runs, which say nothing. Times: p50 of all seeds, one without a plan counts as never. Met: {bar_summary(asked, bars)}.

{table(["system", *bars], asked)}

Plans that were found and do not arrive; median and largest error at the end. Lost: more than {LOST_M:g} m off, or the simulation ended.

{table(["system", "plant", "plans", "[m]", "[rad]", "of a joint"], miss_rows(study))}

## What was missed, and why

{obstacle_words(result["obstacles"])}

What a search takes, beside one judgement of the plan that it returned (h, h/2, h/5, second order, {WORLDS} worlds): p50 of those found, in thousands of steps. Thousands of steps a second,
of the slowest and the fastest ten seeds: the machine is shared, and what it lends of its two cores changes, which found and times of the slow blocks pay.
A judgement that has begun is ended, so that a search may take longer than its limit; what holds only then is not counted as found.

{table(["system", "steps of the search", "of one judgement", "its share of the sum", "thousand steps a second", "longest search [s]"], effort_rows(study))}

{"".join(version_words(ordinal, version) for ordinal, version in zip(EARLIER, result["versions"]))}
## With less support friction

Systems without weight; `tenth` and `undamped`: a tenth of 1/h, and none. Shown, not asked for.

{table(["system", *weightless], weightless_rows(study))}
{feedback_words(study, picture("plans_executed") if executed(study) else "")}
## Why seeds failed

{table(["system", "status: heaviest cause", "seeds", "which"], failures) if failures else "None did." if result["cells"] else "–"}

## With and without parts of the planner

Seeds are those that all variants of a system have been run with, the first of the study's. Searches end by the clock: rows of different machines say nothing of the variants. "At h" of `--first`: no other judge is asked.

{table(["system", "variant", "found", *plants, "first plan that holds [s]", "duration [s]", "on"], variant_rows(study))}

{beside_words(study.with_beside(result)) if result.get("beside") else ""}
## What was not run

{table(["variant", "cells of", "systems"], absent) if absent else "Everything that the settings ask for was run."}

Keys of cells cover the program, the scenes, the settings and the compiler, not the
script that measures an arrival.
"""


def draw(result: dict) -> None:
    study = Study(result)
    draw_found(study)
    draw_executed(study)
