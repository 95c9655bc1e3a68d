#!/usr/bin/env python3
"""Hash what `deft` answers on named scenes and problems, to show that a change of structure changed no number.

Usage: named_outputs.py DEFT --write FILE      record the hashes of a build
       named_outputs.py DEFT --against FILE    compare a build with a record; exit status 1 where they differ

Every output is the JSON object of a command and, for simulations and plans, the data sets of its run.h5, without times of
the clock and paths. DEFT_ISA=baseline makes the numbers those of every x86-64 machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIMULATED = {  # name: scene, further arguments
    "sim convex pick_and_place": ("pick_and_place/scene", ["--steps", "60"]),
    "sim convex allegro_ball": ("allegro_ball/scene", ["--steps", "40"]),
    "sim convex planar_hand_ball": ("planar_hand_ball/scene", ["--steps", "40"]),
    "sim convex cone allegro_ball": ("allegro_ball/scene", ["--steps", "20", "--set", "step.cone=cone"]),
    "sim convex smoothed allegro_ball": ("allegro_ball/scene", ["--steps", "20", "--kappa", "1000"]),
    "sim convex bimanual_box": ("bimanual_box/scene", ["--steps", "20"]),
    "sim convex plate_pickup": ("plate_pickup/scene", ["--steps", "30"]),
    "sim second order box_pushing": ("box_pushing/scene", ["--steps", "40", "--model", "convex-second-order", "--h", "0.01"]),
    "sim convex gripper_carrots": ("gripper_carrots/scene", ["--steps", "20"]),
    "sim convex three_link_arm_box_3d": ("three_link_arm_box_3d/scene", ["--steps", "30"]),
    "sim impedance robot": ("reproductions/impedance_robot", []),
    "sim perfect tracking": ("reproductions/robot_object_wall", ["--steps", "60"]),
    "sim limit surface peg": ("reproductions/grasping_peg", []),
    "sim limit surface asymmetric": ("reproductions/grasping_asymmetric", []),
    "sim stewart-trinkle": ("reproductions/grasping_arms_second_order", ["--steps", "50", "--model", "stewart-trinkle"]),
    "sim patch cube_tumbles": ("patch_contact/cube_tumbles", ["--steps", "60"]),
    "sim patch cylinder_rolls": ("patch_contact/cylinder_rolls", ["--steps", "40"]),
    "sim mixed-integer disc": ("contact_mpc/disc", ["--controller", "mixed-integer", "--steps", "5"]),
    "sim second order pendulum": ("plants/pendulum", ["--steps", "200"]),
}
LINEARIZED = {
    "linearize allegro_ball": ("allegro_ball/scene", []),
    "linearize smoothed planar_hand_ball": ("planar_hand_ball/scene", ["--kappa", "100"]),
    "linearize pick_and_place": ("pick_and_place/scene", []),
    "linearize second order sliding_block": ("plants/sliding_block", []),
    "linearize patch cylinder_rolls": ("patch_contact/cylinder_rolls", []),
}
PLANNED = {
    f"plan {name}": (f"planning/{name}", ["--first", "--nodes", nodes, "--seed", "1", "--time-limit", "600"])
    for name, nodes in {
        "planar_hand": "200",
        "planar_pushing": "200",
        "allegro_ball": "60",
        "allegro_door": "40",
        "allegro_plate": "40",
        "planar_bimanual": "100",
        "bimanual_box": "40",
    }.items()
}
DUMPED = {  # problems of a simulation's steps, solved again
    "solve contact allegro_ball": ("allegro_ball/scene", ["--steps", "10"]),
    "solve mcp robot_object_wall": ("reproductions/robot_object_wall", ["--steps", "10"]),
    "solve lcp grasping_peg": ("reproductions/grasping_peg", ["--steps", "10"]),
    "solve ecp cube_tumbles": ("patch_contact/cube_tumbles", ["--steps", "5"]),
}
SOLVED = {"solve lcs_mpc weak_input": "tests/cli/control_problems/weak_input.json"}
# What depends on the clock or on where things stand.
CLOCK = {"time_s", "time", "solve_us", "step_us", "first_solution_s", "first_holding_s", "files", "period_us", "version", "wall_s"}


def without_clock(value):
    """The value without times and paths."""
    if isinstance(value, dict):
        return {k: without_clock(v) for k, v in value.items() if k not in CLOCK}
    return [without_clock(v) for v in value] if isinstance(value, list) else value


def hash_run(path: Path, digest) -> None:
    """Adds the data sets of a run to the digest."""
    import h5py

    def visit(name, item):
        leaf = name.rsplit("/", 1)[-1]
        if isinstance(item, h5py.Dataset) and leaf not in CLOCK:
            digest.update(f"{name} {item.shape} {item.dtype.kind}".encode())
            data = item[()]
            digest.update(data.tobytes() if item.dtype.kind in "iuf" else repr(data.tolist() if hasattr(data, "tolist") else data).encode())

    with h5py.File(path, "r") as file:
        file.visititems(visit)


def answer(deft: str, arguments: list[str], run: Path | None = None) -> str:
    """Hash of what one command prints and writes."""
    call = subprocess.run(
        [deft, *arguments, "--json", "--quiet"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "DEFT_ISA": os.environ.get("DEFT_ISA", "baseline")},
    )
    if not call.stdout.strip():
        raise SystemExit(f"deft {' '.join(arguments)}: exit {call.returncode}: {call.stderr.strip()}")
    printed = [without_clock(json.loads(call.stdout))]
    digest = hashlib.sha256(json.dumps([call.returncode, printed], sort_keys=True).encode())
    if run is not None and (run / "run.h5").exists():
        hash_run(run / "run.h5", digest)
    return digest.hexdigest()[:16]


def answer_to_problems(deft: str, scene: str, arguments: list[str], folder: Path) -> str:
    """Hash of the answers to the problems of a simulation's steps."""
    problems = folder / "problems"
    answer(deft, ["sim", scene, *arguments, "--out", str(folder / "run"), "--dump-problems", str(problems)])
    answers = [answer(deft, ["solve", str(p)]) for p in sorted(problems.rglob("*")) if p.is_file()]
    if not answers:
        raise SystemExit(f"{scene}: no problem was dumped")
    return hashlib.sha256("".join(answers).encode()).hexdigest()[:16]


def record(deft: str) -> dict[str, str]:
    """Name → hash of every output."""
    found = {}

    def note(name: str, value: str) -> None:
        found[name] = value
        print(f"{value}  {name}", flush=True)

    def path_of(scene: str) -> str:
        return f"scenes/{scene}.deft.yaml"

    with tempfile.TemporaryDirectory() as folder:
        for command, outputs in (("sim", SIMULATED), ("plan", PLANNED)):
            for name, (scene, more) in outputs.items():
                out = Path(folder) / name
                note(name, answer(deft, [command, path_of(scene), *more, "--out", str(out)], out))
        for name, (scene, more) in LINEARIZED.items():
            note(name, answer(deft, ["linearize", path_of(scene), *more]))
        for name, (scene, more) in DUMPED.items():
            note(name, answer_to_problems(deft, path_of(scene), more, Path(folder) / name))
        for name, problem in SOLVED.items():
            note(name, answer(deft, ["solve", problem]))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("deft")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    found = record(options.deft)
    if options.write:
        options.write.write_text(json.dumps(found, indent=1) + "\n")
    if options.against:
        before = json.loads(options.against.read_text())
        different = [name for name in before if found.get(name) != before[name]]
        print("\n".join(f"differs: {name}: {before[name]} -> {found.get(name)}" for name in different) or "all equal")
        return 1 if different else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
