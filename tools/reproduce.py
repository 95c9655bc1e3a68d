#!/usr/bin/env python3
"""Repeats published experiments and writes their pages and figures into docs/reproductions; `./run reproduce` calls this.

Usage: reproduce.py BUILD_DIR [--list | --check] [--force] [NAME...]

NAME: quasistatics  planar_gripper, grasping, pick_and_place and toys
      smoothing     the knob κ, and the noise that it stands for
      planning      trajectories, thirty_degrees, single_step_search
      control       contact_mpc
      patch-contact the equivalent contact point of lines and surfaces; fails if a number of its page does
      error-against-h  pick_and_place, once `./run reproduce` has had the simulators of second order run again (without: what they last did)
      sim-to-sim    sim_to_sim, likewise: plans in Drake
      plans         first_plans, likewise: how often and how fast the planner finds a plan at h
      plans-that-hold  plans_that_hold, likewise: success of the planner over seeds, and where its plans lead in MuJoCo and Drake
      worlds-disagree  worlds_disagree, likewise: where five worlds of second order part, and why
      optimize      optimized_plans, likewise: first plans made to hold by deft optimize
      tables        those of README files that show what benchmarks recorded
      or one page by its name; all pages if none is named
--check: nothing is run or written; fails where a page is not what its recorded data say (docs/reproductions/data, benchmarks/baselines,
benchmarks/plans_that_hold), or where they no longer bear out one of its sentences. Pages are not written from a tree that differs from its commit,
and those with times not on a busy machine, unless --force.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))
from reproductions import (
    contact_mpc,
    first_plans,
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
from reproductions.experiment import Laboratory, Unfounded
from reproductions.marked import stale_tables, write_tables
from reproductions.records import data_of, difference, measures, name_of, plain, write_page
from suites.programs import Failed
from suites.recording import check_recordable, source_of
from suites.recording import write as write_data

PAGES_BY_NAME = {
    name_of(module): module
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
        first_plans,
        plans_that_hold,
        worlds_disagree,
        optimized_plans,
    )
}
TIMED = {
    "pick_and_place",
    "trajectories",
    "thirty_degrees",
    "single_step_search",
    "contact_mpc",
    "patch_contact",
}  # what they measure includes times
GROUPS = {
    "quasistatics": ["planar_gripper", "grasping", "pick_and_place", "impedance_robot", "squeezing"],
    "smoothing": ["smoothing"],
    "planning": ["trajectories", "thirty_degrees", "single_step_search"],
    "control": ["contact_mpc"],
    "patch-contact": ["patch_contact"],
    "error-against-h": ["pick_and_place"],
    "sim-to-sim": ["sim_to_sim"],
    "plans": ["first_plans"],
    "plans-that-hold": ["plans_that_hold"],
    "worlds-disagree": ["worlds_disagree"],
    "optimize": ["optimized_plans"],
}


def write(name: str, build: Path, forced: bool) -> None:
    """Measures, records and writes one page and its figures. @throws Failed where its numbers would have no source."""
    start, module = time.perf_counter(), PAGES_BY_NAME[name]
    source = source_of(build, f"./run reproduce {name}") if measures(module) else None
    if source and not forced:
        check_recordable(source, name in TIMED)
    with tempfile.TemporaryDirectory() as folder:
        measured = module.measure(Laboratory(build / "deft", Path(folder)))
        if source:
            facts = plain(module.facts(measured))
            module.text(facts)  # before anything is written: its sentences must hold
            write_data(data_of(module), {"page": name, "source": source, "facts": facts})
        module.draw(measured)
    print(f"{write_page(module)} ({time.perf_counter() - start:.1f} s)", flush=True)


def check(names: list[str]) -> int:
    """Names the pages that are not what their data say. @returns the exit status."""
    found = {name: why for name in names if (why := difference(PAGES_BY_NAME[name])) is not None}
    for name, why in found.items():
        print(f"reproduce: docs/reproductions/{name}.md: {why}", file=sys.stderr)
    stale = stale_tables()
    for place in stale:
        print(f"reproduce: {place}: not what was recorded; ./run reproduce tables writes it", file=sys.stderr)
    print(f"{len(names) - len(found)} of {len(names)} pages are what their data say")
    return 1 if found or stale else 0


def main() -> int:
    arguments = sys.argv[1:]
    if "--list" in arguments:
        print("\n".join([*GROUPS, *PAGES_BY_NAME]))
        return 0
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    build, words = Path(arguments[0]).resolve(), [word for word in arguments[1:] if word not in ("--check", "--force")]
    if words == ["tables"]:
        print("\n".join(map(str, write_tables())) or "no table changed")
        return 0
    unknown = [word for word in words if word not in GROUPS and word not in PAGES_BY_NAME]
    if unknown:
        print(f"reproduce: unknown name {unknown[0]!r}; there are {', '.join([*GROUPS, *PAGES_BY_NAME])}", file=sys.stderr)
        return 2
    names = list(dict.fromkeys(page for word in words or GROUPS for page in GROUPS.get(word, [word])))
    if "--check" in arguments:
        return check(names)
    failed = 0
    for name in names:
        try:
            write(name, build, "--force" in arguments)
        except (Failed, Unfounded) as error:
            print(f"reproduce: {name}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
