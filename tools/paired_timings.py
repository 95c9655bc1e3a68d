#!/usr/bin/env python3
"""Is this build slower than another one? Every bar P1 to P12, without rivals, by both in turn.

Usage: paired_timings.py BEFORE AFTER [--runs 10] [P1 P2 …]

BEFORE and AFTER are builds with benchmarks (build/release of two clones). Each command below is run by the one and by the other in
turn, in the clone that the build belongs to, so that both do the work of their own scenes. What counts is the processor time of the
whole process, user and system; the work of a command is fixed. Printed per bar: median of both, the median of the ratios after /
before of the pairs, and the interval that holds that median with at least 95 % (order statistics, no distribution assumed).
P3 is the median solve of a run, P10 the processor time of a step as its benchmark prints it: the rest of these processes is other
work. Alone on the machine, please. Nothing is judged.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks" / "piles"))

# By bar: programs of the build, run one after the other. HEAP, PROBLEM: made once, read by both; OUT: a folder.
COMMANDS = {
    "P1": [["benchmarks/solver_benchmark", "--repeat", "40"]],
    "P2": [["benchmarks/step_benchmark", "--repeat", "3"]],
    "P3": [["deft", "sim", "scenes/reproductions/grasping_peg.deft.yaml", "--set", "step.uniqueness=off", "--out", "OUT", "--json"]] * 10,
    "P4": [["benchmarks/single_step_benchmark", "--rounds", "1", "--iterations", "300", "--threads", "1"]],
    "P5": [["benchmarks/trajectory_benchmark", "--repeat", "3", "--threads", "1"]],
    "P6": [["benchmarks/tracking_benchmark", "--runs", "1", "--repeat", "1"]],
    "P7": [["deft", "solve", f"PROBLEM{k}", "--threads", "1", "--quiet"] for k in range(6)],
    "P8": [["benchmarks/patch_benchmark", "drops", "--count", "40", "--seed", "1"]],
    "P9": [["benchmarks/pile_benchmark", "HEAP", "20", "400", "20", "0"]],
    "P10": [["benchmarks/batch_benchmark", "--count", "200", "--rounds", "1"]],
    "P11": [["benchmarks/pile_benchmark", f"scenes/{scene}/scene.deft.yaml", "100", "0", "20000", "0", "step.h=0.1", "step.kappa=.inf"]
            for scene in ("gripper_cube", "allegro_ball")],
    "P12": [["benchmarks/gradient_benchmark", "--states", "3"]],
}  # fmt: skip


def run(build: Path, command: list[str], made: dict[str, Path]) -> str:
    """What a program of the build prints."""
    words = [str(made.get(word, word)) for word in command[1:]]
    done = subprocess.run([build / command[0], *words], cwd=build.parents[1], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"paired_timings: {build / command[0]} ended with {done.returncode}: {done.stderr[-500:]}")
    return done.stdout


def processor_seconds(build: Path, bar: str, made: dict[str, Path]) -> float:
    """User and system time of the programs of a bar together."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = [run(build, command, made | {"OUT": made["OUT"] / f"{time.monotonic_ns()}"}) for command in COMMANDS[bar]]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if bar == "P3":
        return sum(1e-6 * json.loads(text)["solve_us"]["p50"] for text in said)
    if bar == "P10":
        rows = [line.split("|") for line in said[0].splitlines() if line.startswith("| ") and line.split("|")[2].strip().isdigit()]
        return 1e-6 * sum(float(row[6]) for row in rows)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def interval_of_median(values: list[float]) -> tuple[float, float]:
    """Smallest symmetric interval of order statistics that holds the median with at least 95 %."""
    n, ordered = len(values), sorted(values)
    k = 0  # values cut off on either side
    while 2 * sum(math.comb(n, i) for i in range(k + 2)) / 2**n <= 0.05:
        k += 1
    return ordered[k], ordered[n - 1 - k]


def make_inputs(build: Path, folder: Path) -> dict[str, Path]:
    """A heap of boxes and six control problems, by this build."""
    import heap

    made = {"HEAP": folder / "heap.deft.yaml", "OUT": folder / "runs"}
    for name in ("runs", "problems"):
        (folder / name).mkdir()
    made["HEAP"].write_text(heap.deft_scene(heap.heap(60), "convex-second-order"))
    run(build, ["benchmarks/control_problems", "write", str(folder / "problems"), "--horizons", "5,10", "--count", "3"], {})
    problems = sorted((folder / "problems").glob("*.json"))
    return made | {f"PROBLEM{k}": problem for k, problem in enumerate(problems)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("bars", nargs="*", metavar="BAR", help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--runs", type=int, default=10)
    arguments = parser.parse_args()
    before, after = arguments.before.resolve(), arguments.after.resolve()
    unknown = [bar for bar in arguments.bars if bar not in COMMANDS]
    if unknown:
        parser.error(f"no bar '{unknown[0]}'; there are {', '.join(COMMANDS)}")
    print("| bar | before [s] | after [s] | after / before | 95 % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        made = make_inputs(after, Path(scratch))
        for bar in arguments.bars or COMMANDS:
            pairs = []
            for k in range(arguments.runs + 1):
                first, second = (before, after) if k % 2 else (after, before)
                times = {build: processor_seconds(build, bar, made) for build in (first, second)}
                if k > 0:  # the first pair warms the caches of the machine
                    pairs.append((times[before], times[after]))
            medians = [statistics.median(side) for side in zip(*pairs)]
            ratios = [b / a for a, b in pairs]
            low, high = interval_of_median(ratios)
            print(f"| {bar} | {medians[0]:.3g} | {medians[1]:.3g} | {statistics.median(ratios):.3f} | {low:.3f} … {high:.3f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
