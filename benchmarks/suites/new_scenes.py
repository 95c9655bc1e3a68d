"""From a model file to a plan: `deft new` with household objects, and `deft plan` of what it writes, over seeds."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections import Counter
from pathlib import Path

from .programs import ROOT, DeftRuns, Failed, output_of, percentile, say
from .recording import Request

OBJECTS = ("mug", "bottle", "box")
GOALS = {True: "turn z 90", False: "move 0.1 0 0"}  # of a hand, of an arm
SEEDS, FIRST_SEED, LIMIT_S = 10, 92001, 60  # from 90001 on in the version before


def made_scene(build: Path, robot: str, thing: str, scene: Path) -> str:
    """The goal of the scene that is written."""
    new = [str(build / "deft"), "new", robot, thing, "--out", str(scene), "--force", "--json", "--quiet"]
    goal = GOALS[json.loads(output_of(new))["hand"]]
    output_of([*new, "--goal", goal])
    return goal


def bench_new_scenes(request: Request) -> dict:
    """Rows by robot, object, kind of plan and first seed; arguments: robots (model files or names of bundled ones; allegro and iiwa unless given), --seeds N, --first
    (plans at h alone)."""
    words = list(request.arguments)
    first = "--first" in words
    seeds = SEEDS
    robots = []
    while words:
        word = words.pop(0)
        if word == "--seeds":
            seeds = int(words.pop(0)) if words else 0
        elif word != "--first":
            robots.append(word)
    if seeds < 1:
        raise Failed("new-scenes: --seeds needs a number from 1")
    systems: dict[str, dict] = {}
    found = {"systems": systems, "time_limit_s": LIMIT_S}
    programs = DeftRuns(request.build, ROOT / "out/new-scenes")
    print(f"{'robot':28} {'object':8} {'goal':14} {'success':>9} {'first plan, p50':>16} {'why not'}")
    with tempfile.TemporaryDirectory() as folder:
        for robot, thing in itertools.product(robots or ["allegro", "iiwa"], OBJECTS):
            name = Path(robot).stem
            say(f"{name} {thing}")
            scene = Path(folder) / f"{name}_{thing}.deft.yaml"
            goal = made_scene(request.build, robot, thing, scene)
            runs = []
            for seed in range(FIRST_SEED, FIRST_SEED + seeds):
                options = ["--seed", str(seed), "--time-limit", str(LIMIT_S), *(["--first"] if first else [])]
                done = programs.call(Path(folder) / "run", "plan", str(scene), *options)
                runs.append({key: done[key] for key in ("status", "success", "first_solution_s", "time_s", "nodes")})
            systems[f"{name} {thing}{' --first' * first} {FIRST_SEED}"] = {
                "robot": name,
                "object": thing,
                "goal": goal,
                "first": first,
                "first_seed": FIRST_SEED,
                "runs": runs,
            }
            times = [run["first_solution_s"] for run in runs if run["first_solution_s"] is not None]
            why = Counter(run["status"] for run in runs if not run["success"])
            p50 = f"{percentile(times, 0.5):.3g}" if times else "-"
            print(
                f"{name:28} {thing:8} {goal:14} {sum(run['success'] for run in runs):>4}/{seeds:<4} {p50:>14} s {dict(why) or ''}",
                flush=True,
            )
            request.keep(found)
    return found
