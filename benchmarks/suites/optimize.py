"""Shares of first plans that hold before and after `deft optimize`, with and without room in the friction cones.

Settings are frozen by a commit and seeds drawn from it (benchmarks/optimize), by the rule of plans-that-hold.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .frozen_study import open_frozen_study
from .programs import ROOT, DeftRuns, Failed, percentile, say
from .recording import Request

FOLDER = ROOT / "benchmarks/optimize"


def rose(after: dict) -> bool:
    """Whether a plan that does not hold costs more than before; costs may be infinite (a word in JSON), or none."""
    known = after["cost"] is not None and after["cost_before"] is not None
    return known and not after["holds"] and float(after["cost"]) > float(after["cost_before"])


def optimize_one(runs: DeftRuns, settings: dict, scene: str, seed: int) -> dict | None:
    """What became of the first plan of a seed; none if there is no first plan."""
    folder, threads = runs.work / f"{scene}.{seed}", ("--threads", str(settings["threads"]))
    first = runs.call(folder / "first", "plan", f"scenes/planning/{scene}.deft.yaml", "--first", "--seed", str(seed), *threads)
    if first["status"] != "Solved":
        return None
    row: dict = {"seed": seed, "steps": first["steps"]}
    variants = settings["systems"][scene]["variants"]
    for name in variants:
        sets = [word for value in settings["variants"][name] for word in ("--set", value)]
        limit = f"{settings['time_limit_s']:g}"
        after = runs.call(folder / "after", "optimize", str(folder / "first"), "--time-limit", limit, *threads, *sets)
        row["before"] = after["held_before"]
        row[name] = {"holds": after["success"], "time_s": after["time_s"], "duration_s": after["duration_s"], "cost": after["cost"],
                     "cost_before": after["cost_before"]}  # fmt: skip
        if rose(row[name]):
            raise Failed(f"{scene}, seed {seed}: the cost rose from {after['cost_before']} to {after['cost']}")
    shutil.rmtree(folder)
    say(f"{scene}  seed {seed}  " + "  ".join(f"{name}: {'holds' if row[name]['holds'] else 'does not hold'}" for name in variants))
    return row


def line_of(scene: str, rows: list[dict], settings: dict) -> str:
    """How many hold, before and after each variant, and the times of the first variant."""
    count = lambda name: sum(row[name]["holds"] for row in rows) if name in settings["systems"][scene]["variants"] else "-"  # noqa: E731
    times = [row["optimized"]["time_s"] for row in rows if row["optimized"]["holds"]]
    p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
    return (f"{scene:14} {len(rows):>5} {sum(row['before'] for row in rows):>14} "
            + " ".join(f"{count(name):>16}" for name in settings["variants"]) + f" {p50 or 0:8.2f} {p95 or 0:8.2f}")  # fmt: skip


def bench_optimize(request: Request) -> dict:
    """Arguments: systems (all unless given); --pilot: seeds that the study has not; --draw-seeds: once, after settings.json was frozen by a commit."""
    study = open_frozen_study(request, FOLDER)
    if study is None:
        return {}
    settings = study.settings
    runs = DeftRuns(request.build, ROOT / "out/optimize")
    result: dict = {"settings": settings, "pilot": study.pilot, "systems": {}}
    print(f"{'system':14} {'plans':>5} {'hold at first':>14} " + " ".join(f"{name:>16}" for name in settings["variants"])
          + f" {'s, p50':>8} {'s, p95':>8}", flush=True)  # fmt: skip
    try:
        for name in study.systems:
            rows: list[dict] = []
            with ThreadPoolExecutor(settings["at_once"]) as pool:
                for row in pool.map(partial(optimize_one, runs, settings, name), study.seeds):
                    rows += [row] if row is not None else []
                    result["systems"][name] = {"seeds": len(study.seeds), "rows": rows}
                    request.keep(result)
            print(line_of(name, rows, settings), flush=True)
    finally:
        runs.stop()
    return result
