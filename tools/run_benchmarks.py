#!/usr/bin/env python3
"""Measure deft beside rival solvers and print one table; `./run bench` calls this.

Usage: run_benchmarks.py BUILD_DIR [--list] [--rounds N] [--record [--force]] [NAME [ARGUMENT...]]

NAME: solver      P1: one solve of the real problems, deft and rivals in alternating rounds (default, with `step`); --isa: deft with the
                  kernels of every instruction set instead
      isa         short for `solver --isa`
      step        P2: the full step of bundled scenes
      simulators  P2: a hand and a ball in deft, MuJoCo and Drake: real-time factors, where the ball ends
      piles       P9: heaps of boxes, falling and settled; arguments: sizes, --without-rivals
      grasping    P3: complementarity problems of a peg that is grasped, jammed and inserted; argument: repetitions
      plants      passive motions (fall, sliding, pendulum, rolling) in deft's second-order models, MuJoCo and Drake against closed forms
      error-against-h  a cube that an arm carries: second-order simulators against a converged one, by step length (an hour; what
                  out/error-against-h holds is not run again)
      sim-to-sim  first plans of scenes/planning played open loop in Drake, errors per segment (what out/sim-to-sim holds is not made again);
                  arguments: systems; --pilot, --draw-seeds as robot-udp
      plans-that-hold  plans of scenes/planning over many seeds, judged, then played in MuJoCo and Drake (hours; finished cells in
                  benchmarks/plans_that_hold are not run again); arguments: systems, variants; --pilot: three other seeds and an estimate of the
                  hours; --draw-seeds: once, after settings.json was frozen by a commit
      periods     a control period of `deft track` in MuJoCo under disturbances, raw, horizons of 1, 3 and 10 steps (nothing else may run), with plans
                  of the pilot of plans-that-hold; arguments: systems
      worlds-disagree  plans of plans-that-hold in five worlds of second order: the first step that differs, with its contacts (what
                  out/plans-that-hold holds is not planned again); arguments: systems, --plans N, --steps N
      models      MJCF files in folders: how many load, and how many agree with what MuJoCo compiles; arguments: folders
      arms        four arms pinch a square: limit surface, second order, and MuJoCo
      holding     P11: held objects for ten minutes; argument: seconds
      contact-mpc P7: mixed-integer contact control beside SCIP and Gurobi, and its growth; options: --horizons 5,10,20 --count 20 --limit 10
                  --without-growth
      patch-contact  a sliding cube beside ODE, Bullet and MuJoCo against the closed form; P8: times of steps; --throws N --seed S: random bodies instead,
                  every step checked
      patch-drops a cube, a cylinder and an ellipsoid, a thousand random starts each, for 5 s: failures, penetration, energy against its bound, rest
                  (--count N --seed S); patch-pairs: two bodies that also meet each other; patch-wild: steps to 0.1 s, thin bodies, friction to 5
      trajectory  P5: trajectory optimisation over twenty steps: cost after every iteration, and time
      batch       many steps at once on one, two and all cores
      planning    P4: 1000 iterations of the published contact planner's search; --growth 100000: a large tree
      plans       success of `deft plan` over seeds, per system of scenes/planning; arguments: systems, then options (--seeds 20)
      new-scenes  from a model file to a plan: `deft new` with mug, bottle and box, and `deft plan` of it over ten seeds; arguments: model files, --seeds N,
                  --first
      optimize    shares of first plans that hold before and after `deft optimize`; arguments: systems; --pilot, --draw-seeds as robot-udp
      tracking    P6: periods of the tracking controller over disturbed runs, its programs beside Clarabel and DAQP (--runs N --repeat N SCENE...)
      robustness  random problems in bulk; arguments go to the program (--count 100000)
      gradients   P12: errors of the step's derivatives over random states (--states N per row and barrier)
      cross-check interior point against active set (10000 problems; --cross-check 100000)
      delassus    families of problems in force space, both laws (20 each; --delassus 100)
      complementarity  linear complementarity problems in bulk, and small ones against all their modes (10000; --lcp 100000)
      control     control problems in bulk against all their modes (1000; --lcs 10000 --seed 1)
      lcp         times of linear complementarity problems by size, cold and warm (--count N per size)
      python      what the Python package costs on top of C++: calls, batches, import, wheel; its environments and pictures a second
      python-soak the package's memory over many steps, plans and exceptions, and four threads for ten minutes; arguments: these four numbers
      robot-udp   plans on a robot of its own process, MuJoCo in real time behind UDP with delay, loss and a stop; arguments: systems; --pilot: another
                  seed; --draw-seeds: once, after settings.json was frozen by a commit
      viewer      script time per frame of the page on a long run, if the page's benchmark is there
Alone on the machine, please: a second busy core slows everything. Results also go to out/bench/NAME.json, with where they come from; with --record to
benchmarks/baselines/NAME.json, which pages read: not from a tree that differs from its commit, and no times from a busy machine, unless --force.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))
from suites.arms import bench_arms  # noqa: E402
from suites.contact_mpc import bench_contact_mpc  # noqa: E402
from suites.error_against_h import bench_error_against_h  # noqa: E402
from suites.frozen_study import OPTIONS  # noqa: E402
from suites.grasping import bench_grasping  # noqa: E402
from suites.holding import bench_holding  # noqa: E402
from suites.models import bench_models  # noqa: E402
from suites.new_scenes import bench_new_scenes  # noqa: E402
from suites.optimize import bench_optimize  # noqa: E402
from suites.patch_contact import bench_patch_contact  # noqa: E402
from suites.periods import bench_periods  # noqa: E402
from suites.piles import bench_piles  # noqa: E402
from suites.plans import bench_plans  # noqa: E402
from suites.plans_that_hold import bench_plans_that_hold  # noqa: E402
from suites.plants import bench_plants  # noqa: E402
from suites.programs import Failed, output_of  # noqa: E402
from suites.python_package import bench_python_package, bench_python_soak  # noqa: E402
from suites.recording import Request, check_recordable, record, source_of, write  # noqa: E402
from suites.robot_over_udp import bench_robot_over_udp  # noqa: E402
from suites.sim_to_sim import bench_sim_to_sim  # noqa: E402
from suites.simulators import bench_simulators  # noqa: E402
from suites.solver import bench_solver  # noqa: E402
from suites.tracking import bench_tracking  # noqa: E402
from suites.worlds_disagree import bench_worlds_disagree  # noqa: E402


def bench_program(name: str, *fixed: str):
    """A benchmark that prints its own table, with some arguments always given."""

    def bench(request: Request) -> object:
        text = output_of([str(request.build / "benchmarks" / name), *fixed, *request.arguments])
        print(text, end="")
        return text.splitlines()

    return bench


def bench_viewer(request: Request) -> object:
    scripts = sorted((ROOT / "benchmarks").glob("viewer*.mjs"))
    if not scripts:
        raise Failed("benchmarks/viewer*.mjs is not there")
    text = "".join(output_of([str(ROOT / ".venv/bin/node"), str(script), *request.arguments]) for script in scripts)
    print(text, end="")
    return text.splitlines()


def bench_isa(request: Request) -> object:
    return bench_solver(replace(request, arguments=["--isa", *request.arguments]))


NOTHING_ELSE = ("--count", "0", "--jammed", "0", "--quasistatic", "0")
BENCHMARKS = {
    "solver": bench_solver,
    "isa": bench_isa,
    "step": bench_program("step_benchmark"),
    "simulators": bench_simulators,
    "piles": bench_piles,
    "holding": bench_holding,
    "grasping": bench_grasping,
    "arms": bench_arms,
    "plants": bench_plants,
    "error-against-h": bench_error_against_h,
    "periods": bench_periods,
    "sim-to-sim": bench_sim_to_sim,
    "plans-that-hold": bench_plans_that_hold,
    "worlds-disagree": bench_worlds_disagree,
    "models": bench_models,
    "batch": bench_program("batch_benchmark"),
    "trajectory": bench_program("trajectory_benchmark"),
    "contact-mpc": bench_contact_mpc,
    "patch-contact": bench_patch_contact,
    "patch-drops": bench_program("patch_benchmark", "drops"),
    "patch-pairs": bench_program("patch_benchmark", "pairs", "--count", "100"),
    "patch-wild": bench_program("patch_benchmark", "wild", "--count", "200"),
    "planning": bench_program("single_step_benchmark"),
    "plans": bench_plans,
    "new-scenes": bench_new_scenes,
    "optimize": bench_optimize,
    "tracking": bench_tracking,
    "robustness": bench_program("robustness"),
    "gradients": bench_program("gradient_benchmark"),
    "cross-check": bench_program("robustness", *NOTHING_ELSE, "--cross-check", "10000"),
    "delassus": bench_program("robustness", *NOTHING_ELSE, "--delassus", "20"),
    "complementarity": bench_program("robustness", *NOTHING_ELSE, "--lcp", "10000"),
    "control": bench_program("robustness", *NOTHING_ELSE, "--lcs", "1000"),
    "lcp": bench_program("lcp_benchmark"),
    "viewer": bench_viewer,
    "python": bench_python_package,
    "python-soak": bench_python_soak,
    "robot-udp": bench_robot_over_udp,
}
DEFAULT = ["solver", "step"]
UNTIMED = {"models", "plants", "error-against-h", "sim-to-sim", "plans-that-hold", "worlds-disagree", "arms", "robustness", "gradients", "cross-check",
           "delassus", "complementarity", "control", "patch-drops", "patch-pairs", "patch-wild", "python-soak"}  # fmt: skip


def run(name: str, build: Path, arguments: list[str], rounds: int, recorded: bool, forced: bool) -> None:
    """One benchmark; what it finds goes to out/bench and, if asked, to the baselines. @throws Failed"""
    source = source_of(build, " ".join(["./run bench", name, *arguments]))
    if recorded and (unrecorded := [word for word in arguments if word in OPTIONS]):
        raise Failed(f"{unrecorded[0]} finds nothing that may be recorded")
    if recorded and not forced:
        check_recordable(source, name not in UNTIMED)

    def keep(result: object) -> None:
        write(ROOT / f"out/bench/{name}.json", {"benchmark": name, "source": source, "result": result})
        if recorded:
            record(name, source, result)

    keep(BENCHMARKS[name](Request(build, arguments, rounds, keep)))


def main() -> int:
    build, words, rounds = Path(sys.argv[1]).resolve(), sys.argv[2:], 3
    if "--list" in words:
        print("\n".join(BENCHMARKS))
        return 0
    if "--rounds" in words:
        at = words.index("--rounds")
        rounds = int(words[at + 1])
        del words[at : at + 2]
    recorded, forced = "--record" in words, "--force" in words
    words = [word for word in words if word not in ("--record", "--force")]
    if words and words[0] not in BENCHMARKS:
        print(f"run_benchmarks: no benchmark '{words[0]}'; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    os.environ["DEFT_BUILD_DIR"] = str(build)
    failed = 0
    for name in words[:1] or DEFAULT:
        try:
            run(name, build, words[1:], rounds, recorded, forced)
        except Failed as error:
            print(f"run_benchmarks: {name}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
