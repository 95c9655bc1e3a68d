"""A cube that slides on a face: deft, ODE, Bullet and MuJoCo against the closed form; and what the steps of the patch contact scenes cost (P8)."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from .programs import ROOT, output_of, peers, print_absent, say
from .recording import Request

SCENES = ROOT / "scenes/patch_contact"
STEPS = 430  # of cube_slides: until it has stopped
TIMED = {"cube_slides": 430, "cylinder_rolls": 1000, "cube_tumbles": 400, "cylinder_manipulation": 500}


def simulate(build: Path, scene: str, steps: int, folder: str) -> dict:
    return json.loads(
        output_of(
            [str(build / "deft"), "sim", str(SCENES / f"{scene}.deft.yaml"), "--steps", str(steps), "--out", folder, "--force", "--json"]
        )
    )


def closed_form(steps: int) -> list[list[float]]:
    """The cube's centre after each step: it loses μ g h of speed per step until less is left."""
    mu, g, h, speed, path = 0.12, 9.8, 0.01, 5.0, 0.0
    found = []
    for _ in range(steps):
        speed = max(0.0, speed - mu * g * h)
        path += h * speed
        found.append([0.8 * path, 0.6 * path, 0.5])
    return found


def deft_row(build: Path) -> dict:
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        summary = simulate(build, "cube_slides", STEPS, f"{folder}/run")
        with h5py.File(f"{folder}/run/run.h5") as file:
            names = [name.decode() if isinstance(name, bytes) else name for name in file.attrs["names_q"]]
            position = [[float(row[names.index(f"cube/{axis}")]) for axis in "xyz"] for row in file["q"][1:]]
    return {"who": "deft", "position": position, "turn": [0.0] * STEPS, "seconds": 1e-6 * STEPS * summary["step_us"]["p50"]}


def throws(build: Path, count: int, seed: int) -> dict:
    """Random cubes, cylinders and ellipsoids for 5 s each, every step checked from its velocities alone (tools/reproductions/patch_reference.py)."""
    import numpy as np
    from reproductions import patch_throws
    from reproductions.experiment import Laboratory

    rows: dict[str, dict] = {}
    for kind in patch_throws.SHAPES:
        rng, steps, bad = np.random.default_rng(seed), 0, []
        for number in range(count):
            throw = patch_throws.drawn(rng, kind)
            with tempfile.TemporaryDirectory() as folder:
                run = patch_throws.run(Laboratory(build / "deft", Path(folder)), throw, 5.0)
                found, steps = patch_throws.faults(run), steps + len(run.point)
            bad += [{"number": number, **found}] if found else []
            if found:
                print(f"{kind} {number}: {found} of {throw}")
        rows[kind] = {"throws": count, "steps": steps, "bad": bad}
        print(f"{kind:10} {count} throws, {steps} steps, {len(bad)} break a law (seed {seed})")
    return rows


def bench_patch_contact(request: Request) -> dict:
    """Errors of the cube's position, and times of steps; with --throws N [--seed S] random bodies instead."""
    if "--throws" in request.arguments:
        seed = int(request.arguments[request.arguments.index("--seed") + 1]) if "--seed" in request.arguments else 1
        return throws(request.build, int(request.arguments[request.arguments.index("--throws") + 1]), seed)
    say("deft")
    rows = [deft_row(request.build)]
    say("ODE, Bullet, MuJoCo")
    found = peers("patch_contact_peers.py", str(STEPS))
    rows += found["rows"]
    exact = closed_form(STEPS)
    print("A cube slides on a face: largest errors over 4.3 s against the closed form of the discrete motion")
    print(f"{'who':16} {'position m':>11} {'height m':>10} {'turn rad':>10} {'µs per step':>12}")
    for row in rows:
        error = [max(abs(a - b) for a, b in zip(p[:2], e[:2])) for p, e in zip(row["position"], exact)]
        height, turn = max(abs(p[2] - 0.5) for p in row["position"]), max(map(abs, row["turn"]))
        print(f"{row['who']:16} {max(error):11.2e} {height:10.1e} {turn:10.1e} {1e6 * row['seconds'] / STEPS:12.1f}")
    print_absent(found["absent"])
    words = [word for scene, steps in TIMED.items() for word in (str(SCENES / f"{scene}.deft.yaml"), str(steps))]
    times = json.loads(output_of([str(request.build / "benchmarks/patch_benchmark"), "steps", *words]))
    print("\nP8: deft's steps [µs], the best of three rounds of each; bar: mean 200")
    print(
        f"{'scene':24} {'steps':>6} {'mean':>8} {'p50':>8} {'p95':>8} {'p99':>8} {'max':>8} {'systems per step':>17} {'max':>4} {'residual':>9} {'penetration m':>14}"
    )
    for row in times:
        row["scene"] = Path(row["scene"]).name.removesuffix(".deft.yaml")
        print(f"{row['scene']:24} {row['steps']:6} {row['mean_us']:8.1f} {row['p50_us']:8.1f} {row['p95_us']:8.1f} {row['p99_us']:8.1f} {row['max_us']:8.1f} "
              f"{row['iterations_mean']:17.2f} {row['iterations_max']:4.0f} {row['residual']:9.1e} {row['penetration_m']:14.1e}")  # fmt: skip
    steps = sum(row["steps"] for row in times)
    print(f"mean of all {sum(row['steps'] * row['mean_us'] for row in times) / steps:.1f} µs over {steps} steps")
    return {"rows": rows, "absent": found["absent"], "times": times}
