"""What the Python package adds to C++: calls, batches, import, size; how fast its environments and pictures are; whether it lasts.

The interpreter that has the package is $DEFT_PACKAGE_PYTHON.
"""

from __future__ import annotations

import json
import os

from .programs import ROOT, Failed, output_of
from .recording import Request

BARS = {"overhead_us": 1.5, "share": 0.97, "import_s": 0.06, "wheel_mb": 25, "frames_per_s": 20}


def interpreter() -> str:
    """The one that has the package."""
    python = os.environ.get("DEFT_PACKAGE_PYTHON")
    if not python:
        raise Failed("python: DEFT_PACKAGE_PYTHON names no interpreter that has the package; ./run bench python makes one")
    return python


def hand_tasks() -> dict:
    """Gymnasium's own, by the interpreter of $DEFT_HANDS_PYTHON."""
    python = os.environ.get("DEFT_HANDS_PYTHON")
    if not python:
        raise Failed("python: DEFT_HANDS_PYTHON names no interpreter that has gymnasium-robotics; ./run bench python makes one")
    return json.loads(output_of([python, str(ROOT / "benchmarks/peers/gymnasium_hands.py")]))


def bench_python_soak(request: Request) -> dict:
    """Memory over many steps, plans and exceptions, and threads for ten minutes; arguments: their numbers and seconds instead."""
    asked = request.arguments or ["100000", "1000", "10000", "600"]
    if len(asked) != 4:
        raise Failed("python-soak: expected STEPS PLANS EXCEPTIONS SECONDS")
    result = json.loads(output_of([interpreter(), str(ROOT / "benchmarks/peers/package_soak.py"), *asked]))
    for name in ("steps", "plans", "exceptions"):
        print(f"{result[name]['count']:>7} {name:11} {result[name]['growth_mb']:+.2f} MB beyond {result[name]['at_mb']:.0f} MB")
    found = result["threads"]
    print(f"{found['threads']} threads, one scene, {found['seconds']:g} s: {found['steps']} steps, {found['wrong']} of them wrong")
    return result


def bench_python_package(request: Request) -> dict:
    """No arguments."""
    result = json.loads(output_of([interpreter(), str(ROOT / "benchmarks/peers/package_times.py")]))
    result["hand_tasks"] = hand_tasks()
    result["wheels_mb"] = {path.name: path.stat().st_size / 1e6 for path in sorted((ROOT / "dist").glob("*.whl"))}
    for row in result["calls"]:
        print(
            f"model.step(q, u, out=r) of {row['scene']:24} {row['step_us']:7.1f} µs, and {row['overhead_us']:.2f} µs more (bar {BARS['overhead_us']})"
        )
    batch, found = result["batch"], result["import"]
    print(
        f"batch of {batch['items']} with derivatives        {batch['call_s']:7.3f} s, of it C++ {100 * batch['share']:.1f} % (bar {100 * BARS['share']:g} %)"
    )
    print(f"import deft after numpy              {found['deft_s']:7.3f} s (bar {BARS['import_s']}); numpy {found['numpy_s']:.3f} s")
    for name, size in result["wheels_mb"].items():
        print(f"{name}: {size:.1f} MB (bar {BARS['wheel_mb']})")
    for row in result["environments"]:
        print(
            f"deft/{row['task'] + '-v0':20} {row['single_per_s']:8.0f} steps a second on one core, {row['vector_per_s']:8.0f} in a vector of 64; h {row['h']:g} s"
        )
    for row in result["hand_tasks"]["tasks"]:
        print(
            f"{row['task']:30} {row['single_per_s']:8.0f} steps a second on one core; {row['steps_of_simulation']} of MuJoCo in {row['h']:g} s"
        )
    for row in result["frames"]:
        print(f"picture of {row['scene']:26} {row['per_s']:6.1f} a second (bar {BARS['frames_per_s']})")
    return {**result, "bars": BARS}
