"""Plans of the study of plans that hold in worlds of second order: where they part, step by step, and with which contacts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .holding_cells import PLANNING, Cell
from .plans_that_hold import Study, open_study
from .programs import Failed, output_of, print_absent, say
from .recording import Request

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


def bench_worlds_disagree(request: Request) -> dict:
    """Rows per plan; arguments: systems of the study (all), --plans N (10), --steps N (60)."""
    options = {"--plans": str(PLANS), "--steps": str(STEPS)}
    words = list(request.arguments)
    for word in [word for word in words if word in options]:
        at = words.index(word)
        options[word] = words[at + 1]
        del words[at : at + 2]
    study = open_study(request.build)
    unknown = [word for word in words if word not in study.values("systems")]
    if unknown:
        raise Failed(f"worlds-disagree: unknown system {unknown[0]!r}; there are {', '.join(study.values('systems'))}")
    systems: dict[str, list[dict]] = {}
    absent: dict[str, str] = {}
    try:
        for system in words or study.values("systems"):
            systems[system] = compare(request.build, study, system, int(options["--plans"]), options["--steps"], absent)
            request.keep({"systems": systems, "absent": absent})
    finally:
        study.stop()
    print(f"{'system':20} {'seed':>6} {'worlds':18} {'parted at step':>14} {'largest in a step':>24}")
    for row in [row for own in systems.values() for row in own]:
        for pair in row["steps"]:
            first = "never" if pair["first"] is None else str(pair["first"]["step"])
            print(
                f"{row['system']:20} {row['seed']:6} {pair['a'] + ', ' + pair['b']:18} {first:>14} {pair['position_m']:12.2g} m {pair['rotation_rad']:.2g} rad"
            )
    print_absent(absent)
    return {"systems": systems, "absent": absent}
