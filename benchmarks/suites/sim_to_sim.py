"""First plans of `deft plan` played in Drake segment by segment, open loop: the published planner's sim-to-sim check.

Settings are frozen by a commit and seeds drawn from it (benchmarks/sim_to_sim), by the rule of plans-that-hold.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .frozen_study import open_frozen_study
from .holding_cells import digest
from .programs import ROOT, DeftRuns, Failed, output_of, say
from .recording import Request

FOLDER = ROOT / "benchmarks/sim_to_sim"
PLAYERS = 2  # plans at once; nothing is timed


def played(runs: DeftRuns, settings: dict, folder: str, approximation: str) -> list[dict]:
    """The segments of a plan in which the robots are to move the object: how far it was meant to go, and how far off it ends."""
    command = [sys.executable, str(ROOT / "benchmarks/peers/drake_plant.py"), folder, "--segments", "--deft", str(runs.deft),
               "--step", repr(settings["step_s"]), "--speed", repr(settings["speed"]), "--settle", repr(settings["settle_s"]),
               "--approximation", approximation]  # fmt: skip
    return [row for row in json.loads(output_of(command).splitlines()[-1])["segments"] if not row["transfer"]]


def segments_of(runs: DeftRuns, settings: dict, system: str, seed: int) -> list[dict]:
    """The segments of a seed's first plan under each of Drake's approximations. Kept by program and settings."""
    folder = runs.work / f"{system}.{seed}.{runs.deft.name}-{digest(settings)}"
    kept = folder.with_name(f"{folder.name}.json")
    if not kept.exists():
        threads = str(settings["plan"]["threads"])
        plan = runs.call(folder, "plan", f"scenes/planning/{system}.deft.yaml", "--first", "--seed", str(seed), "--threads", threads)
        solved = plan["status"] == "Solved"
        rows = [{"seed": seed, "approximation": approximation, **row} for approximation in settings["approximations"]
                for row in (played(runs, settings, str(folder), approximation) if solved else [])]  # fmt: skip
        kept.write_text(json.dumps(rows))
        say(f"{system}  seed {seed}  {len(rows) // len(settings['approximations'])} segments")
    return json.loads(kept.read_text())


def segments_of_system(runs: DeftRuns, settings: dict, seeds: list[int], system: str) -> dict:
    """Of as many batches of seeds as it takes for the segments asked for."""
    rows: list[dict] = []
    used, batch = 0, settings["batch"]
    with ThreadPoolExecutor(PLAYERS) as pool:
        while used < len(seeds) and len(rows) < settings["least_segments"] * len(settings["approximations"]):
            for found in pool.map(partial(segments_of, runs, settings, system), seeds[used : used + batch]):
                rows += found
            used += batch
    return {"seeds": min(used, len(seeds)), "rows": rows}


def bench_sim_to_sim(request: Request) -> dict:
    """Segments per system; arguments: systems (all); --pilot: seeds that the study has not; --draw-seeds: once, after settings.json was frozen by a
    commit. Segments played before are not again (out/sim-to-sim)."""
    study = open_frozen_study(request, FOLDER)
    if study is None:
        return {}
    runs = DeftRuns(request.build, ROOT / "out/sim-to-sim")
    result: dict = {"settings": study.settings, "pilot": study.pilot, "systems": {}}
    try:
        for name in study.systems:
            result["systems"][name] = segments_of_system(runs, study.settings, study.seeds, name)
            request.keep(result)
    except KeyboardInterrupt:
        raise Failed("interrupted; the same command goes on from here") from None
    finally:
        runs.stop()
    print("Segments with contact, each from the plan's own state, open loop in Drake: the object beside the plan")
    print(f"{'system':20} {'seed':>6} {'plant':>8} {'moves m':>8} {'rad':>6} {'off by m':>9} {'rad':>6}")
    for name, system in result["systems"].items():
        for row in system["rows"]:
            print(f"{name:20} {row['seed']:>6} {row['approximation']:>8} {row['moved_position_m']:8.3f} {row['moved_rotation_rad']:6.2f} "
                  f"{row['position_m']:9.4f} {row['rotation_rad']:6.3f}")  # fmt: skip
    return result
