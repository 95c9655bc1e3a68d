#!/usr/bin/env python3
"""Measure deft beside rival solvers and print one table; `./run bench` calls this.

Usage: run_benchmarks.py BUILD_DIR [--list] [--rounds N] [NAME [ARGUMENT...]]

NAME: solver      one solve of the real problems, deft and rivals in alternating rounds (default, with `step`)
      step        the full step of bundled scenes
      batch       many steps at once on one, two and all cores
      robustness  random problems in bulk; arguments go to the program (--count 100000)
      gradients   errors of the step's derivatives over random states (--states N per row and barrier)
      cross-check interior point against active set (10000 problems; --cross-check 100000)
      delassus    families of problems in force space, both laws (20 each; --delassus 100)
      viewer      script time per frame of the page on a long run, if the page's benchmark is there
Alone on the machine, please: a second busy core slows everything. Results also go to out/bench/NAME.json.
"""
from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ONE_CORE = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
DEFT_COLUMNS = ("sequence", "start", "failed", "certificate", "energy_error", "p50_us", "p95_us", "iterations")
ACCURATE = 1e-6  # energy error up to which a time counts


class Failed(Exception):
    """A benchmark program that is missing or ended with an error."""


def output_of(command: list[str]) -> str:
    """Standard output of a program. @throws Failed with its last words."""
    if not Path(command[0]).exists():
        raise Failed(f"{command[0]} is not there; ./run build makes the programs")
    result = subprocess.run(command, cwd=ROOT, env={**os.environ, **ONE_CORE}, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if result.returncode:
        raise Failed(f"{Path(command[0]).name} ended with {result.returncode}:\n{(result.stderr or result.stdout)[-2000:]}")
    return result.stdout


def deft_rows(text: str) -> list[dict]:
    """The rows that solver_benchmark printed."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == len(DEFT_COLUMNS) and words[1] in ("cold", "warm"):
            row = dict(zip(DEFT_COLUMNS, [*words[:2], *map(float, words[2:])]))
            rows.append({"who": f"deft {row.pop('start')}", **row})
    if not rows:
        raise Failed("solver_benchmark printed no row that could be read")
    return rows


def merged(rounds: list[list[dict]]) -> list[dict]:
    """One row per sequence and solver: median of the rounds' times, worst of their errors."""
    groups: dict[tuple, list[dict]] = {}
    for row in (row for rows in rounds for row in rows):
        groups.setdefault((row["sequence"], row["who"]), []).append(row)
    result = []
    for (sequence, who), rows in groups.items():
        times = {key: statistics.median([r[key] for r in rows if r[key] is not None] or [float("inf")]) for key in ("p50_us", "p95_us")}
        result.append({"sequence": sequence, "who": who, **times, "energy_error": max(r["energy_error"] for r in rows),
                       "failed": int(max(r["failed"] for r in rows))})
    return result


def print_solver_table(rows: list[dict]) -> None:
    """Times per sequence; the ratio is against the fastest rival that is accurate enough."""
    print(f"{'sequence':24} {'solver':22} {'p50 µs':>9} {'p95 µs':>9} {'energy error':>13} {'failed':>6}  best rival / this")
    for sequence in dict.fromkeys(row["sequence"] for row in rows):
        group = [row for row in rows if row["sequence"] == sequence]
        rivals = [r["p50_us"] for r in group if not r["who"].startswith("deft") and r["energy_error"] <= ACCURATE and not r["failed"]]
        for row in sorted(group, key=lambda r: r["p50_us"]):
            ratio = f"{min(rivals) / row['p50_us']:.2f}" if rivals and row["who"].startswith("deft") else ""
            note = "  (not accurate enough to count)" if row["energy_error"] > ACCURATE else ""
            print(f"{sequence:24} {row['who']:22} {row['p50_us']:9.1f} {row['p95_us']:9.1f} {row['energy_error']:13.1e} {row['failed']:6}  {ratio}{note}")


def bench_solver(build: Path, rounds: int, arguments: list[str]) -> object:
    measured = []
    for number in range(rounds):
        print(f"   round {number + 1} of {rounds}: deft, then DAQP and Clarabel", file=sys.stderr)
        measured.append(deft_rows(output_of([str(build / "benchmarks/solver_benchmark"), "--repeat", "5", *arguments])))
        measured.append(json.loads(output_of([sys.executable, "benchmarks/peers/solver_peers.py", "--repeat", "5", "--json"])))
    rows = merged(measured)
    print("P1: one solve of the real problems (rivals' times include their Python call)")
    print_solver_table(rows)
    return rows


def bench_program(name: str, *fixed: str):
    """A benchmark that prints its own table, with some arguments always given."""
    def bench(build: Path, rounds: int, arguments: list[str]) -> object:
        text = output_of([str(build / "benchmarks" / name), *fixed, *arguments])
        print(text, end="")
        return text.splitlines()
    return bench


def bench_viewer(build: Path, rounds: int, arguments: list[str]) -> object:
    scripts = sorted((ROOT / "benchmarks").glob("viewer*.mjs"))
    if not scripts:
        raise Failed("benchmarks/viewer*.mjs is not there")
    text = "".join(output_of([str(ROOT / ".venv/bin/node"), str(script), *arguments]) for script in scripts)
    print(text, end="")
    return text.splitlines()


NOTHING_ELSE = ("--count", "0", "--jammed", "0", "--quasistatic", "0")
BENCHMARKS = {"solver": bench_solver, "step": bench_program("step_benchmark"),
              "batch": bench_program("batch_benchmark"), "robustness": bench_program("robustness"),
              "gradients": bench_program("gradient_benchmark"),
              "cross-check": bench_program("robustness", *NOTHING_ELSE, "--cross-check", "10000"),
              "delassus": bench_program("robustness", *NOTHING_ELSE, "--delassus", "20"),
              "viewer": bench_viewer}
DEFAULT = ["solver", "step"]


def main() -> int:
    build, words, rounds = Path(sys.argv[1]).resolve(), sys.argv[2:], 3
    if "--list" in words:
        print("\n".join(BENCHMARKS))
        return 0
    if "--rounds" in words:
        at = words.index("--rounds")
        rounds = int(words[at + 1])
        del words[at:at + 2]
    if words and words[0] not in BENCHMARKS:
        print(f"run_benchmarks: no benchmark '{words[0]}'; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    os.environ["DEFT_BUILD_DIR"] = str(build)
    (ROOT / "out/bench").mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in words[:1] or DEFAULT:
        try:
            result = BENCHMARKS[name](build, rounds, words[1:])
            (ROOT / f"out/bench/{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        except Failed as error:
            print(f"run_benchmarks: {name}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
