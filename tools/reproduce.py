#!/usr/bin/env python3
"""Repeats published experiments and writes their pages and figures into docs/reproductions; `./run reproduce` calls this.

Usage: reproduce.py BUILD_DIR [--list] [NAME...]

NAME: quasistatics  planar_gripper, grasping, pick_and_place and toys
      smoothing     the knob κ, and the noise that it stands for
      planning      trajectories, thirty_degrees, single_step_search
      control       contact_mpc
      patch-contact the equivalent contact point of lines and surfaces; fails if a number of its page does
      error-against-h  pick_and_place, once `./run reproduce` has had the simulators of second order run again (without: what they last did)
      sim-to-sim    sim_to_sim, likewise: plans in Drake
      plans-that-hold  plans_that_hold, likewise: success of the planner over seeds, and where its plans lead in MuJoCo and Drake
      worlds-disagree  worlds_disagree, likewise: where five worlds of second order part, and why
      optimize      optimized_plans, likewise: first plans made to hold by deft optimize
      or one page by its name; all of them if none is named
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from reproductions import (
    contact_mpc,
    grasping,
    impedance_robot,
    optimized_plans,
    patch_contact_page,
    pick_and_place,
    planar_gripper,
    plans_that_hold,
    sim_to_sim,
    single_step_search,
    smoothing,
    squeezing,
    thirty_degrees,
    trajectories,
    worlds_disagree,
)
from reproductions.experiment import PAGES, Laboratory

PAGES_BY_NAME = {  # NAME_page where measuring and drawing are two files
    module.__name__.rsplit(".", 1)[1].removesuffix("_page"): module
    for module in (
        planar_gripper,
        grasping,
        pick_and_place,
        impedance_robot,
        squeezing,
        smoothing,
        trajectories,
        thirty_degrees,
        single_step_search,
        contact_mpc,
        patch_contact_page,
        sim_to_sim,
        plans_that_hold,
        worlds_disagree,
        optimized_plans,
    )
}
GROUPS = {
    "quasistatics": ["planar_gripper", "grasping", "pick_and_place", "impedance_robot", "squeezing"],
    "smoothing": ["smoothing"],
    "planning": ["trajectories", "thirty_degrees", "single_step_search"],
    "control": ["contact_mpc"],
    "patch-contact": ["patch_contact"],
    "error-against-h": ["pick_and_place"],
    "sim-to-sim": ["sim_to_sim"],
    "plans-that-hold": ["plans_that_hold"],
    "worlds-disagree": ["worlds_disagree"],
    "optimize": ["optimized_plans"],
}


def main() -> int:
    arguments = sys.argv[1:]
    if "--list" in arguments:
        print("\n".join([*GROUPS, *PAGES_BY_NAME]))
        return 0
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build, words = Path(arguments[0]).resolve(), arguments[1:] or list(GROUPS)
    unknown = [word for word in words if word not in GROUPS and word not in PAGES_BY_NAME]
    if unknown:
        print(f"reproduce: unknown name {unknown[0]!r}; there are {', '.join([*GROUPS, *PAGES_BY_NAME])}", file=sys.stderr)
        return 2
    for name in dict.fromkeys(page for word in words for page in GROUPS.get(word, [word])):
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            module = PAGES_BY_NAME[name]
            module.draw(module.measure(Laboratory(build / "deft", Path(folder))))
        print(f"{PAGES / name}.md ({time.perf_counter() - start:.1f} s)", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
