"""Passive motions on every plant: free fall, a block that friction stops, a pendulum, a ball that stops rolling; against their closed forms.

Then the tests of plants that need Drake, which runs in a process of this interpreter."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from .programs import ROOT, Failed, output_of, print_absent, say
from .recording import Request

SCENES = ROOT / "scenes/plants"
DURATION_S = {"free_fall": 0.5, "sliding_block": 0.5, "pendulum": 2.0, "rolling_ball": 1.0}
DRAKE = {"DEFT_DRAKE_PYTHON": sys.executable}
MODELS = ("convex-second-order", "stewart-trinkle")
G = 9.81


def columns(folder: Path, *names: str) -> tuple[np.ndarray, ...]:
    """t and coordinates of a run folder by name."""
    import h5py

    with h5py.File(folder / "run.h5") as file:
        at = [name.decode() if isinstance(name, bytes) else name for name in file.attrs["names_q"]]
        return file["t"][()], *(file["q"][:, at.index(name)] for name in names)


def same_start(one: Path, other: Path) -> bool:
    """Whether two runs start with the same velocities."""
    import h5py

    with h5py.File(one / "run.h5") as a, h5py.File(other / "run.h5") as b:
        return bool(np.allclose(a["v"][0], b["v"][0], atol=1e-6))


def pendulum_angle(t: np.ndarray) -> np.ndarray:
    """θ(t) of the rod: sin(θ/2) = k sn(K(k) − ω t), k = sin(θ₀/2), ω² = m g l/I."""
    from scipy.special import ellipj, ellipk

    length, radius, start = 0.6, 0.01, 1.0
    inertia = (3 * radius**2 + length**2) / 12 + (length / 2) ** 2  # per mass, about the hinge
    k = np.sin(start / 2)
    return 2 * np.arcsin(k * ellipj(ellipk(k**2) - np.sqrt(G * length / 2 / inertia) * t, k**2)[0])


def measure(name: str, folder: Path) -> tuple[str, float, float]:
    """(what, value in the run, relative error against the closed form)."""
    if name == "free_fall":
        t, x, y, z = columns(folder, "ball/x", "ball/y", "ball/z")
        exact = np.stack([0.7 * t, 0.2 * t, 1 + 1.5 * t - G * t**2 / 2], axis=1)
        path = np.stack([x, y, z], axis=1)
        return "z after 0.5 s [m]", float(z[-1]), float(np.linalg.norm(path[-1] - exact[-1]) / np.linalg.norm(exact[-1] - exact[0]))
    if name == "sliding_block":
        _, x = columns(folder, "block/x")
        return "way to rest [m]", float(x[-1]), float(abs(x[-1] / (1 / (2 * 0.3 * G)) - 1))
    if name == "rolling_ball":
        _, x = columns(folder, "ball/x")
        slowing = 0.01 * G / 0.1 / 1.4  # μ_r m g r/(I + m r²), I = 2/5 m r²
        return "way to rest [m]", float(x[-1]), float(abs(x[-1] / (0.25 / (2 * slowing)) - 1))
    t, theta = columns(folder, "rod/theta")
    return "angle after 2 s [rad]", float(theta[-1]), float(np.abs(theta - pendulum_angle(t)).max() / 1.0)


def drake_checks(build: Path, absent: dict) -> list[str]:
    """Names of the tests of plants that passed with Drake; prints how many. @throws Failed if one fails."""
    if any(who == "Drake" for who in absent):
        return []
    say("tests of the plant drake")
    said = output_of([str(build / "tests/test_plant"), "--gtest_filter=*/drake"], **DRAKE)
    passed = [line.split()[3] for line in said.splitlines() if line.startswith("[       OK ]")]
    print(f"{len(passed)} tests of plants passed with Drake")
    return passed


def bench_plants(request: Request) -> dict:
    """Rows per scene and plant; relative errors: of the way (fall, block), the largest of the angle in amplitudes (pendulum)."""
    rows: list[dict] = []
    absent: dict[str, str] = {}
    deft = str(request.build / "deft")
    with tempfile.TemporaryDirectory() as scratch:
        for name, duration in DURATION_S.items():
            runs = {}
            for model in MODELS:
                say(f"{name}: {model}")
                runs[f"deft, {model}"] = Path(scratch, f"{name}-{model}")
                output_of([deft, "sim", str(SCENES / f"{name}.deft.yaml"), "--duration", repr(duration), "--model", model,
                           "--out", str(runs[f"deft, {model}"]), "--quiet"])  # fmt: skip
            first = str(runs[f"deft, {MODELS[0]}"])
            others = {"MuJoCo": [deft, "replay", first, "--plant", "mujoco", "--set", "track.settle=0"],
                      "Drake": [deft, "replay", first, "--plant", "drake", "--set", "track.settle=0"]}  # fmt: skip
            if name != "rolling_ball":  # it has no resistance to rolling
                others["Drake, SAP"] = [sys.executable, str(ROOT / "benchmarks/peers/drake_plant.py"), first, "--deft", deft]
            for who, command in others.items():
                say(f"{name}: {who}")
                folder = Path(scratch, f"{name}-{who.replace(', ', '-')}")
                try:
                    output_of([*command, "--out", str(folder)], **DRAKE)
                except Failed as error:
                    if not (folder / "summary.json").exists():  # else it ran, and says that it differs from the run that it repeats
                        absent[who] = " ".join(str(error).split())
                        continue
                if not same_start(Path(first), folder):
                    absent[f"{who}, {name}"] = "it starts at rest"
                    continue
                runs[who] = folder
            rows += [
                dict(zip(("scene", "who", "what", "value", "error"), (name, who, *measure(name, folder)))) for who, folder in runs.items()
            ]
    print("Passive motions, steps of 1 ms, against their closed forms")
    print(f"{'scene':14} {'plant':28} {'what':22} {'value':>10} {'error':>9}")
    for row in rows:
        print(f"{row['scene']:14} {row['who']:28} {row['what']:22} {row['value']:10.5f} {100 * row['error']:7.3f} %")
    checks = drake_checks(request.build, absent)
    print_absent(absent)
    return {"rows": rows, "absent": absent, "drake_checks": checks}
