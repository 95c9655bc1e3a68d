"""P1: one solve of the real problems, deft and its rivals in alternating rounds; with --isa also every kernel path."""

from __future__ import annotations

import statistics

from .programs import Failed, output_of, peers, print_absent, say
from .recording import Request

DEFT_COLUMNS = ("sequence", "start", "failed", "certificate", "energy_error", "p50_us", "p95_us", "iterations")
ACCURATE = 1e-6  # energy error up to which a time counts
KERNELS = ("avx512", "avx2", "baseline")


def deft_rows(text: str, who: str = "deft") -> list[dict]:
    """The rows that solver_benchmark printed."""
    rows = []
    for line in text.splitlines():
        words = line.split()
        if len(words) == len(DEFT_COLUMNS) and words[1] in ("cold", "warm"):
            row = dict(zip(DEFT_COLUMNS, [*words[:2], *map(float, words[2:])]))
            rows.append({"who": f"{who} {row.pop('start')}", **row})
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
        known = {key: [r[key] for r in rows if r.get(key) is not None] for key in ("p50_us", "p95_us", "own_us")}
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
    print(f"{'sequence':24} {'solver':22} {'p50 µs':>9} {'p95 µs':>9} {'own µs':>9} {'energy error':>13} {'failed':>6}  best rival / this")
    for sequence in dict.fromkeys(row["sequence"] for row in rows):
        group = [row for row in rows if row["sequence"] == sequence]
        rivals = [r["p50_us"] for r in group if not r["who"].startswith("deft") and r["energy_error"] <= ACCURATE and not r["failed"]]
        for row in sorted(group, key=lambda r: r["p50_us"]):
            ratio = f"{min(rivals) / row['p50_us']:.2f}" if rivals and row["who"].startswith("deft") else ""
            note = "  (not accurate enough to count)" if row["energy_error"] > ACCURATE else ""
            own = f"{row['own_us']:9.1f}" if row["own_us"] is not None else " " * 9
            print(
                f"{sequence:24} {row['who']:22} {row['p50_us']:9.1f} {row['p95_us']:9.1f} {own} {row['energy_error']:13.1e} {row['failed']:6}  {ratio}{note}"
            )


def bench_solver(request: Request) -> dict:
    program = [str(request.build / "benchmarks/solver_benchmark"), "--repeat", "5"]
    measured: list[list[dict]] = []
    absent: dict[str, str] = {}
    if "--isa" in request.arguments:
        words = [word for word in request.arguments if word != "--isa"]
        for _ in range(request.rounds):
            measured += [deft_rows(output_of([*program, *words], DEFT_ISA=isa), f"deft {isa}") for isa in KERNELS]
    else:
        for number in range(request.rounds):
            say(f"round {number + 1} of {request.rounds}: deft, then its rivals")
            measured.append(deft_rows(output_of([*program, *request.arguments])))
            found = peers("solver_peers.py", "--repeat", "5", "--json")
            measured.append(found["rows"])
            absent |= found["absent"]
    rows = merged(measured)
    print("P1: one solve of the real problems (rivals' times include their Python call; `own` is what they report themselves)")
    print_table(rows)
    print_absent(absent)
    return {"rows": rows, "absent": absent}
