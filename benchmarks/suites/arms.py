"""Four arms pinch a square: the limit-surface model against second-order simulations, deft's own and MuJoCo's."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from .programs import ROOT, output_of, peers, print_absent, say
from .recording import Request

SCENES = ROOT / "scenes/reproductions"
QUASISTATIC, SECOND_ORDER = "grasping_arms", "grasping_arms_second_order"
STEPS_S = (0.001, 0.0002)
EVERY_S = 0.02  # of the recorded paths


def deft_run(build: Path, scene: str, who: str, h: float) -> dict:
    import h5py
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        output_of([str(build / "deft"), "sim", str(SCENES / f"{scene}.deft.yaml"), "--h", repr(h), "--out", f"{folder}/run", "--quiet"])
        seconds = time.perf_counter() - began
        with h5py.File(f"{folder}/run/run.h5") as file:
            names = [name.decode() if isinstance(name, bytes) else name for name in file.attrs["names_q"]]
            q, t = np.array(file["q"]), np.array(file["t"])
    of = {name.split("/")[1]: q[:, k] for k, name in enumerate(names) if name.startswith("square/")}
    turn = of["theta"] if "theta" in of else np.unwrap(2 * np.arctan2(of["qz"], of["qw"]))
    pose = np.stack([of["x"], of["y"], turn], axis=1)
    kept = slice(None, None, round(EVERY_S / h))
    return {"who": who, "h": h, "t": t[kept].tolist(), "pose": pose[kept].tolist(), "seconds": seconds}


def bench_arms(request: Request) -> dict:
    """The square at the end of each run, and the time of the run (deft's with reading the scene and writing the run folder)."""
    say("deft, limit surface")
    rows = [deft_run(request.build, QUASISTATIC, f"limit surface, h = {1e3 * h:g} ms", h) for h in (0.02, 0.002)]
    for h in STEPS_S:
        say(f"deft, Stewart and Trinkle, h = {1e3 * h:g} ms")
        rows.append(deft_run(request.build, SECOND_ORDER, f"Stewart and Trinkle, h = {1e3 * h:g} ms", h))
    say("MuJoCo")
    found = peers("arms_peers.py", *(repr(h) for h in STEPS_S))
    rows += found["rows"]
    print("Four arms pinch a square: where it is after 3 s")
    print(f"{'who':36} {'x m':>9} {'y m':>9} {'theta rad':>10} {'seconds':>8}")
    for row in rows:
        x, y, theta = row["pose"][-1]
        print(f"{row['who']:36} {x:9.4f} {y:9.4f} {theta:10.4f} {row['seconds']:8.2f}")
    print_absent(found["absent"])
    return {"rows": rows, "absent": found["absent"]}
