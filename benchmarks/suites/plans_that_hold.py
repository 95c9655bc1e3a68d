"""Plans of `deft plan` over many seeds, judged, then played open loop in simulators that share no code with the planner: cells of ten seeds in the repository."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import ClassVar

from .holding_cells import (
    FOLDER,
    PLANNING,
    Cell,
    CellStore,
    Settings,
    digest,
    read_drawn,
    read_seeds,
    scene_digest,
    simulator_versions,
    sources_digest,
    tree_of,
    write_seeds,
)
from .programs import ROOT, DeftRuns, Failed, print_absent, say
from .recording import Request, commit_of, compiler_of

PLAYERS = 2  # plants that are played at once


def number(value: object) -> float | None:
    """For a cell: four digits, null for what is no finite number."""
    return float(f"{value:.4g}") if isinstance(value, (int, float)) and math.isfinite(value) else None


def errors_of(row: dict) -> dict[str, float | None]:
    return {key: number(row[key]) for key in ("position_m", "rotation_rad", "joint")}


def followed_of(summary: dict) -> dict:
    """What is kept of a run of `deft track` beside its end."""
    return {"reason": summary["reason"], **{key: number(summary[key]) for key in ("duration_s", "plan_duration_s", "held_s")},
            "new_plans": summary["new_plans"], "period_p50_us": number(summary["period_us"]["p50"]), "period_p99_us": number(summary["period_us"]["p99"])}  # fmt: skip


class Study(DeftRuns):
    """What is run, and where it is kept: finished cells in `store`, plans and unfinished cells below `work`."""

    exit_codes: ClassVar[dict[str, tuple[int, ...]]] = {"plan": (0, 1), "track": (0, 1, 3)}

    def __init__(
        self,
        build: Path,
        settings: Settings,
        seeds: list[int],
        store: CellStore,
        work: Path,
        scenes: Path | None = None,
        tree: Path = ROOT,
    ):
        """@param tree  whose sources make the program: the working tree, built in `build`, or another one, which is built by the same compiler."""
        super().__init__(build, work)
        self.settings, self.seeds, self.store, self.tree = settings, seeds, store, tree
        self.scenes = scenes or tree / "scenes/planning"
        self.depends = digest(sources_digest(tree), compiler_of(build))
        self.versions = simulator_versions()
        self.absent: dict[str, str] = {}

    def built(self) -> Path:
        """The program of the tree, which is made where it is not there."""
        if self.tree == ROOT:
            return super().built()
        built = self.tree / "build/release/deft"
        if not built.exists():
            say(f"the program of the study is not that of the working tree: {self.tree} is built")
            if subprocess.run(["bash", "run", "build", "deft"], cwd=self.tree, stdin=subprocess.DEVNULL).returncode:
                raise Failed(f"{self.tree}: the program of the study cannot be built")
        return built

    def values(self, *path: str) -> dict:
        found = self.settings.values
        for name in path:
            found = found[name]
        return found

    # ---- what cells depend on ----
    def block(self, cell: Cell) -> list[int]:
        """Numbers of its seeds, from 0."""
        size, count = self.values("seeds")["block"], min(self.settings.seeds_of(cell.system, cell.variant, cell.plant), len(self.seeds))
        return list(range(size * cell.block, min(size * (cell.block + 1), count)))

    def cells(self, system: str, variant: str, plant: str) -> list[Cell]:
        count = min(self.settings.seeds_of(system, variant, plant), len(self.seeds))
        return [Cell(system, variant, plant, k) for k in range(math.ceil(count / self.values("seeds")["block"]))]

    def scene(self, system: str) -> Path:
        return self.scenes / f"{self.values('systems', system)['scene']}.deft.yaml"

    def plan_key(self, cell: Cell) -> str:
        system, variant = dict(self.values("systems", cell.system)), dict(self.values("variants", cell.variant))
        for name in ("found_bar", "group", "seeds"):
            system.pop(name, None)
        for name in ("what", "seeds", "systems"):
            variant.pop(name, None)
        return digest(self.depends, scene_digest(self.scene(cell.system), self.tree / "scenes"), system, self.tolerances(cell.system), variant, self.values("plan"),
                      [self.seeds[k] for k in self.block(cell)])  # fmt: skip

    def play_key(self, cell: Cell, plans: list[dict]) -> str:
        plant = self.values("plants", cell.plant)
        own = {"plant": plant["plant"], "damping": plant["weightless_damping"], "version": self.versions.get(plant["plant"], "")}
        if "controller" in plant:
            own |= {
                "controller": plant["controller"],
                "set": plant.get("set", []),
                "disturbance": (self.tree / plant["disturb"]).read_text(),
            }
        if "object_damping" in plant:
            own["object_damping"] = plant["object_damping"]
        return digest(
            self.plan_key(Cell(cell.system, cell.variant, PLANNING, cell.block)),
            own,
            self.values("arrived"),
            [(row["seed"], row["plan"], *([row["success"]] if "controller" in plant else [])) for row in plans],
        )

    # ---- plans ----
    def tolerances(self, system: str) -> dict[str, float]:
        """Of an arrival [m, rad]; of joints as the scene says."""
        named = self.values("arrived", "tolerances")
        found = dict(named["planar" if self.values("systems", system)["group"] == "planar" else "other"])
        text = self.read_scene(self.scene(system))
        joints = {text["goals"][goal].get("tolerance", {}).get("joint") for goal in self.values("systems", system)["goals"]}
        if len(joints) != 1 or not isinstance(joint := joints.pop(), (int, float, type(None))):
            raise Failed(f"{self.scene(system)}: the goals of a system need one tolerance of joints, and one number")
        return found if joint is None else {**found, "joint": float(joint)}

    @staticmethod
    def read_scene(path: Path) -> dict:
        sys.path.insert(0, str(ROOT / "benchmarks/peers"))
        import yaml
        from plant_scene import SceneLoader

        return yaml.load(path.read_text(), SceneLoader)

    def plan_options(self, system: str, variant: str, k: int) -> list[str]:
        """Arguments of `deft plan` for seed number k."""
        plan, goal = self.values("plan"), self.settings.goal_of(system, k)
        words = {"position_m": "position", "rotation_rad": "rotation", "joint": "joint"}
        sets = [f"goals.{goal}.tolerance.{words[name]}={plan['made_to'] * value:.6g}" for name, value in self.tolerances(system).items()]
        sets += [f"plan.judges=[{', '.join(plan['judges'])}]", *self.values("variants", variant).get("set", [])]
        return [str(self.scene(system)), "--goal", goal, "--seed", str(self.seeds[k]), "--time-limit", f"{plan['time_limit_s']:g}",
                "--threads", str(plan["threads"]), *self.values("variants", variant).get("options", []), *(word for value in sets for word in ("--set", value))]  # fmt: skip

    def plan_folder(self, cell: Cell, k: int) -> Path:
        return (
            self.work
            / f"{cell.system}.{cell.variant}.{self.seeds[k]}-{self.plan_key(Cell(cell.system, cell.variant, PLANNING, cell.block))}"
        )

    def make_plan(self, cell: Cell, k: int) -> dict:
        """The row of seed number k; its folder stays below `work`."""
        folder = self.plan_folder(cell, k)
        row_file = folder / "row.json"
        if row_file.exists():
            return json.loads(row_file.read_text())
        part = folder.with_name(f"{folder.name}.{os.getpid()}.part")
        summary = self.call(part, "plan", *self.plan_options(cell.system, cell.variant, k))
        row = plan_row(summary, self.settings.goal_of(cell.system, k), part)
        (part / "row.json").write_text(json.dumps(row))
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
        return row

    def plans(self, cell: Cell) -> list[dict]:
        """The rows of a cell of plans, made where they are not there."""
        key = self.plan_key(cell)
        kept = self.store.load(cell, key)
        if kept is not None:
            return kept
        rows: list[dict] = []
        for k in self.block(cell):
            rows.append(self.make_plan(cell, k))
            row = rows[-1]
            say(
                f"{cell.system}  {cell.variant}  seed {row['seed']}  {row['status']}  first plan {row['first_solution_s']} s, holds {row['first_holding_s']} s"
            )
        self.save_plans(cell, rows)
        return rows

    def save_plans(self, cell: Cell, rows: list[dict]) -> None:
        """With the time of the searches, some of which may be of an earlier call."""
        self.store.save(cell, self.plan_key(cell), rows, sum(row["time_s"] for row in rows))

    # ---- plants ----
    def damping(self, cell: Cell, h: float) -> float:
        """gamma [1/s] of the objects of a system in a plant."""
        plant = self.values("plants", cell.plant)
        if "object_damping" in plant:
            return plant["object_damping"]
        return plant["weightless_damping"] / h if self.values("systems", cell.system)["weightless"] else 0.0

    def play(self, cell: Cell, k: int, folder: Path) -> dict:
        """Where the plan of seed number k leads in a plant."""
        sys.path.insert(0, str(ROOT / "benchmarks/peers"))
        import h5py
        from plant_scene import read_run

        from .goal_errors import goal_errors

        arrived, goal, plan = self.values("arrived"), self.settings.goal_of(cell.system, k), read_run(folder, self.deft)
        part = self.work / f"{cell}.{self.seeds[k]}.{os.getpid()}.part"
        sets = {
            "track.settle": arrived["settle_s"],
            "track.plant_step": arrived["plant_step_s"],
            "track.object_damping": self.damping(cell, plan.h),
        }
        how = self.values("plants", cell.plant)
        words = [word for name, value in sets.items() for word in ("--set", f"{name}={value:.12g}")]
        if "controller" in how:
            words += ["--controller", how["controller"], "--disturb", str(self.tree / how["disturb"]), "--seed", str(self.seeds[k])]
            words += [word for value in how.get("set", []) for word in ("--set", value)]
        summary = self.call(part, "track" if "controller" in how else "replay", str(folder), "--plant", how["plant"], *words)
        with h5py.File(part / "run.h5") as file:
            t, q = file["t"][()], file["q"][()]
        errors = goal_errors(plan, goal, q[-1])
        if "controller" in how:  # it may end sooner or later than the plan, but not because it was cut
            played = summary["status"] in ("Completed", "OffPlan", "Stuck")
        else:
            played = t[-1] >= plan.t[-1] - plan.t[0] + arrived["settle_s"] - 0.01
        near = all(errors[name] <= bound for name, bound in self.tolerances(cell.system).items())
        shutil.rmtree(part)
        return {"seed": self.seeds[k], "goal": goal, "status": summary["status"], "arrived": bool(played and near), **errors_of(errors),
                **(followed_of(summary) if "controller" in how else {})}  # fmt: skip

    def played(self, cell: Cell, plans: list[dict]) -> list[dict]:
        """The rows of a cell of a plant, made where they are not there; `plans` of the same seeds. Seeds without a plan at h have none, nor
        with a controller those whose plan does not hold."""
        key = self.play_key(cell, plans)
        kept = self.store.load(cell, key)
        if kept is not None:
            return kept
        start = time.monotonic()
        executed = "controller" in self.values("plants", cell.plant)  # plans that hold are; all that lead to the goal at h are replayed
        jobs = [
            (k, self.plan_folder(cell, k)) for k, row in zip(self.block(cell), plans) if row["plan"] and (row["success"] or not executed)
        ]
        with ThreadPoolExecutor(PLAYERS) as pool:
            rows = list(pool.map(lambda job: self.play(cell, *job), jobs))
        self.store.save(cell, key, rows, time.monotonic() - start)
        say(f"{cell.system}  {cell.variant}  {cell.plant}  {sum(row['arrived'] for row in rows)} of {len(rows)} arrived")
        return rows

    def renew(self, cell: Cell, plans: list[dict]) -> list[dict]:
        """Rows of plans whose folders are here. Where a folder is missing the plan is made again; if it comes out otherwise, for time limits depend on the machine, its cell says so."""
        rows = [row if not row["plan"] or (self.plan_folder(cell, k) / "row.json").exists() else self.make_plan(cell, k)
                for k, row in zip(self.block(cell), plans)]  # fmt: skip
        if [(row["plan"], row["success"]) for row in rows] != [(row["plan"], row["success"]) for row in plans]:
            self.save_plans(cell, rows)
            return rows
        return plans

    def run(self, systems: list[str], variants: list[str]) -> None:
        """All cells that are not there: the first seeds of every system come before the next ones of any."""
        for variant in variants:
            named = [name for name in self.settings.systems_of(variant) if name in systems]
            cells = [cell for system in named for cell in self.cells(system, variant, PLANNING)]
            for cell in sorted(cells, key=lambda cell: cell.block):
                self.run_block(cell)

    def run_block(self, cell: Cell) -> None:
        """The plans of a block, and each plant in which they are played. What cannot be run goes to `absent`."""
        try:
            plans = self.plans(cell)
            missing = [
                other
                for other in self.plant_cells(cell)
                if self.store.load(other, self.play_key(other, self.rows_for(other, plans))) is None
            ]
            if missing:
                plans = self.renew(cell, plans)
        except Failed as error:
            if self.stopped:
                raise
            self.absent[str(cell)] = " ".join(str(error).split())[-300:]
            return
        for other in self.plant_cells(cell):
            try:
                self.played(other, self.rows_for(other, plans))
            except Failed as error:
                if self.stopped:
                    raise
                self.absent[other.plant] = " ".join(str(error).split())[-300:]

    def plant_cells(self, cell: Cell) -> list[Cell]:
        """The cells of the same block in plants that are not known to be absent."""
        names = [name for name in self.settings.plants_of(cell.system, cell.variant) if name not in self.absent]
        cells = [Cell(cell.system, cell.variant, name, cell.block) for name in names]
        return [other for other in cells if self.block(other)]

    def rows_for(self, cell: Cell, plans: list[dict]) -> list[dict]:
        return plans[: len(self.block(cell))]


def plan_row(summary: dict, goal: str, folder: Path) -> dict:
    """What is kept of a run of the planner; `plan`: a digest of its commands, null if none leads to the goal at h."""
    holds = {row["judge"]: {"success": row["success"], **({"share": number(row["share"])} if "share" in row else {}), **errors_of(row["goal_error"])}
             for row in summary["holds"]}  # fmt: skip
    leads = holds.get("h", {}).get("success", False)
    plan = hashlib.sha256((folder / "plan.yaml").read_bytes()).hexdigest()[:16] if leads else None
    return {"seed": summary["seed"], "goal": goal, "status": summary["status"], "success": summary["success"], "plan": plan,
            **{key: number(summary[key]) for key in ("first_solution_s", "first_holding_s", "time_s", "duration_s")},
            **{key: summary[key] for key in ("steps", "regrasps", "step_solves")}, "holds": holds,
            "reasons": [{"reason": row["reason"], "weight": number(row["weight"]), "detail": row["detail"]} for row in summary["reasons"][:3]]}  # fmt: skip


def estimate(study: Study, systems: list[str], variants: list[str]) -> list[dict]:
    """Hours of one pass of all cells, from the wall times of the cells of a pilot."""
    rows = []
    for variant in variants:
        for system in (name for name in study.settings.systems_of(variant) if name in systems):
            for plant in (PLANNING, *study.settings.plants_of(system, variant)):
                files = [study.store.file(cell) for cell in study.cells(system, variant, plant)]
                kept = [json.loads(file.read_text()) for file in files if file.exists()]
                tried = sum(len(study.block(cell)) for cell in study.cells(system, variant, plant))
                seeds = study.settings.seeds_of(system, variant, plant)
                hours = sum(cell["wall_s"] for cell in kept) / max(tried, 1) * seeds / 3600 if kept else None
                rows.append({"system": system, "variant": variant, "plant": plant, "seeds": seeds, "hours": hours})
    return rows


def print_estimate(rows: list[dict], bar: float) -> None:
    """By variant and plant, then in all."""
    print(f"{'variant':24} {'plant':16} {'cells of':>9} {'hours':>7}")
    for variant, plant in dict.fromkeys((row["variant"], row["plant"]) for row in rows):
        own = [row for row in rows if (row["variant"], row["plant"]) == (variant, plant)]
        measured = [row["hours"] for row in own if row["hours"] is not None]
        print(f"{variant:24} {plant:16} {f'{len(measured)}/{len(own)}':>9} {sum(measured):7.2f}")
    print(
        f"in all {sum(row['hours'] or 0 for row in rows):.1f} h (at most {bar:g} h are wanted); planning takes the whole machine, plants are played {PLAYERS} at once"
    )


def print_cells(study: Study, systems: list[str], variants: list[str]) -> None:
    print(f"{'system':24} {'variant':16} {'plant':16} {'arrived or found':>16}")
    for variant in variants:
        for system in (name for name in study.settings.systems_of(variant) if name in systems):
            for plant in (PLANNING, *study.settings.plants_of(system, variant)):
                files = [study.store.file(cell) for cell in study.cells(system, variant, plant)]
                rows = [row for file in files if file.exists() for row in json.loads(file.read_text())["rows"]]
                good = sum(row["success" if plant == PLANNING else "arrived"] for row in rows)
                print(f"{system:24} {variant:16} {plant:16} {f'{good}/{len(rows)}':>16}")


def chosen(words: list[str], values: dict) -> tuple[list[str], list[str]]:
    """Systems and variants that the arguments name; all if none is. @throws Failed for unknown words."""
    known = [*values["systems"], *values["variants"], "--pilot", "--draw-seeds"]
    unknown = [word for word in words if word not in known]
    if unknown:
        raise Failed(f"plans-that-hold: unknown argument {unknown[0]!r}; there are {', '.join(known)}")
    return [name for name in values["systems"] if name in words] or list(values["systems"]), \
           [name for name in values["variants"] if name in words] or list(values["variants"])  # fmt: skip


def open_study(build: Path, pilot: bool = False) -> Study:
    """The study as it is frozen, with its seeds, its cells and the program of the commit that froze it; or the pilot: the program of the working tree, with
    seeds that the study has not. SIGTERM ends what it started, as Ctrl-C does."""
    settings, work = Settings.read(FOLDER / "settings.json"), ROOT / "out/plans-that-hold"
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if pilot:
        return Study(build, settings, settings.values["seeds"]["pilot"], CellStore(work / "pilot", commit_of()), work)
    drawn = read_drawn(FOLDER)
    tree = tree_of(drawn["commit"], work)
    commit = commit_of() if tree == ROOT else drawn["commit"]
    return Study(build, settings, drawn["seeds"], CellStore(FOLDER / "cells", commit), work, tree=tree)


def bench_plans_that_hold(request: Request) -> dict:
    """Runs the cells that are not there; arguments: systems and variants (all), --pilot: three seeds that the study has not, and an estimate of its
    hours; --draw-seeds: once, after settings.json was frozen by a commit."""
    settings = Settings.read(FOLDER / "settings.json")
    systems, variants = chosen(request.arguments, settings.values)
    if "--draw-seeds" in request.arguments:
        print(write_seeds(FOLDER))
        return {"seeds": read_seeds(FOLDER)}
    pilot = "--pilot" in request.arguments
    study = open_study(request.build, pilot)
    try:
        study.run(systems, variants)
    except KeyboardInterrupt:
        study.stop()
        raise Failed("interrupted; the same command goes on from here") from None
    finally:
        study.stop()
    print_cells(study, systems, variants)
    print_absent(study.absent)
    if not pilot:
        return {"absent": study.absent}
    rows = estimate(study, systems, variants)
    print_estimate(rows, settings.values["bars"]["hours"])
    return {"absent": study.absent, "estimate": rows}
