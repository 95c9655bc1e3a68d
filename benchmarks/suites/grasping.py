"""P3: the complementarity problems of a peg that is grasped, jammed and inserted."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .programs import ROOT, output_of, say
from .recording import Request

SCENE = ROOT / "scenes/reproductions/grasping_peg.deft.yaml"
PUBLISHED_US = 1510.0  # mean of one problem with PATH


def bench_grasping(request: Request) -> dict:
    """Arguments: how often the run is repeated (20 unless given). The time of a step is that of all its problems together."""
    import h5py
    import numpy as np

    runs = next((int(word) for word in request.arguments), 20)
    say(f"{SCENE.name}, {runs} times; load of the machine {os.getloadavg()[0]:.1f}")
    times = []
    with tempfile.TemporaryDirectory() as folder:
        for k in range(runs):
            run = Path(folder) / str(k)
            output_of([str(request.build / "deft"), "sim", str(SCENE), "--set", "step.uniqueness=off", "--out", str(run), "--quiet"])
            with h5py.File(run / "run.h5") as file:
                times.append(np.array(file["steps/solve_us"]))
    every = np.array(times)
    best = every.min(axis=0)  # of each step: without what else the machine did
    touching = best > 1.0  # the others have no contacts
    rows = {
        "every step": every.ravel(),
        "steps with contacts": every[:, touching].ravel(),
        "steps with contacts, least of all runs": best[touching],
    }
    print(f"P3: problems of a step of the peg run, µs (published: mean {PUBLISHED_US:g} for one)")
    print(f"{'':40} {'mean':>8} {'p50':>8} {'p95':>8} {'max':>8}")
    found = {}
    for name, values in rows.items():
        found[name] = {
            "mean": float(values.mean()),
            "p50": float(np.percentile(values, 50)),
            "p95": float(np.percentile(values, 95)),
            "max": float(values.max()),
        }
        print(f"{name:40} " + " ".join(f"{x:8.1f}" for x in found[name].values()))
    return {"rows": found, "runs": runs, "load": os.getloadavg()[0]}
