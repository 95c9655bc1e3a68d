"""P9: heaps of boxes, falling and settled, deft beside MuJoCo and Drake on the same boxes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from .programs import ROOT, output_of, peers, print_absent, say
from .recording import Request

sys.path.insert(0, str(ROOT / "benchmarks" / "piles"))
import heap

SIZES = (10, 30, 100, 300, 1000)
ISLANDS = (1, 10, 100)  # piles of ten boxes
FALLING, SETTLING, SETTLED = 20, 280, 20  # steps of 10 ms
REST = 1500  # steps more in which all velocities may fall below 1e-8


def run_deft(build: Path, boxes: list[heap.Box], model: str, steps: tuple[int, int, int, int]) -> dict:
    """What pile_benchmark says of these boxes: {"falling", "between", "settled", "q", "rest_s"}."""
    scene = ROOT / "out/bench/pile.deft.yaml"
    scene.write_text(heap.deft_scene(boxes, model))
    return json.loads(output_of([str(build / "benchmarks/pile_benchmark"), str(scene), *map(str, steps)]))


def as_lists(boxes: list[heap.Box]) -> list:
    return [[part.tolist() for part in (box.size, box.position, box.quat_wxyz)] for box in boxes]


def growth(rows: list[dict], who: str, phase: str) -> float | None:
    """Exponent of the time per step over the number of boxes, by least squares."""
    points = [(row["boxes"], row["step_ms"]) for row in rows if row["who"] == who and row["phase"] == phase]
    if len(points) < 2:
        return None
    boxes, milliseconds = np.log(np.array(points).T)
    return float(np.polyfit(boxes, milliseconds, 1)[0])


def line(row: dict) -> str:
    solve = f"{row['solve_ms']:9.2f}" if "solve_ms" in row else " " * 9
    if row["who"].startswith("deft"):
        notes = f"residual {row['residual']:.0e}, {row['loaded']:.0f} loaded, deepest {1e3 * row['deepest_m']:.2g} mm"
        if "rest_s" in row:
            notes += f", below 1e-8 after {row['rest_s']} s"
    elif "unconverged_steps" in row:
        gradient = f", gradient {row['gradient']:.0e}" if row["gradient"] is not None else ""
        notes = f"{row['unconverged_steps']} of {row['steps']} steps unconverged{gradient}"
    else:
        notes = "a polygon per pair" if "hydroelastic" in row["who"] else "one point per pair"
    iterations = f"{row['iterations']:5.0f}" if "iterations" in row else " " * 5
    return (
        f"{row['boxes']:5} {row['phase']:8} {row['who']:26} {row['step_ms']:9.2f} {row['step_ms_p95']:9.2f} {solve} {row['contacts']:8.0f} "
        f"{iterations} {row.get('largest_speed', row.get('speed')):10.1e}  {notes}"
    )


def measure_heap(build: Path, count: int, with_peers: bool) -> tuple[list[dict], dict]:
    """Rows of one heap: deft falling, settled, settled and quasidynamic; rivals from the same boxes."""
    boxes = heap.heap(count)
    say(f"{count} boxes: deft")
    result = run_deft(build, boxes, "convex-second-order", (FALLING, SETTLING, SETTLED, REST))
    rows = [{"who": "deft", "phase": phase, "boxes": count, **result[phase]} for phase in ("falling", "settled")]
    rows[-1]["rest_s"] = result["rest_s"]
    rest = heap.placed(boxes, np.array(result["q"]))
    quasidynamic = run_deft(build, rest, "convex", (0, 10, SETTLED, 0))
    rows.append({"who": "deft, quasidynamic", "phase": "settled", "boxes": count, **quasidynamic["settled"]})
    if not with_peers:
        return rows, {}
    say(f"{count} boxes: MuJoCo and Drake")
    file = ROOT / "out/bench/pile_boxes.json"
    file.write_text(json.dumps({"falling": as_lists(boxes), "settled": as_lists(rest)}))
    found = peers("pile_peers.py", str(file))
    return rows + found["rows"], found["absent"]


def bench_piles(request: Request) -> dict:
    """Arguments: the sizes (10 30 100 300 1000 unless given), --without-rivals."""
    sizes = [int(word) for word in request.arguments if word.isdigit()] or SIZES
    rows: list[dict] = []
    absent: dict[str, str] = {}
    header = f"{'boxes':>5} {'phase':8} {'who':26} {'step ms':>9} {'p95':>9} {'solve ms':>9} {'contacts':>8} {'its':>5} {'speed':>10}"
    print("P9: heaps of boxes, h = 10 ms, any forces; speed: the largest velocity [m/s, rad/s]\n" + header)
    for count in sizes:
        found, missing = measure_heap(request.build, count, "--without-rivals" not in request.arguments)
        absent |= missing
        for row in found:
            print(line(row), flush=True)
        rows += found
    for piles in ISLANDS:
        say(f"{piles} separate piles of ten boxes")
        result = run_deft(request.build, heap.islands(piles, 10), "convex-second-order", (FALLING, SETTLING, SETTLED, REST))
        found = [{"who": "deft, piles of ten", "phase": phase, "boxes": 10 * piles, **result[phase]} for phase in ("falling", "settled")]
        for row in found:
            print(line(row), flush=True)
        rows += found
    exponents = {
        f"{who}, {phase}": value
        for who, phase in dict.fromkeys((r["who"], r["phase"]) for r in rows)
        if (value := growth(rows, who, phase)) is not None
    }
    print("exponents of growth: " + "; ".join(f"{name}: {value:.2f}" for name, value in exponents.items()))
    print_absent(absent)
    return {"rows": rows, "exponents": exponents, "absent": absent}
