"""Plans of `deft plan` played open loop in Drake and MuJoCo: how far the objects end from the plan, segment by segment and over the whole plan; with feedback in MuJoCo."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .programs import ROOT, Failed, output_of, print_absent, say

RECORDED = ROOT / "benchmarks/baselines/sim-to-sim.json"
SYSTEMS = ("planar_pushing", "planar_hand", "planar_bimanual", "allegro_ball", "allegro_pen", "allegro_plate", "allegro_door")
# Plans that also hold in steps of h/2 and h/5; for the other systems the planner finds none within 40 s.
REFINED = {f"{system}, refined": system for system in ("planar_pushing", "planar_hand", "allegro_pen", "allegro_door")}
REFINEMENT = "plan.refine=[2,5]"
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
        scene = ROOT / f"scenes/planning/{REFINED.get(system, system)}.deft.yaml"
        return folder, self.kept(f"{system}-planned", [self.deft, "plan", str(scene), "--seed", "0", *(["--set", REFINEMENT] if system in REFINED else ["--first"]),
                                                       "--out", str(folder), "--force", "--json"])  # fmt: skip

    def drake(self, system: str, plan: Path) -> dict:
        return self.kept(f"{system}-drake", [sys.executable, str(ROOT / "benchmarks/peers/drake_plant.py"), str(plan), "--out", str(self.work / f"{system}-drake"),
                                             "--deft", self.deft, "--step", repr(STEP_S), "--speed", repr(SPEED), "--settle", repr(SETTLE_S), "--segments"])  # fmt: skip

    def mujoco(self, system: str, plan: Path, controller: str = "open-loop") -> dict:
        name = f"{system}-mujoco{'' if controller == 'open-loop' else '-' + controller}"
        folder = self.work / name
        try:
            return self.kept(name, [self.deft, "track", str(plan), "--plant", "mujoco", "--controller", controller, "--set", f"track.speed={SPEED}",
                                    "--set", f"track.settle={SETTLE_S}", "--set", f"track.plant_step={STEP_S}", "--out", str(folder), "--force", "--json"])  # fmt: skip
        except Failed:
            if not (folder / "summary.json").exists():  # else it ran, and missed the goal: exit 1
                raise
            text = json.dumps(json.loads((folder / "summary.json").read_text()))
            (self.work / f"{name}.json").write_text(text)
            return json.loads(text)

    def along(self, system: str, plan: Path, who: str) -> list[dict]:
        """Errors where the segments of the whole plan end, as they add up."""
        import h5py
        import numpy as np

        sys.path.insert(0, str(ROOT / "benchmarks/peers"))
        from plant_scene import object_errors, read_run

        run = read_run(plan, Path(self.deft))
        with h5py.File(self.work / f"{system}-{who}" / "run.h5") as file:
            q = file["q"][()]
            knots = file["track/knot"][()] if "track/knot" in file else np.arange(len(q))
        rows = []
        assert run.segments is not None, f"{plan} is no plan"
        for _, last, transfer, _ in run.segments:
            at = min(int(np.searchsorted(knots, last - 1e-9)), len(q) - 1)
            errors = object_errors(run, q[at], run.q[last]).values()
            rows.append(
                {"transfer": bool(transfer), **{key: max(error[key] for error in errors) for key in ("position_m", "rotation_rad")}}
            )
        return rows


def bench_sim_to_sim(build: Path, rounds: int, arguments: list[str]) -> dict:
    """Rows per system; arguments: systems (all), --record also writes benchmarks/baselines/sim-to-sim.json."""
    bench, rows, absent = Bench(build), [], {}
    keys = ("position_m", "rotation_rad")
    for system in [word for word in arguments if not word.startswith("--")] or [*SYSTEMS, *REFINED]:
        folder, plan = bench.plan(system)
        played = bench.drake(system, folder)
        row = {"system": system, "goal_error": plan["goal_error"], "segments": played["segments"],
               "drake": {"status": played["status"], "settings": played["settings"], "whole": {key: played["final_error"][key] for key in keys},
                         "along": bench.along(system, folder, "drake")}}  # fmt: skip
        try:
            tracked = bench.mujoco(system, folder)
            row["mujoco"] = {"status": tracked["status"], "settings": [line for line in tracked["plant"]["settings"] if not line.startswith("MuJoCo")],
                             "whole": {key: tracked["final_error"][key] for key in keys}, "along": bench.along(system, folder, "mujoco")}  # fmt: skip
            fed = bench.mujoco(system, folder, "mpc")
            row["feedback"] = {
                "status": fed["status"],
                "success": fed["success"],
                "replans": fed["replans"],
                "whole": {key: fed["final_error"][key] for key in keys},
            }
        except Failed as error:
            absent["MuJoCo"] = " ".join(str(error).split())
        rows.append(row)
    print(
        f"Plans, open loop, joint targets at most {SPEED:g} rad/s or m/s: the objects beside the plan (segments: in Drake, each from the plan's own state)"
    )
    print(f"{'system':24} {'segment':>9} {'moved m':>8} {'rad':>6} {'off by m':>9} {'rad':>6}")
    for row in rows:
        for part in row["segments"]:
            word = "transfer" if part["transfer"] else "contact"
            print(
                f"{row['system']:24} {word:>9} {part['moved_position_m']:8.3f} {part['moved_rotation_rad']:6.2f} {part['position_m']:9.4f} {part['rotation_rad']:6.3f}"
            )
        for who in ("drake", "mujoco", "feedback"):
            if who in row:
                whole = row[who]["whole"]
                print(
                    f"{row['system']:24} {'whole':>9} {'':6} {who:>8} {whole['position_m']:9.4f} {whole['rotation_rad']:6.3f}  {row[who]['status']}"
                )
    print_absent(absent)
    result = {"rows": rows, "absent": absent, "speed": SPEED, "settle_s": SETTLE_S, "step_s": STEP_S}
    if "--record" in arguments:
        RECORDED.write_text(json.dumps({"benchmark": "sim-to-sim", "result": result}, allow_nan=False) + "\n")
    return result
