"""First plans of `deft plan` played in Drake segment by segment, open loop: the published planner's sim-to-sim check."""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor

from .programs import ROOT, DeftRuns, Failed, output_of, say
from .recording import Request

SYSTEMS = ("planar_pushing", "planar_hand", "planar_bimanual", "allegro_ball", "allegro_plate", "allegro_pen", "allegro_door")
SEEDS, FIRST_SEED = 5, 2001  # plans of a system
MOST_SEEDS, LEAST_SEGMENTS = 15, 10  # more of them, until so many segments have contact
SPEED, SETTLE_S, STEP_S = 0.5, 1.0, 1e-3  # joint targets [rad/s, m/s]; the last command of a segment is held; Drake's step
PLAYERS = 2  # plans at once


def segments_of(runs: DeftRuns, system: str, seed: int) -> list[dict]:
    """The segments of a seed's first plan in which the robots are to move the object: how far it was meant to go, and how far off it ends. Kept by program."""
    folder = runs.work / f"{system}.{seed}.{runs.deft.name}"
    kept = folder.with_name(f"{folder.name}.json")
    if not kept.exists():
        plan = runs.call(folder, "plan", f"scenes/planning/{system}.deft.yaml", "--first", "--seed", str(seed), "--threads", "1")
        rows = []
        if plan["status"] == "Solved":
            command = [sys.executable, str(ROOT / "benchmarks/peers/drake_plant.py"), str(folder), "--segments", "--deft", str(runs.deft),
                       "--step", repr(STEP_S), "--speed", repr(SPEED), "--settle", repr(SETTLE_S)]  # fmt: skip
            rows = [row for row in json.loads(output_of(command).splitlines()[-1])["segments"] if not row["transfer"]]
        kept.write_text(json.dumps(rows))
        say(f"{system}  seed {seed}  {len(rows)} segments")
    return json.loads(kept.read_text())


def segments_of_system(runs: DeftRuns, system: str) -> list[dict]:
    found: list[dict] = []
    with ThreadPoolExecutor(PLAYERS) as pool:
        for first in range(0, MOST_SEEDS, SEEDS):
            seeds = range(FIRST_SEED + first, FIRST_SEED + first + SEEDS)
            for seed, rows in zip(seeds, pool.map(lambda seed: segments_of(runs, system, seed), seeds)):
                found += [{"seed": seed, **row} for row in rows]
            if len(found) >= LEAST_SEGMENTS:
                break
    return found


def bench_sim_to_sim(request: Request) -> dict:
    """Segments per system; arguments: systems (all). Segments played before are not again
    (out/sim-to-sim)."""
    names = request.arguments or list(SYSTEMS)
    if unknown := [name for name in names if name not in SYSTEMS]:
        raise Failed(f"sim-to-sim: unknown argument {unknown[0]!r}; there are {', '.join(SYSTEMS)}")
    runs = DeftRuns(request.build, ROOT / "out/sim-to-sim")
    try:
        systems = {name: segments_of_system(runs, name) for name in names}
    except KeyboardInterrupt:
        raise Failed("interrupted; the same command goes on from here") from None
    finally:
        runs.stop()
    print("Segments with contact, each from the plan's own state, open loop in Drake: the object beside the plan")
    print(f"{'system':20} {'seed':>6} {'moves m':>8} {'rad':>6} {'off by m':>9} {'rad':>6}")
    for name, rows in systems.items():
        for row in rows:
            print(f"{name:20} {row['seed']:>6} {row['moved_position_m']:8.3f} {row['moved_rotation_rad']:6.2f} {row['position_m']:9.4f} {row['rotation_rad']:6.3f}")  # fmt: skip
    return {"systems": systems, "seeds": [SEEDS, FIRST_SEED], "speed": SPEED, "settle_s": SETTLE_S, "step_s": STEP_S}
