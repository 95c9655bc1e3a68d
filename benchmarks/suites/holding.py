"""P11: objects held ten minutes, deft beside MuJoCo."""

from __future__ import annotations

import json

from .programs import output_of, peers, print_absent, say
from .recording import Request

SCENES = {"gripper_cube": 100, "allegro_ball": 100}  # seconds until the grip has settled in steps of 0.1 s
VARIANTS = (
    ("quasidynamic", 0.1, ()),
    ("quasidynamic", 0.01, ()),
    ("second order", 0.01, ("step.model=convex-second-order", "step.joint_damping=1")),
)


def bench_holding(request: Request) -> dict:
    """Arguments: the seconds to hold (600 unless given)."""
    seconds = next((float(word) for word in request.arguments), 600.0)
    rows = []
    for scene in SCENES:
        for name, h, settings in VARIANTS:
            say(f"{scene}: deft, {name}, h = {h} s")
            steps = [round(10 / h), 0, round(seconds / h), 0]
            text = output_of(
                [
                    str(request.build / "benchmarks/pile_benchmark"),
                    f"scenes/{scene}/scene.deft.yaml",
                    *map(str, steps),
                    f"step.h={h}",
                    "step.kappa=.inf",
                    *settings,
                ]
            )
            found = json.loads(text)
            settled = found["settled"]
            drift = max(found["drift"][-3:])  # x, y, z of the object, the last model of both scenes
            rows.append(
                {
                    "scene": scene,
                    "who": f"deft, {name}, h = {h:g} s",
                    "drift_m": drift,
                    "seconds": seconds,
                    "um_per_s": 1e6 * drift / seconds,
                    "dropped": False,
                    "failed": settled["failed"],
                    "residual": settled["residual"],
                    "step_ms": settled["step_ms"],
                }
            )
    say("MuJoCo")
    found = peers("holding_peers.py", "--seconds", str(seconds))
    rows += found["rows"]
    print(f"P11: how far a held object moves in {seconds:g} s")
    for row in rows:
        note = "never held" if row.get("never_held") else f"dropped after {row['seconds']:.1f} s" if row["dropped"] else ""
        print(f"{row['scene']:14} {row['who']:40} {1e6 * row['drift_m']:12.3g} µm {row['um_per_s']:12.3g} µm/s  {note}")
    print_absent(found["absent"])
    return {"rows": rows, "absent": found["absent"]}
