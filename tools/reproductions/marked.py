"""Tables in README files, written from what benchmarks recorded: what stands between `<!-- data: NAME -->` and `<!-- end of data -->`."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from .experiment import ROOT, baseline, recorded_words, table
from .holding_study import MISSING, share, spread

PLACE = "(<!-- data: {} -->\n)(.*?)(<!-- end of data -->)"


def plants() -> str:
    """Errors of passive motions, by scene and plant."""
    recorded = baseline("plants")
    rows = recorded.get("rows", [])
    who = list(dict.fromkeys(row["who"] for row in rows))
    error = {(row["scene"], row["who"]): f"{100 * row['error']:.3f} %" for row in rows}
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    lines = table(["scene", *who], [[scene, *(error.get((scene, name), "–") for name in who)] for scene in scenes])
    return f"{lines}\n\n{recorded_words(recorded['sources'])}\n" if rows else ""


def coverage() -> str:
    """Share of the lines of each module that the tests reach."""
    recorded = baseline("coverage")
    if not recorded:
        return ""
    rows = [[name, str(count["lines"]), f"{100 * count['reached'] / count['lines']:.1f} %"] for name, count in recorded["modules"].items()]
    absent = ", ".join(f"`{name}`" for name in recorded["absent"])
    left_out = f" Left out, since the processor cannot run it: {absent}." if absent else ""
    return f"{table(['module', 'lines', 'reached'], rows)}\n\n{recorded_words(recorded['sources'])}{left_out}\n"


def code(line: str) -> str:
    """A line of code as a cell of a table, in which a bar would end it."""
    return f"`{line.strip()}`".replace("|", "\\|")


def mutants() -> str:
    """Planted faults that the tests noticed, and those that they did not."""
    recorded = baseline("mutants")
    if not recorded:
        return ""
    counted = recorded["planted"] - recorded["argued"]
    lines = [
        f"{recorded['noticed']} of {counted} noticed; {recorded['argued']} more change nothing that a user sees (`tests/mutants.json`)."
    ]
    asked = {"": "of its module", "survived neighbours": "of its module and its neighbours", "survived": "all"}
    rows = [[f"{s['file']}:{s['line']}", code(s["before"]), code(s["after"]), asked[s["whole"]]] for s in recorded["survivors"]]
    survivors = table(["not noticed", "line", "became", "tests that ran"], rows) + "\n\n" if rows else ""
    return f"{lines[0]}\n\n{survivors}{recorded_words(recorded['sources'])}\n"


def fuzz() -> str:
    """How long each reader of files was fuzzed, and what was found."""
    recorded = baseline("fuzz")
    if not recorded:
        return ""
    rows = []
    for reader, runs in recorded.items():
        if reader == "sources" or not runs:
            continue
        minutes = sum(run["seconds"] for run in runs) / 60
        rows.append(
            [
                reader,
                f"{minutes:.0f}",
                f"{sum(run['files'] for run in runs):,}",
                str(runs[-1]["edges"]),
                str(sum(len(run["defects"]) for run in runs)),
            ]
        )
    return f"{table(['reader', 'minutes', 'files read', 'edges reached', 'files that failed'], rows)}\n\n{recorded_words(recorded['sources'])}\n"


def models() -> str:
    """MJCF files by collection: how many load and agree with what MuJoCo compiles, and why the others do not."""
    recorded = baseline("models")
    compiled = [row for row in recorded.get("rows", []) if row["compiles"]]
    if not compiled:
        return ""
    rows = []
    for name in sorted({row["file"].split("/")[0] for row in compiled}):
        own = [row for row in compiled if row["file"].split("/")[0] == name]
        refused = Counter(re.sub(r"^.*error: ", "", row["reason"]).split(" is not")[0] for row in own if not row["loads"])
        why = ", ".join(f"{count} × {code(reason)}" for reason, count in refused.most_common())
        rows.append([name, str(len(own)), str(sum(row["loads"] for row in own)), str(sum(row["agrees"] for row in own)), why])
    lines = table(["collection", "compiled by MuJoCo", "loaded", "agree", "refused"], rows)
    return f"{lines}\n\n{recorded_words(recorded['sources'])}\n"


def package() -> str:
    """What Python costs on top of C++, and its environments beside Gymnasium's own hand tasks."""
    recorded = baseline("python")
    if not recorded:
        return ""
    bars, batch = recorded["bars"], recorded["batch"]
    calls = [f"{row['overhead_us']:.2f} µs ({row['scene']})" for row in recorded["calls"]]
    rows = [
        ["`model.step(q, u, out=r)` beyond the C++ call", ", ".join(calls), f"{bars['overhead_us']} µs"],
        [f"{batch['items']} steps of a hand with derivatives: share of C++", f"{100 * batch['share']:.1f} %", f"{100 * bars['share']:g} %"],
        ["`import deft` after NumPy", f"{recorded['import']['deft_s']:.3f} s", f"{bars['import_s']} s"],
        ["wheel", ", ".join(f"{size:.1f} MB" for size in recorded["wheels_mb"].values()), f"{bars['wheel_mb']} MB"],
        ["pictures of 320 × 240, one core", ", ".join(f"{row['per_s']:.0f}/s" for row in recorded["frames"]), f"{bars['frames_per_s']}/s"],
    ]
    ours = [[f"`deft/{row['task']}-v0`", f"{row['single_per_s']:,.0f}", f"{row['h']:g}", f"{row['vector_per_s']:,.0f}"] for row in recorded["environments"]]  # fmt: skip
    theirs = [[f"`{row['task']}`, MuJoCo", f"{row['single_per_s']:,.0f}", f"{row['h']:g}", "–"] for row in recorded["hand_tasks"]["tasks"]]
    costs = table(["", "measured", "bar"], rows)
    tasks = table(["environment", "steps a second, one core", "a step [s]", "in a vector of 64, all cores"], ours + theirs)
    return f"{costs}\n\n{tasks}\n\n{recorded_words(recorded['sources'])}\n"


def robot() -> str:
    """Plans on a robot of its own process behind UDP."""
    recorded = baseline("robot-udp")
    if not recorded or recorded["pilot"]:
        return ""
    rows = []
    for name, system in recorded["systems"].items():
        runs = [row for row in system["rows"] if "driver" in row]
        drivers, killed = [row["driver"] for row in runs], system.get("driver_killed", {}).get("robot")
        beyond = sum(row["robot"]["beyond_limits"] + row["robot"]["beyond_steps"] for row in runs)
        rows.append(
            [
                f"`{name}`",
                share(sum(row["arrived"] for row in system["rows"]), len(system["rows"])),
                f"{100 * recorded['settings']['bars']['share']:g} %",
                spread([driver["plan_s"] for driver in drivers]),
                spread([driver["duration_s"] - driver["plan_s"] for driver in drivers]),
                spread([driver["counts"]["held_s"] for driver in drivers]),
                str(sum(driver["counts"]["late"] for driver in drivers)),
                str(beyond),
                f"{1000 * max(row['robot']['slowest_s'] for row in runs):.0f}" if runs else MISSING,
                f"{killed['targets_moved']:g}, {killed['joints_moved']:.1g}" if killed else MISSING,
            ]
        )
    head = ["plan", "arrived", "bar", "plan [s]", "more than the plan [s]", "held [s]", "periods late", "targets beyond limits", "simulation behind by at most [ms]", "driver killed: targets, joints moved [rad]"]  # fmt: skip
    return f"{table(head, rows)}\n\nTimes: p50, p95. {recorded_words(recorded['sources'])}\n"


TABLES = {
    "python": ("python/README.md", package),
    "robot-udp": ("python/README.md", robot),
    "models": ("src/deft/multibody/mjcf/README.md", models),
    "plants": ("scenes/plants/README.md", plants),
    "coverage": ("tests/README.md", coverage),
    "mutants": ("tests/README.md", mutants),
    "fuzz": ("tests/README.md", fuzz),
}  # by name: the file, and what belongs there


def renewed(name: str) -> tuple[Path, str, str]:
    """The file of a table, what it holds, and what it should hold. @throws ValueError where the file has no such place."""
    relative, made = TABLES[name]
    file = ROOT / relative
    before = file.read_text()
    after, count = re.subn(
        PLACE.format(name), lambda found: found[1] + (made() or recorded_words([]) + "\n") + found[3], before, flags=re.S
    )
    if count != 1:
        raise ValueError(f"{file}: {count} places for data: {name}")
    return file, before, after


def write_tables() -> list[Path]:
    """Writes all tables anew. @returns the files that changed."""
    changed = []
    for file, before, after in map(renewed, TABLES):  # one after the other: a file may have two
        if before != after:
            file.write_text(after)
            changed.append(file)
    return list(dict.fromkeys(changed))


def stale_tables() -> list[str]:
    """Names of those that are not what was recorded."""
    return [f"{file.relative_to(ROOT)}: data: {name}" for name in TABLES for file, before, after in [renewed(name)] if before != after]
