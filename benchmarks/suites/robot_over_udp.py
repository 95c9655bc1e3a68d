"""Plans on a robot of its own process: MuJoCo in real time behind UDP that is late, loses packets and is cut for a while.

Settings are frozen by a commit and seeds drawn from it (benchmarks/robot_over_udp), by the rule of plans-that-hold.
"""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
from pathlib import Path

from .frozen_study import open_frozen_study
from .programs import ROOT, Failed, output_of
from .python_package import interpreter
from .recording import Request

FOLDER = ROOT / "benchmarks/robot_over_udp"
PEER = ROOT / "benchmarks/peers/robot_over_udp.py"
LONGEST_S = 1800.0  # of one run: far beyond what settings allow


def called(word: str, *arguments: object) -> list[str]:
    return [interpreter(), str(PEER), word, str(FOLDER / "settings.json"), *map(str, arguments)]


def last_json(text: str) -> dict:
    return json.loads(text.strip().splitlines()[-1])


def on_robot(scene: Path, folder: Path, seed: int, silent_at: float, dies_at: float | None = None) -> dict:
    """One run: what the driver says (nothing where it was killed), and what the robot saw."""
    robot = subprocess.Popen(called("robot", scene, seed, silent_at), stdout=subprocess.PIPE, text=True)
    assert robot.stdout is not None
    try:
        port = robot.stdout.readline().strip()
        if not port:
            raise Failed(f"robot-udp: the robot of {scene.name} did not start")
        words = called("drive", folder, seed, port, folder / f"log-{seed}.npz", *([] if dies_at is None else [dies_at]))
        driver = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST_S)
        if dies_at is None and driver.returncode:
            raise Failed(f"robot-udp: {driver.stderr.strip()}")
        seen, _ = robot.communicate(timeout=LONGEST_S)
    finally:
        robot.kill()
        robot.wait()
    if dies_at is not None and driver.returncode != -signal.SIGKILL:
        raise Failed(f"robot-udp: the driver was to be killed and ended with {driver.returncode}: {driver.stderr.strip()}")
    return {"driver": last_json(driver.stdout) if dies_at is None else {"returncode": driver.returncode}, "robot": last_json(seen)}


def one(scene: Path, seed: int, work: Path) -> dict:
    folder = work / f"{scene.name}-{seed}"
    plan = last_json(output_of(called("plan", scene, seed, folder)))
    row: dict = {"seed": seed, "plan": plan, "arrived": False}
    if plan["success"]:
        row |= on_robot(scene, folder, seed, plan["duration_s"] / 2)
        row["arrived"] = bool(row["driver"]["arrived"] and row["robot"]["reached"])
    return row


def exceeded(row: dict) -> int:
    """Targets beyond the limits of joints or of steps, as the robot counted them."""
    robot = row.get("robot", {"beyond_limits": 0, "beyond_steps": 0})
    return robot["beyond_limits"] + robot["beyond_steps"]


def said(row: dict) -> str:
    if "driver" not in row:
        return f"no plan: {row['plan']['status']}"
    driver, robot = row["driver"], row["robot"]
    counts = driver["counts"]
    return (
        f"{'arrived' if row['arrived'] else driver['reason'][:60]}; plan {row['plan']['duration_s']:.1f} s, run {driver['duration_s']:.1f} s, "
        f"held {counts['holds']} times for {counts['held_s']:.2f} s, late {counts['late']}, new plans {driver.get('new_plans', 0)}, "
        f"beyond limits {exceeded(row)}, simulation behind by {1000 * robot['slowest_s']:.0f} ms"
    )


def bench_robot_over_udp(request: Request) -> dict:
    """Arguments: systems; --pilot: seeds that the study has not; --draw-seeds: once, after settings.json was frozen by a commit."""
    study = open_frozen_study(request, FOLDER)
    if study is None:
        return {}
    settings, seeds = study.settings, study.seeds
    result: dict = {"settings": settings, "seeds": seeds, "pilot": study.pilot, "systems": {}}
    for system in study.systems:
        scene = ROOT / f"scenes/planning/{system}.deft.yaml"
        rows: list[dict] = []
        with tempfile.TemporaryDirectory() as folder:
            for seed in seeds:
                rows.append(one(scene, seed, Path(folder)))
                result["systems"][system] = {"rows": rows}
                request.keep(result)
                print(f"{system} {seed}: {said(rows[-1])}", flush=True)
            planned = next((row for row in rows if row["plan"]["success"]), None)
            if planned is not None:
                half = planned["plan"]["duration_s"] / 2
                died = on_robot(scene, Path(folder) / f"{scene.name}-{planned['seed']}", planned["seed"], 1e9, half)
                result["systems"][system]["driver_killed"] = died
                print(f"{system}, driver killed in the middle: targets moved by {died['robot']['targets_moved']:g}, "
                      f"joints by {died['robot']['joints_moved']:.2g} in {settings['robot']['watched_s']:g} s")  # fmt: skip
        arrived = sum(row["arrived"] for row in rows)
        print(f"{system}: {arrived} of {len(rows)} arrived (bar {100 * settings['bars']['share']:g} %), "
              f"{sum(map(exceeded, rows))} targets beyond limits")  # fmt: skip
    return result
