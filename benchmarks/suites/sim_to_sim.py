"""Plans of `deft plan` played open loop in Drake: how far the objects end from the plan, segment by segment and over the whole plan."""
from __future__ import annotations

import json
import sys
from pathlib import Path

from .programs import ROOT, output_of, say

RECORDED = ROOT / "benchmarks/baselines/sim-to-sim.json"
SYSTEMS = ("planar_pushing", "planar_hand", "planar_bimanual", "allegro_ball", "allegro_pen", "allegro_plate", "allegro_door")
SPEED, SETTLE_S, STEP_S = 0.5, 1.0, 1e-3  # joint targets [rad/s, m/s]; the last command of a segment is held; Drake's step


class Bench:
    """Plans and their repetitions, kept in out/sim-to-sim: what is there already is not made again."""

    def __init__(self, build: Path):
        self.deft, self.work = str(build / "deft"), ROOT / "out/sim-to-sim"
        self.work.mkdir(parents=True, exist_ok=True)

    def kept(self, name: str, command: list[str]) -> dict:
        file = self.work / f"{name}.json"
        if not file.exists():
            say(name)
            part = file.with_suffix(".part")
            part.write_text(output_of(command).splitlines()[-1])
            part.rename(file)
        return json.loads(file.read_text())

    def plan(self, system: str) -> tuple[Path, dict]:
        folder = self.work / f"{system}-plan"
        return folder, self.kept(f"{system}-planned", [self.deft, "plan", str(ROOT / f"scenes/planning/{system}.deft.yaml"), "--seed", "0", "--out", str(folder),
                                                       "--force", "--json"])  # fmt: skip

    def drake(self, system: str, plan: Path) -> dict:
        return self.kept(f"{system}-drake", [sys.executable, str(ROOT / "benchmarks/peers/drake_plant.py"), str(plan), "--out", str(self.work / f"{system}-drake"),
                                             "--deft", self.deft, "--step", repr(STEP_S), "--speed", repr(SPEED), "--settle", repr(SETTLE_S), "--segments"])  # fmt: skip


def bench_sim_to_sim(build: Path, rounds: int, arguments: list[str]) -> dict:
    """Rows per system; arguments: systems (all), --record also writes benchmarks/baselines/sim-to-sim.json."""
    bench, rows = Bench(build), []
    for system in [word for word in arguments if not word.startswith("--")] or SYSTEMS:
        folder, plan = bench.plan(system)
        played = bench.drake(system, folder)
        keys = ("position_m", "rotation_rad")
        rows.append({"system": system, "goal_error": plan["goal_error"], "status": played["status"], "settings": played["settings"],
                     "whole": {key: played["final_error"][key] for key in keys}, "segments": played["segments"]})  # fmt: skip
    print(f"Plans in Drake, open loop, joint targets at most {SPEED:g} rad/s or m/s: the objects beside the plan")
    print(f"{'system':18} {'segment':>9} {'moved m':>8} {'rad':>6} {'off by m':>9} {'rad':>6}")
    for row in rows:
        for part in row["segments"]:
            word = "transfer" if part["transfer"] else "contact"
            print(f"{row['system']:18} {word:>9} {part['moved_position_m']:8.3f} {part['moved_rotation_rad']:6.2f} {part['position_m']:9.4f} {part['rotation_rad']:6.3f}")
        print(f"{row['system']:18} {'whole':>9} {'':8} {'':6} {row['whole']['position_m']:9.4f} {row['whole']['rotation_rad']:6.3f}  {row['status']}")
    result = {"rows": rows, "speed": SPEED, "settle_s": SETTLE_S, "step_s": STEP_S}
    if "--record" in arguments:
        RECORDED.write_text(json.dumps({"benchmark": "sim-to-sim", "result": result}, allow_nan=False) + "\n")
    return result
