"""P1: one solve of the real problems, deft and its rivals in one program, alternating; with --isa every kernel path of deft instead."""

from __future__ import annotations

import json
import statistics

from .programs import output_of, peers, print_absent, say
from .recording import Request

ACCURATE = 1e-6  # energy error up to which a time counts
KERNELS = ("avx512", "avx2", "baseline")


FROM_PYTHON = ", from Python"


def program_rows(words: list[str], kernels: str = "") -> list[dict]:
    """Rows of solver_benchmark: deft, and the rivals that it was built with."""
    rows = json.loads(output_of([*words, "--json"], **({"DEFT_ISA": kernels} if kernels else {})))
    return [{**row, "who": row["who"].replace("deft", f"deft {kernels}") if kernels else row["who"]} for row in rows]


def python_rows() -> tuple[list[dict], dict]:
    """Rows of the rivals that are not in the program, marked so, and which are absent. Their times are those that they report themselves: no call of Python's."""
    found = peers("solver_peers.py", "--repeat", "5", "--json")
    return [{**row, "who": row["who"] + FROM_PYTHON, "p50_us": row["own_us"], "p95_us": None} for row in found["rows"]], found["absent"]


def merged(rounds: list[list[dict]]) -> list[dict]:
    """One row per sequence and solver: median of the rounds' times, worst of their errors."""
    groups: dict[tuple, list[dict]] = {}
    for row in (row for rows in rounds for row in rows):
        groups.setdefault((row["sequence"], row["who"]), []).append(row)
    result = []
    for (sequence, who), rows in groups.items():
        known = {key: [r[key] for r in rows if r.get(key) is not None] for key in ("p50_us", "p95_us")}
        times = {key: statistics.median(values) if values else None for key, values in known.items()}
        result.append(
            {
                "sequence": sequence,
                "who": who,
                **times,
                "energy_error": max(r["energy_error"] for r in rows),
                "failed": int(max(r["failed"] for r in rows)),
            }
        )
    return result


def print_table(rows: list[dict]) -> None:
    """Times per sequence; the ratio is against the fastest rival that is accurate enough."""
    print(f"{'sequence':24} {'solver':32} {'p50 µs':>9} {'p95 µs':>9} {'energy error':>13} {'failed':>6}  this / best rival")
    for sequence in dict.fromkeys(row["sequence"] for row in rows):
        group = [row for row in rows if row["sequence"] == sequence]
        rivals = [r["p50_us"] for r in group if not r["who"].startswith("deft") and r["energy_error"] <= ACCURATE and not r["failed"]]
        for row in sorted(group, key=lambda r: r["p50_us"]):
            ratio = f"{row['p50_us'] / min(rivals):.2f}" if rivals and row["who"].startswith("deft") else ""
            note = "  (not accurate enough to count)" if row["energy_error"] > ACCURATE or row["failed"] else ""
            p95 = f"{row['p95_us']:9.2f}" if row["p95_us"] is not None else " " * 9
            print(f"{sequence:24} {row['who']:32} {row['p50_us']:9.2f} {p95} {row['energy_error']:13.1e} {row['failed']:6}  {ratio}{note}")


def bench_solver(request: Request) -> dict:
    program = [str(request.build / "benchmarks/solver_benchmark"), "--repeat", "5"]
    measured: list[list[dict]] = []
    absent: dict[str, str] = {}
    if "--isa" in request.arguments:
        words = [word for word in request.arguments if word != "--isa"]
        for _ in range(request.rounds):
            measured += [program_rows([*program, *words], isa) for isa in KERNELS]
    else:
        for number in range(request.rounds):
            say(f"round {number + 1} of {request.rounds}")
            rows = program_rows([*program, *request.arguments])
            if all(row["who"].startswith("deft") for row in rows):
                absent["rivals"] = "solver_benchmark was built without them (DEFT_RIVALS)"
            others, missing = python_rows()
            measured += [rows, [row for row in others if not any(row["who"].split(",")[0] in own["who"] for own in rows)]]
            absent |= missing
    rows = merged(measured)
    print(
        "P1: one solve of the real problems: update of what was kept, solve and reading of the motion, in one program; those from Python by their own clock"
    )
    print_table(rows)
    print_absent(absent)
    return {"rows": rows, "absent": absent}
