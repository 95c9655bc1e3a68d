"""P2: a hand closes on a ball in deft, MuJoCo and Drake: real-time factors, and where the ball ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from .programs import output_of, peers, print_absent, say
from .recording import Request

DURATION_S = 2.0
LOST_M = 0.05  # a ball that ends farther from where the fine run has it was never held
SCENE = "scenes/allegro_ball/scene.deft.yaml"
EXACT = "step.kappa=.inf"
SECOND_ORDER = ("step.model=convex-second-order", "step.joint_damping=1")
VARIANTS = {
    "deft, quasidynamic, h = 0.1 s": (0.1, (EXACT,)),
    "deft, quasidynamic, h = 0.01 s": (0.01, (EXACT,)),
    "deft, second order, h = 0.01 s": (0.01, (EXACT, *SECOND_ORDER)),
}
REFERENCE = (0.0005, (EXACT, *SECOND_ORDER))


def deft_run(build: Path, h: float, settings: tuple[str, ...]) -> dict:
    """The motion at step length h: time of its steps [s] and the pose of the ball at its end."""
    steps = round(DURATION_S / h)
    best: dict = {}
    for _ in range(3):
        found = json.loads(
            output_of([str(build / "benchmarks/pile_benchmark"), SCENE, str(steps), "0", "0", "0", f"step.h={h}", *settings])
        )
        if not best or found["falling"]["step_ms"] < best["falling"]["step_ms"]:
            best = found
    return {"seconds": 1e-3 * best["falling"]["total_ms"], "steps": steps, "position": best["q"][-3:], "quat_wxyz": best["q"][-7:-3]}


def angle_between(a: list[float], b: list[float]) -> float:
    """[rad] between two orientations (w, x, y, z)."""
    return 2 * float(np.arccos(min(1.0, abs(np.dot(a, b)))))


def bench_simulators(request: Request) -> dict:
    say("the fine second-order run of deft that all are compared with")
    reference = deft_run(request.build, *REFERENCE)
    rows = [{"who": who, **deft_run(request.build, h, settings)} for who, (h, settings) in VARIANTS.items()]
    say("MuJoCo and Drake")
    found = peers("simulator_peers.py")
    rows += found["rows"]
    print(f"P2: a hand closes on a ball in {DURATION_S:g} s; the ball's pose against deft, second order, h = {1e3 * REFERENCE[0]:g} ms")
    print(f"{'who':52} {'ms/step':>9} {'real-time factor':>17} {'Δ position mm':>14} {'Δ angle °':>10}")
    for row in rows:
        row["real_time_factor"] = DURATION_S / row["seconds"]
        row["position_error_m"] = float(np.linalg.norm(np.subtract(row["position"], reference["position"])))
        row["angle_error_rad"] = angle_between(row["quat_wxyz"], reference["quat_wxyz"])
        note = "  diverged" if row.get("diverged") else "  never held" if row["position_error_m"] > LOST_M else ""
        print(
            f"{row['who']:52} {1e3 * row['seconds'] / row['steps']:9.4f} {row['real_time_factor']:17.1f} {1e3 * row['position_error_m']:14.2f} "
            f"{np.degrees(row['angle_error_rad']):10.2f}{note}"
        )
    print_absent(found["absent"])
    return {"rows": rows, "reference": reference, "absent": found["absent"]}
