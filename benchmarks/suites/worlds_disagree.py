"""Plans of the study of plans that hold in worlds of second order: where they part, step by step, and with which contacts."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from .holding_cells import PLANNING, Cell, commit_of
from .plans_that_hold import Study, open_study
from .programs import ROOT, Failed, machine, output_of, print_absent, say

RECORDED = ROOT / "benchmarks/baselines/worlds-disagree.json"
PLANS, STEPS = 10, 60  # the first seeds of the study; steps of a plan that are played


def compare(build: Path, study: Study, system: str, count: int, steps: str, absent: dict[str, str]) -> list[dict]:
    """Rows of the plans of a system that lead to its goal at h."""
    rows = []
    for k in range(count):
        cell = Cell(system, "default", PLANNING, k // study.values("seeds")["block"])
        plan = study.make_plan(cell, k)
        seed = plan["seed"]
        if not plan["plan"]:
            absent[f"{system}, seed {seed}"] = "no plan"
            continue
        say(f"{system}: seed {seed}")
        try:
            said = output_of([str(build / "benchmarks/world_comparison"), str(study.plan_folder(cell, k)), "--steps", steps, "--settle", "0"],
                             DEFT_DRAKE_PYTHON=sys.executable)  # fmt: skip
        except Failed as error:
            absent[f"{system}, seed {seed}"] = " ".join(str(error).split())
            continue
        found = json.loads(said)
        free = [{key: pair.get(key) for key in ("a", "b", "t", "step", "position_m", "rotation_rad")} for pair in found["free"]]
        rows.append(
            {"system": system, "seed": seed, "count": found["count"], "holds": plan["success"], "free": free, "steps": found["steps"]}
        )
    return rows


def record(system: str, rows: list[dict]) -> None:
    """Replaces what is recorded of this system. Rows that do not say where they come from are of the worlds of before, and go."""
    kept = json.loads(RECORDED.read_text())["result"]
    heads = kept.get("heads", {})
    others = [row for row in kept["rows"] if row["system"] in heads and row["system"] != system]
    heads[system] = {"commit": commit_of(), "machine": machine(), "date": time.strftime("%Y-%m-%d")}
    RECORDED.write_text(
        json.dumps({"benchmark": "worlds-disagree", "result": {"rows": others + rows, "heads": heads}}, allow_nan=False) + "\n"
    )


def bench_worlds_disagree(build: Path, rounds: int, arguments: list[str]) -> dict:
    """Rows per plan; arguments: systems of the study (all), --plans N (10), --steps N (60), --record."""
    options = {"--plans": str(PLANS), "--steps": str(STEPS)}
    words = [word for word in arguments if word != "--record"]
    for word in [word for word in words if word in options]:
        at = words.index(word)
        options[word] = words[at + 1]
        del words[at : at + 2]
    study = open_study(build)
    unknown = [word for word in words if word not in study.values("systems")]
    if unknown:
        raise Failed(f"worlds-disagree: unknown system {unknown[0]!r}; there are {', '.join(study.values('systems'))}")
    rows: list[dict] = []
    absent: dict[str, str] = {}
    try:
        for system in words or study.values("systems"):
            own = compare(build, study, system, int(options["--plans"]), options["--steps"], absent)
            rows += own
            if "--record" in arguments:
                record(system, own)
    finally:
        study.stop()
    print(f"{'system':20} {'seed':>6} {'worlds':18} {'parted at step':>14} {'largest in a step':>24}")
    for row in rows:
        for pair in row["steps"]:
            first = "never" if pair["first"] is None else str(pair["first"]["step"])
            print(
                f"{row['system']:20} {row['seed']:6} {pair['a'] + ', ' + pair['b']:18} {first:>14} {pair['position_m']:12.2g} m {pair['rotation_rad']:.2g} rad"
            )
    print_absent(absent)
    return {"rows": rows, "absent": absent}
