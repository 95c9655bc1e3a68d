"""Refined plans of every planning scene in four worlds of second order: where they part, step by step, and with which contacts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .programs import ROOT, Failed, output_of, print_absent, say

RECORDED = ROOT / "benchmarks/baselines/worlds-disagree.json"
SYSTEMS = ("planar_pushing", "planar_hand", "planar_bimanual", "ball_grazing", "planar_hand_weight", "push_on_table", "book_pivot", "bimanual_box",
           "bimanual_cylinder", "cylinder_on_table", "allegro_ball", "allegro_cube", "allegro_pen", "allegro_door", "allegro_plate")  # fmt: skip
PLANS, STEPS = 10, 60  # seeds 1, 2, … of a system; steps of a plan that are played


def plan_of(build: Path, folder: Path, system: str, seed: int) -> Path | None:
    """A plan that holds in steps of h/2 and h/5, or the best within a minute; None if there is none. What is there is not made again."""
    plan = folder / f"{system}-{seed}"
    if not (plan / "run.h5").exists():
        say(f"{system}: plan {seed}")
        try:
            output_of([str(build / "deft"), "plan", str(ROOT / f"scenes/planning/{system}.deft.yaml"), "--set", "plan.refine=[2,5]", "--time-limit", "60",
                       "--seed", str(seed), "--out", str(plan), "--force", "--quiet"])  # fmt: skip
        except Failed:
            pass  # exit 1: it does not hold, but may be there
    return plan if (plan / "run.h5").exists() else None


def bench_worlds_disagree(build: Path, rounds: int, arguments: list[str]) -> dict:
    """Rows per plan; arguments: systems (all), --plans N (10), --steps N (60), --folder DIR (out/worlds-disagree), --record."""
    options = {"--plans": str(PLANS), "--steps": str(STEPS), "--folder": str(ROOT / "out/worlds-disagree")}
    words = [word for word in arguments if word != "--record"]
    for word in [word for word in words if word in options]:
        at = words.index(word)
        options[word] = words[at + 1]
        del words[at : at + 2]
    rows: list[dict] = []
    absent: dict[str, str] = {}
    for system in words or SYSTEMS:
        for seed in range(1, int(options["--plans"]) + 1):
            plan = plan_of(build, Path(options["--folder"]), system, seed)
            if plan is None:
                absent[f"{system}, seed {seed}"] = "no plan"
                continue
            say(f"{system}: seed {seed}")
            try:
                said = output_of([str(build / "benchmarks/world_comparison"), str(plan), "--steps", options["--steps"], "--settle", "0"],
                                 DEFT_DRAKE_PYTHON=sys.executable)  # fmt: skip
            except Failed as error:
                absent[f"{system}, seed {seed}"] = " ".join(str(error).split())
                continue
            found = json.loads(said)
            free = [{key: pair.get(key) for key in ("a", "b", "t", "step", "position_m", "rotation_rad")} for pair in found["free"]]
            rows.append({"system": system, "seed": seed, "count": found["count"], "free": free, "steps": found["steps"]})
    print(f"{'system':20} {'seed':>4} {'worlds':18} {'parted at step':>14} {'largest in a step':>24}")
    for row in rows:
        for pair in row["steps"]:
            first = "never" if pair["first"] is None else str(pair["first"]["step"])
            print(
                f"{row['system']:20} {row['seed']:4} {pair['a'] + ', ' + pair['b']:18} {first:>14} {pair['position_m']:12.2g} m {pair['rotation_rad']:.2g} rad"
            )
    print_absent(absent)
    result = {"rows": rows, "absent": absent}
    if "--record" in arguments:
        RECORDED.write_text(json.dumps({"benchmark": "worlds-disagree", "result": result}, allow_nan=False) + "\n")
    return result
