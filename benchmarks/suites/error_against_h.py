"""How far a simulated cube is from where a converged simulation has it, against the step length: second-order simulators on scenes/pick_and_place."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import numpy as np

from .programs import ROOT, Failed, output_of, print_absent, say
from .recording import Request

SCENE = ROOT / "scenes/pick_and_place/scene.deft.yaml"
EVERY_S = 0.1  # of the recorded paths, and between the knots that are played
TRUTH_S, HALVED_S = 1e-4, 5e-5  # MuJoCo's steps of the ground truth and of the check that it has converged
DRAKE = {"Drake, SAP": (), "Drake, lagged": ("--approximation", "lagged"),
         "Drake, lagged, softer": ("--approximation", "lagged", "--modulus", "3e6", "--stiffness", "1e5")}  # fmt: skip
STEPS_S = {"MuJoCo": (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05),
           "MuJoCo, default": (1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05),
           "MuJoCo, as deft's plant": (1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05),
           **dict.fromkeys(DRAKE, (5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1)),
           "deft, convex-second-order": (1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1)}  # fmt: skip


def path_of(folder: Path) -> dict:
    """The red cube in a run folder."""
    import h5py

    with h5py.File(folder / "run.h5") as file:
        names = [name.decode() if isinstance(name, bytes) else name for name in file.attrs["names_q"]]
        at = names.index("red/qw")
        return {
            "t": file["t"][()].tolist(),
            "quat_wxyz": file["q"][:, at : at + 4].tolist(),
            "position": file["q"][:, at + 4 : at + 7].tolist(),
        }


def apart(truth: dict, path: dict) -> dict:
    """Errors of a path against the truth where both have samples: ∫‖q − q_GT‖ dt with q = (quat_wxyz, p) [s, m s], of p alone [mm s],
    largest [mm, °], at the end [mm]; None if the path ends early."""
    if path["status"] != "Completed":
        return {"integral_q": None, "integral_mm_s": None, "largest_mm": None, "largest_deg": None, "end_mm": None}
    keep = lambda run: {round(t / EVERY_S): k for k, t in enumerate(run["t"]) if abs(t / EVERY_S - round(t / EVERY_S)) < 1e-6}  # noqa: E731
    fine, coarse = keep(truth), keep(path)
    common = sorted(fine.keys() & coarse.keys())
    p, q = (np.array([run["position"][at[k]] for k in common]) for run, at in ((truth, fine), (path, coarse)))
    a, b = (np.array([run["quat_wxyz"][at[k]] for k in common]) for run, at in ((truth, fine), (path, coarse)))
    a, b = (quat / np.linalg.norm(quat, axis=1, keepdims=True) for quat in (a, b))
    mm = 1e3 * np.linalg.norm(p - q, axis=1)
    angle = 4 * np.arcsin(np.clip(np.minimum(np.linalg.norm(a - b, axis=1), np.linalg.norm(a + b, axis=1)) / 2, 0, 1))
    b = np.where(np.sum(a * b, axis=1, keepdims=True) < 0, -b, b)
    whole = np.linalg.norm(np.hstack([a - b, p - q]), axis=1)
    integral = lambda error: float(np.sum((error[1:] + error[:-1]) / 2 * np.diff(common) * EVERY_S))  # noqa: E731
    return {"integral_q": integral(whole), "integral_mm_s": integral(mm), "largest_mm": float(mm.max()), "largest_deg": float(np.degrees(angle.max())), "end_mm": float(mm[-1])}  # fmt: skip


class Bench:
    """Runs, kept in out/error-against-h: what is there already is not run again."""

    def __init__(self, build: Path):
        self.deft, self.work = str(build / "deft"), ROOT / "out/error-against-h"
        self.work.mkdir(parents=True, exist_ok=True)
        self.commands = self.work / "commands"
        if not (self.commands / "run.h5").exists():
            output_of([self.deft, "sim", str(SCENE), "--h", repr(EVERY_S), "--out", str(self.commands), "--force", "--quiet"])

    def kept(self, who: str, h: float, run) -> dict:
        name = "-".join(re.findall(r"[\w]+", who))
        file = self.work / f"{name}-{h:g}.json"
        if not file.exists():
            say(f"{who}, h = {h:g} s")
            part = file.with_suffix(".part")
            part.write_text(json.dumps(run(h)))
            part.rename(file)
        return json.loads(file.read_text())

    def mujoco(self, contact: str):
        def run(h: float) -> dict:
            command = [sys.executable, str(ROOT / "benchmarks/peers/mujoco_pick_and_place.py"), str(self.commands), "--step", repr(h)]
            return json.loads(output_of([*command, "--every", repr(EVERY_S), "--contact", contact, "--deft", self.deft]))

        return run

    def drake(self, options: tuple[str, ...]):
        def run(h: float) -> dict:
            folder = self.work / f"drake-{h:g}"
            shutil.rmtree(folder, ignore_errors=True)
            command = [
                sys.executable,
                str(ROOT / "benchmarks/peers/drake_plant.py"),
                str(self.commands),
                "--step",
                repr(h),
                "--out",
                str(folder),
                "--deft",
            ]
            try:
                output_of([*command, self.deft, *options])
            except Failed:
                if not (folder / "summary.json").exists():
                    raise
            summary = json.loads((folder / "summary.json").read_text())
            return {"status": summary["status"], "h": h, "seconds": summary["seconds"], "settings": summary["settings"], **path_of(folder)}

        return run

    def second_order(self, damping: list[float]):
        def run(h: float) -> dict:
            folder = self.work / f"deft-{h:g}"
            shutil.rmtree(folder, ignore_errors=True)
            try:
                output_of([self.deft, "sim", str(SCENE), "--h", repr(h), "--model", "convex-second-order", "--set", f"step.joint_damping={damping}",
                           "--out", str(folder), "--quiet"])  # fmt: skip
            except Failed:
                if not (folder / "summary.json").exists():
                    raise
            return {"status": json.loads((folder / "summary.json").read_text())["status"], "h": h, **path_of(folder)}

        return run


def bench_error_against_h(request: Request) -> dict:
    """Rows per simulator and step; the ground truth's path."""
    bench, rows, absent = Bench(request.build), [], {}
    truth, halved = (bench.kept("MuJoCo", h, bench.mujoco("advised")) for h in (TRUTH_S, HALVED_S))
    runs = {"MuJoCo": bench.mujoco("advised"), "MuJoCo, default": bench.mujoco("default"), "MuJoCo, as deft's plant": bench.mujoco("plant"),
            **{who: bench.drake(options) for who, options in DRAKE.items()}, "deft, convex-second-order": bench.second_order(truth["damping"])}  # fmt: skip
    for who, run in runs.items():
        for h in sorted(STEPS_S[who], reverse=True):
            try:
                path = bench.kept(who, h, run)
            except Failed as error:
                absent[f"{who}, h = {h:g} s"] = " ".join(str(error).split())[-300:]
                continue
            rows.append({"who": who, "h": h, "status": path["status"], "reached_s": path["t"][-1], **apart(halved, path)})
    result = {"rows": rows, "absent": absent, "damping": truth["damping"], "stiffness_and_lag": "D = max(2 √(K M_ii), K · 10 ms)", "truth_step_s": HALVED_S,
              "truth_against_double_step": apart(halved, truth),
              "truth": {key: np.round(halved[key], 8).tolist() for key in ("t", "position", "quat_wxyz")},
              "double": {key: np.round(truth[key], 8).tolist() for key in ("t", "position", "quat_wxyz")}}  # fmt: skip
    print(f"The red cube against MuJoCo with steps of {HALVED_S:g} s")
    print(f"{'who':28} {'h s':>8} {'integral mm s':>14} {'largest mm':>11} {'largest deg':>12} {'end mm':>9}  status")
    for row in rows:
        cells = [f"{row[key]:>{width}.4g}" if row[key] is not None else " " * (width - 1) + "-" for key, width in
                 (("integral_mm_s", 14), ("largest_mm", 11), ("largest_deg", 12), ("end_mm", 9))]  # fmt: skip
        print(f"{row['who']:28} {row['h']:8g} {' '.join(cells)}  {row['status']}")
    print_absent(absent)
    return result
