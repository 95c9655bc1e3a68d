"""P7: mixed-integer contact control of a disc among flat surfaces, deft beside SCIP and Gurobi; and how it grows."""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from .programs import output_of, peers, print_absent, say
from .recording import Request

RIVALS = {"scip": "SCIP", "scip6": "SCIP, gap 1e-6", "gurobi1": "Gurobi", "gurobi2": "Gurobi, 2 threads"}
DEFT = {"deft1": 1, "deft2": 2}  # by name: threads
NAMES = {"deft1": "deft", "deft2": "deft, 2 threads", **RIVALS}
SAME = 1e-6  # relative, by which two optima may differ
# What the commercial solver takes for the note's three starts in its free size [s]; None: nothing in 40 s.
PUBLISHED_S = {5: (1.4e-3, 16e-3, 72e-3), 10: (68e-3, 163e-3, 4.17), 20: (5.0, 5.1, None)}
THIRD_START_GAP = 0.12  # of SCIP after a minute at N = 20


def solve(build: Path, file: Path, threads: int, limit: float, repeat: int = 1) -> dict:
    """`deft solve` of one file: a row as the rivals' scripts print it, and the gap."""
    command = [
        str(build / "deft"),
        "solve",
        str(file),
        "--json",
        "--threads",
        str(threads),
        "--time-limit",
        repr(limit),
        "--repeat",
        str(repeat),
    ]
    said = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)  # a limit ends with 1
    found = json.loads(said.stdout)
    solution = found["solution"]
    known = {
        key: solution[key] if isinstance(solution[key], (int, float)) and math.isfinite(solution[key]) else None
        for key in ("cost", "bound", "gap")
    }
    return {"name": file.stem, "who": f"deft{threads}", "proven": found["status"] in ("Solved", "Infeasible"), "said": found["status"],
            "wall_s": found["time_s"], "nodes": solution["nodes"], **known, "residual": max(found["residuals"]["absolute"].values())}  # fmt: skip


def problems(build: Path, folder: Path, *options: str) -> list[dict]:
    text = output_of([str(build / "benchmarks/control_problems"), "write", str(folder), *options])
    return [json.loads(line) for line in text.splitlines()]


def certified(build: Path, folder: Path, row: dict) -> dict:
    """A rival's row with the residual and the cost that our certificate finds, and its gap."""
    answer = folder / f"{row['name']}.{row['who']}.json"
    row["residual"] = row["gap"] = None
    if row["cost"] is not None and answer.exists():
        found = json.loads(
            output_of([str(build / "benchmarks/control_problems"), "certify", str(folder / f"{row['name']}.json"), str(answer)])
        )
        row["residual"] = max(found[key] for key in ("dynamics", "primal", "complementarity"))
        row["cost"] = found["cost"]
        row["gap"] = max(0.0, (row["cost"] - row["bound"]) / row["cost"]) if row["bound"] is not None else None
    return row


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def text_of(value: float | None, form: str, none: str = "-") -> str:
    return none if value is None else format(value, form)


def print_times(rows: list[dict], horizon: int, limit: float) -> list[dict]:
    """One line per solver; a run that ended at the limit counts with the time it took. @returns the lines."""
    of = {who: [r for r in rows if r["who"] == who and r["wall_s"] is not None] for who in NAMES}
    best = {r["name"]: r for r in of["deft1"]}
    print(f"\nN = {horizon}: {len(best)} starts, limit {limit:g} s")
    print(
        f"{'solver':18} {'proven':>7} {'p50 ms':>10} {'p95 ms':>10} {'p50/deft':>9} {'p95/deft':>9} {'nodes p50':>10} {'other optimum':>14} {'residual':>9}"
    )
    lines = []
    for who, name in NAMES.items():
        if not of[who]:
            continue
        same = [best[r["name"]] for r in of[who]]  # a free size may leave some out
        p50, p95 = (1e3 * quantile([r["wall_s"] for r in of[who]], q) for q in (0.5, 0.95))
        ours = [1e3 * quantile([r["wall_s"] for r in same], q) for q in (0.5, 0.95)]
        apart = [
            abs(r["cost"] - b["cost"]) / b["cost"] for r, b in zip(of[who], same) if r["proven"] and b["proven"] and r["cost"] is not None
        ]
        line = {"N": horizon, "who": name, "starts": len(of[who]), "proven": sum(r["proven"] for r in of[who]), "p50_ms": p50, "p95_ms": p95,
                "p50_ratio": p50 / ours[0], "p95_ratio": p95 / ours[1], "nodes_p50": statistics.median(r["nodes"] for r in of[who]),
                "apart": max(apart, default=None), "residual": max((r["residual"] for r in of[who] if r["residual"] is not None), default=None)}  # fmt: skip
        print(
            f"{name:18} {line['proven']:3}/{line['starts']:<3} {p50:10.2f} {p95:10.2f} {line['p50_ratio']:9.1f} {line['p95_ratio']:9.1f} "
            f"{line['nodes_p50']:10.0f} {text_of(line['apart'], '14.1e'):>14} {text_of(line['residual'], '9.0e'):>9}"
        )
        lines.append(line)
    for r in rows:
        if (
            r["proven"]
            and r["cost"] is not None
            and best[r["name"]]["proven"]
            and abs(r["cost"] - best[r["name"]]["cost"]) > SAME * best[r["name"]]["cost"]
        ):
            print(f"  DIFFERENT OPTIMUM: {r['name']} {NAMES[r['who']]} {r['cost']:.12g}, deft {best[r['name']]['cost']:.12g}")
    return lines


def print_gaps(build: Path, folder: Path, rows: list[dict]) -> list[dict]:
    """Gaps after one second where nobody proves within the limit."""
    by_name: dict[str, list[dict]] = {}
    for row in rows:
        by_name.setdefault(row["name"], []).append(row)
    open_ones = [name for name, group in by_name.items() if not any(r["proven"] for r in group)]
    if not open_ones:
        print("  somebody proves every one of them")
        return []
    found = peers("control_peers.py", "scip", "1", *(str(folder / f"{name}.lp") for name in open_ones))
    theirs = {row["name"]: certified(build, folder, row) for row in found["rows"]}
    lines = []
    print(f"  {'nobody proves':14} {'deft, gap after 1 s':>20} {'SCIP, after 1 s':>16} {'deft, at the limit':>19} {'SCIP':>9}")
    for name in open_ones:
        ours = solve(build, folder / f"{name}.json", 1, 1.0)
        last = {r["who"]: r["gap"] for r in by_name[name]}
        scip = theirs.get(name, {}).get("gap")
        lines.append({"name": name, "deft": ours["gap"], "scip": scip, "deft_at_limit": last["deft1"], "scip_at_limit": last.get("scip")})
        print(
            f"  {name:14} {text_of(ours['gap'], '20.1e')} {text_of(scip, '16.1e', 'no answer'):>16} {text_of(last['deft1'], '19.1e')} {text_of(last.get('scip'), '9.1e', 'none'):>9}"
        )
    return lines


def print_bars(rows: list[dict]) -> list[dict]:
    """The note's three starts against published times."""
    print("\nthe note's starts: ms, published in brackets")
    lines = []
    for horizon, bars in PUBLISHED_S.items():
        for k, bar in enumerate(bars):
            row = next((r for r in rows if r["who"] == "deft1" and r["name"] == f"n{horizon:02}_s3_{k:02}"), None)
            if row is None:
                continue
            lines.append(
                {
                    "N": horizon,
                    "start": k,
                    "ms": 1e3 * row["wall_s"],
                    "proven": row["proven"],
                    "gap": row["gap"],
                    "bar_ms": 1e3 * bar if bar else None,
                }
            )
            label = f"N = {horizon:2}, start {k + 1}: {1e3 * row['wall_s']:9.2f} ({text_of(lines[-1]['bar_ms'], 'g')})"
            print(f"  {label:50} {'proven' if row['proven'] else 'gap ' + text_of(row['gap'], '.1e')}" +
                  (f", published {THIRD_START_GAP} after a minute" if (horizon, k) == (20, 2) else ""))  # fmt: skip
    return lines


def growth(build: Path, limit: float, horizons: tuple[int, ...], surfaces: tuple[int, ...]) -> list[dict]:
    """The note's three starts by horizon and number of surfaces, one thread."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for count in surfaces:
            rows = problems(build, Path(folder), "--horizons", ",".join(map(str, horizons)), "--count", "3", "--surfaces", str(count))
            for horizon in horizons:
                solved = [solve(build, Path(folder) / f"{row['name']}.json", 1, limit) for row in rows if row["N"] == horizon]
                nodes, seconds = [r["nodes"] for r in solved], [r["wall_s"] for r in solved]
                gaps = [r["gap"] for r in solved if not r["proven"]]
                lines.append({"N": horizon, "surfaces": count, "pairs": 4 * count * horizon, "nodes": nodes, "seconds": seconds, "proven": sum(r["proven"] for r in solved),
                              "gap": (max(gaps) if all(g is not None for g in gaps) else None) if gaps else 0.0, "us_per_node": 1e6 * sum(seconds) / max(1, sum(nodes))})  # fmt: skip
    return lines


def print_growth(lines: list[dict], limit: float) -> None:
    print(f"\ngrowth: the note's three starts, one thread, limit {limit:g} s; gap: the largest where it is not proven")
    print(
        f"{'surfaces':>8} {'N':>3} {'pairs':>6} {'proven':>7} {'nodes of each start':>24} {'ms of each start':>28} {'gap':>8} {'µs/node':>8}"
    )
    for line in lines:
        nodes, ms = " ".join(f"{n}" for n in line["nodes"]), " ".join(f"{1e3 * s:.1f}" for s in line["seconds"])
        gap = "" if line["proven"] == len(line["nodes"]) else text_of(line["gap"], ".1e", "none")
        print(
            f"{line['surfaces']:8} {line['N']:3} {line['pairs']:6} {line['proven']:5}/{len(line['nodes'])} {nodes:>24} {ms:>28} {gap:>8} {line['us_per_node']:8.0f}"
        )


def bench_contact_mpc(request: Request) -> dict:
    parser = argparse.ArgumentParser(prog="contact-mpc")
    parser.add_argument("--horizons", default="5,10,20")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds per problem and solver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--without-growth", action="store_true")
    parser.add_argument("--growth-limit", type=float, default=10.0)
    options = parser.parse_args(request.arguments)
    result: dict = {
        "load": os.getloadavg()[0],
        "limit_s": options.limit,
        "absent": {},
        "rows": [],
        "times": [],
        "gaps": [],
        "export_ms": {},
    }
    print(
        "P7: contact control to proven optimality; deft with everything, rivals without the building of models and without the bounds that deft computed for them"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for horizon in map(int, options.horizons.split(",")):
            files = [
                folder / f"{row['name']}.json"
                for row in problems(
                    request.build, folder, "--horizons", str(horizon), "--count", str(options.count), "--seed", str(options.seed)
                )
            ]
            exports, rows = [], []
            say(f"N = {horizon}: deft")
            for file in files:
                start = time.perf_counter()
                output_of([str(request.build / "deft"), "solve", str(file), "--export", str(file.with_suffix(".lp"))])
                exports.append(1e3 * (time.perf_counter() - start))
                for threads in DEFT.values():
                    row = solve(request.build, file, threads, options.limit)
                    rows.append(
                        solve(request.build, file, threads, options.limit, request.rounds) if row["wall_s"] < 0.2 * options.limit else row
                    )
            for who in RIVALS:
                say(f"N = {horizon}: {RIVALS[who]}")
                found = peers("control_peers.py", who, repr(options.limit), *(str(file.with_suffix(".lp")) for file in files))
                rows += [certified(request.build, folder, row) for row in found["rows"]]
                result["absent"] |= found["absent"]
            result["times"] += print_times(rows, horizon, options.limit)
            result["export_ms"][horizon] = quantile(exports, 0.5)
            print(f"  writing a file for the rivals, bounds included: {result['export_ms'][horizon]:.0f} ms in the median")
            left_out = {r["who"]: sum(s["who"] == r["who"] and s["wall_s"] is None for s in rows) for r in rows if r["wall_s"] is None}
            for who, number in left_out.items():
                print(f"  {RIVALS[who]}: {number} left out, {next(r['said'] for r in rows if r['who'] == who and r['wall_s'] is None)}")
            result["gaps"] += print_gaps(request.build, folder, rows)
            result["rows"] += rows
    result["bars"] = print_bars(result["rows"])
    print_absent(result["absent"])
    if not options.without_growth:
        say("growth")
        result["growth"] = growth(request.build, options.growth_limit, (5, 10, 15, 20, 30, 40), (1, 2, 3, 4, 5))
        print_growth(result["growth"], options.growth_limit)
    return result
