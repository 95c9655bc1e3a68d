"""How long a period of the tracking controller takes, raw, one run at a time on a quiet machine, searches for new plans beside it."""

from __future__ import annotations

import json
import time
from pathlib import Path

from .holding_cells import PLANNING, commit_of
from .plans_that_hold import open_study
from .programs import ROOT, DeftRuns, Failed, machine, say

RECORDED = ROOT / "benchmarks/baselines/periods.json"  # what the page plans_that_hold reads
HORIZONS = (1, 3, 10)
PLANS = 2  # of a system, the first of the study's that hold


def bench_periods(build: Path, rounds: int, arguments: list[str]) -> dict:
    """Plans of the study that were made here (out/plans-that-hold), followed by the program of the working tree; arguments: systems (all), --record also
    writes RECORDED."""
    study = open_study(build)
    known = list(study.values("systems"))
    names = [word for word in arguments if word != "--record"] or known
    if unknown := [name for name in names if name not in known]:
        raise Failed(f"periods: unknown argument {unknown[0]!r}; there are {', '.join([*known, '--record'])}")
    runs, rows = DeftRuns(build, study.work), []
    print(f"{'system':24} {'seed':>7} {'N':>3} {'p50 [ms]':>9} {'p99 [ms]':>9}  ended")
    for name in names:
        cells = study.cells(name, "default", PLANNING)
        folders = [(cell, k) for cell in cells for k in study.block(cell) if holds(study.plan_folder(cell, k))]
        for cell, k in folders[:PLANS]:
            for horizon in HORIZONS:
                part = study.work / f"periods.{name}.{study.seeds[k]}.{horizon}"
                summary = runs.call(part, "track", str(study.plan_folder(cell, k)), "--plant", "mujoco", "--disturb", "scenes/planning/disturb/all.yaml",
                                     "--seed", str(study.seeds[k]), "--set", f"track.horizon={horizon}", "--max-duration", f"{2 * duration(study.plan_folder(cell, k)):g}")  # fmt: skip
                period = summary["period_us"]
                rows.append({"system": name, "seed": study.seeds[k], "horizon": horizon, "p50_us": period["p50"], "p99_us": period["p99"], "new_plans": summary["new_plans"]})  # fmt: skip
                print(f"{name:24} {study.seeds[k]:>7} {horizon:>3} {period['p50'] / 1e3:9.2f} {period['p99'] / 1e3:9.2f}  {summary['status']}", flush=True)  # fmt: skip
        if not folders:
            say(f"{name}: no plan that holds is here; ./run bench plans-that-hold {name} makes some")
    result = {"rows": rows, "head": {"commit": commit_of(), "machine": machine(), "date": time.strftime("%Y-%m-%d")}}
    if "--record" in arguments:
        RECORDED.write_text(json.dumps({"benchmark": "periods", "result": result}) + "\n")
    return result


def holds(folder: Path) -> bool:
    return (folder / "row.json").exists() and json.loads((folder / "row.json").read_text())["success"]


def duration(folder: Path) -> float:
    return json.loads((folder / "row.json").read_text())["duration_s"]
