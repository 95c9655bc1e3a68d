"""Plans followed in MuJoCo under disturbances, open loop and with feedback: where the objects end, over many seeds."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from .programs import ROOT, DeftRuns, Failed, print_absent, say
from .recording import Request

DISTURBANCES = ROOT / "scenes/planning/disturb"
SETTINGS = ROOT / "scenes/planning/feedback"
CONTROLLERS = ("open-loop", "mpc")
PLANT = "mujoco"


@dataclass(frozen=True)
class System:
    """A scene of scenes/planning: goal, what feedback is asked for, values of the scene for the plan; an overlay in SETTINGS, if there is one, for following it."""

    scene: str
    goal: str
    asked_share: float  # of runs that arrive
    plan: tuple[str, ...] = ()

    @property
    def settings(self) -> Path | None:
        overlay = SETTINGS / f"{self.scene}.yaml"
        return overlay if overlay.exists() else None

    @property
    def set_track(self) -> str:
        return self.settings.read_text() if self.settings else ""


SYSTEMS = {
    "planar_pushing": System("planar_pushing", "down", 0.9),
    "planar_hand": System("planar_hand", "half_turn", 0.9),
    "planar_bimanual": System("planar_bimanual", "half_turn", 0.9),
    "allegro_ball": System("allegro_ball", "sixth", 0.8),
}
PLAN_SEED = 0
ASKED_RATIO = 3.0  # of the medians of the final errors, open loop to feedback
SEEDS = {"none": 1, "all": 50}  # runs without a disturbance and under all at once; else:
SEEDS_ALONE = 5
QUICK = {"none": 1, "all": 3}
QUICK_ALONE = 1
CHUNK, PROCESSES = 5, 2  # seeds of one process, processes at once
COURSE_POINTS = 300  # of the courses that are kept


def disturbances() -> list[str]:
    """No disturbance, all at once, and every one alone."""
    return ["none", "all", *sorted(path.stem for path in DISTURBANCES.glob("*.yaml") if path.stem != "all")]


def digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Job:
    """Some seeds of one cell of the study."""

    system: str
    disturbance: str
    controller: str
    first: int
    count: int

    def __str__(self) -> str:
        return f"{self.system}-{self.disturbance}-{self.controller}-{self.first}+{self.count}"


class Study(DeftRuns):
    """Runs, kept in out/feedback under a key of all that they depend on: a study that was cut short goes on where it was. A goal that was missed
    and a plant that failed are results."""

    def __init__(self, build: Path):
        super().__init__(build, ROOT / "out/feedback")
        self.program = self.deft.name.removeprefix("deft-")[:12]

    def plan(self, name: str) -> tuple[Path, dict]:
        """Folder and summary of the plan. @throws Failed if the planner finds none."""
        system = SYSTEMS[name]
        scene = ROOT / f"scenes/planning/{system.scene}.deft.yaml"
        folder = self.work / f"{name}-plan-{digest(scene.read_text(), system.goal, system.plan, PLAN_SEED, self.program)}"
        if not (folder / "summary.json").exists():
            say(f"plan of {name}")
            part = folder.with_suffix(f".{os.getpid()}.part")
            self.call(part, "plan", str(scene), "--goal", system.goal, "--first", "--seed", str(PLAN_SEED), *settings(system.plan))
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
        summary = json.loads((folder / "summary.json").read_text())
        if not summary["success"]:
            raise Failed(f"no plan: {summary['status']}")
        return folder, summary

    def run(self, job: Job, plan: Path) -> dict:
        """{"runs": one per seed, "settings": of the plant, "course": of the first seed}; made once."""
        disturbed = job.disturbance != "none"
        file = DISTURBANCES / f"{job.disturbance}.yaml"
        key = digest((plan / "plan.yaml").read_text(), (plan / "config.yaml").read_text(), SYSTEMS[job.system].set_track, PLANT,
                     file.read_text() if disturbed else "", self.program)  # fmt: skip
        kept = self.work / f"{job}-{key}.json"
        if kept.exists():
            return json.loads(kept.read_text())
        overlay = SYSTEMS[job.system].settings
        folder = self.work / f"{job}.{os.getpid()}.part"  # of this study alone: what a killed one started may still be running
        summary = self.call(folder, "track", str(plan), "--plant", PLANT, "--controller", job.controller, "--seed", str(job.first), "--seeds", str(job.count),
                            "--threads", "1", *(["--with", str(overlay)] if overlay else []), *(["--disturb", str(file)] if disturbed else []))  # fmt: skip
        runs = summary.get("runs", [{key: value for key, value in summary.items() if key not in ("plant", "controller", "files")}])
        if len(runs) != job.count:
            raise Failed(f"{job}: {len(runs)} runs of {job.count}")
        result = {
            "runs": runs,
            "settings": [re.sub(r" \(/[^)]*\)", "", line) for line in summary["plant"]["settings"]],
        }  # without where the library lies
        if job.first == 0 and job.disturbance in ("none", "all"):
            result["course"] = self.course(plan, folder)
        part = kept.with_suffix(".part.json")
        part.write_text(json.dumps(result))
        part.rename(kept)
        shutil.rmtree(folder)
        return result

    def course(self, plan: Path, folder: Path) -> dict:
        """How far the objects are from where the plan ends, over the time of a run."""
        import h5py
        import numpy as np

        sys.path.insert(0, str(ROOT / "benchmarks/peers"))
        from plant_scene import object_errors, read_run

        run = read_run(plan, self.deft)
        with h5py.File(folder / "run.h5") as file:
            t, q = file["t"][()], file["q"][()]
            numbers = file["track/plan"][()] if "track/plan" in file else np.zeros(len(t) - 1)
        at = np.unique(np.linspace(0, len(t) - 1, COURSE_POINTS).astype(int))
        errors = [object_errors(run, q[k], run.q[-1]).values() for k in at]
        return {"t": [round(float(t[k]), 3) for k in at], "replanned_at": [round(float(t[k + 1]), 3) for k in np.flatnonzero(np.diff(numbers))],
                **{key: [float(f"{max(error[key] for error in each):.3g}") for each in errors] for key in ("position_m", "rotation_rad")}}  # fmt: skip


def without_comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def settings(values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in ("--set", value)]


def jobs_of(system: str, quick: bool) -> list[Job]:
    """The study of one system: open loop first, which takes a moment."""
    seeds = QUICK if quick else SEEDS
    counts = {name: seeds.get(name, QUICK_ALONE if quick else SEEDS_ALONE) for name in disturbances()}
    return [Job(system, name, controller, first, min(CHUNK, count - first))
            for controller in CONTROLLERS for name, count in counts.items() for first in range(0, count, CHUNK)]  # fmt: skip


def in_order(jobs: list[Job]) -> list[Job]:
    """What is rated first, of all systems, then each disturbance alone."""
    return sorted(jobs, key=lambda job: job.disturbance not in ("none", "all"))


def run_all(study: Study, jobs: list[Job], plans: dict[str, Path], absent: dict[str, str]) -> dict[Job, dict]:
    """All jobs, some at once; those that fail go to `absent`. @throws KeyboardInterrupt; what was finished is kept."""
    results: dict[Job, dict] = {}
    start, count = time.monotonic(), 0
    pool = ThreadPoolExecutor(PROCESSES)
    try:
        futures = {pool.submit(study.run, job, plans[job.system]): job for job in jobs}
        for future in as_completed(futures):
            job, count = futures[future], count + 1
            try:
                results[job] = future.result()
                words = f"{sum(run['success'] for run in results[job]['runs'])} of {job.count} arrived"
            except Failed as error:
                absent[str(job)] = words = " ".join(str(error).split())[-300:]
            say(f"{count}/{len(jobs)}  {job.system}  {job.disturbance}  {job.controller}  seeds {job.first}…{job.first + job.count - 1}: {words}  "
                f"{time.monotonic() - start:.0f} s")  # fmt: skip
    finally:
        study.stop()
        pool.shutdown(wait=True, cancel_futures=True)
    return results


def row_of(run: dict) -> dict:
    """What is kept of a run; errors that are no numbers (an object that is gone) are infinite, written as null."""
    metres, radians = (
        run["final_error"][key] if isinstance(run["final_error"][key], (int, float)) else None for key in ("position_m", "rotation_rad")
    )
    short = lambda value: None if value is None else float(f"{value:.4g}")  # noqa: E731
    return {"seed": run["seed"], "position_m": short(metres), "rotation_rad": short(radians), "success": run["success"], "status": run["status"],
            "replans": run["replans"], "replan_s": short(run["replan_s"]), "t_end": run["t_end"]}  # fmt: skip


def bench_feedback(request: Request) -> dict:
    """Cells per system, disturbance and controller; arguments: systems (all), --quick: few seeds."""
    unknown = [word for word in request.arguments if word not in SYSTEMS and word != "--quick"]
    if unknown:
        raise Failed(f"feedback: unknown argument {unknown[0]!r}; there are {', '.join([*SYSTEMS, '--quick'])}")
    study, quick = Study(request.build), "--quick" in request.arguments
    absent: dict[str, str] = {}
    plans: dict = {}
    systems: dict[str, dict] = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends what it started, as Ctrl-C does
    try:
        for name in [word for word in request.arguments if word in SYSTEMS] or SYSTEMS:
            try:
                plans[name], summary = study.plan(name)
            except Failed as error:
                absent[name] = " ".join(str(error).split())
                continue
            systems[name] = {"goal": SYSTEMS[name].goal, "asked_share": SYSTEMS[name].asked_share, "set_plan": SYSTEMS[name].plan, "set_track": without_comments(SYSTEMS[name].set_track),
                             "plan": {key: summary[key] for key in ("steps", "segments", "regrasps", "goal_error")}, "quick": quick, "cells": {}, "courses": {}}  # fmt: skip
        results = run_all(study, in_order([job for name in systems for job in jobs_of(name, quick)]), plans, absent)
    except KeyboardInterrupt:
        study.stop()
        raise Failed("interrupted; the same command goes on from here") from None
    if not results:
        raise Failed(f"no run: {next(iter(absent.values()), 'no system')}")
    for job in sorted(results, key=lambda job: (disturbances().index(job.disturbance), CONTROLLERS.index(job.controller), job.first)):
        system, result = systems[job.system], results[job]
        system.setdefault("settings", result["settings"])
        system["cells"].setdefault(job.disturbance, {}).setdefault(job.controller, []).extend(row_of(run) for run in result["runs"])
        if "course" in result:
            system["courses"].setdefault(job.disturbance, {})[job.controller] = result["course"]
    print_table(systems)
    print_absent(absent)
    return {"systems": systems, "absent": absent, "asked_ratio": ASKED_RATIO, "plan_seed": PLAN_SEED,
               "disturbances": {name: (DISTURBANCES / f"{name}.yaml").read_text() for name in disturbances() if name != "none"}}  # fmt: skip


def print_table(systems: dict) -> None:
    print("Objects beside where the plan ends, in MuJoCo: medians of position and rotation, and how many arrive")
    print(f"{'system':16} {'disturbance':12} {'controller':10} {'mm':>8} {'rad':>8} {'arrived':>9} {'replans':>8}")
    middle = lambda rows, key: statistics.median(float("inf") if row[key] is None else row[key] for row in rows)  # noqa: E731
    for name, system in systems.items():
        for disturbance, cell in system["cells"].items():
            for controller, rows in cell.items():
                arrived = f"{sum(row['success'] for row in rows)}/{len(rows)}"
                print(f"{name:16} {disturbance:12} {controller:10} {1e3 * middle(rows, 'position_m'):8.3g} {middle(rows, 'rotation_rad'):8.3g} {arrived:>9} "
                      f"{middle(rows, 'replans'):8g}")  # fmt: skip
