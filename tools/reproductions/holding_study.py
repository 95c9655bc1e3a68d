"""The study of plans that hold as its cells tell it: what was found, what arrived, what was not run."""

from __future__ import annotations

import json
import math
from pathlib import Path

from suites.holding_cells import joined

from .experiment import ROOT, Laboratory, baseline

FOLDER = ROOT / "benchmarks/plans_that_hold"  # cells of `./run bench plans-that-hold`, which needs MuJoCo and Drake
PLANNING = "plan"  # the plant of cells that hold plans
MISSING = "–"
EARLIER = ("first", "second")  # versions of the study, of which only the main figures are kept
NOT_RUN, NOT_ASKED, NONE_FOUND = "not run", "not asked", "none found"
Rows = list[dict]
FEW = 5  # runs, below which no bar is called met or missed
LOST_M = 0.2  # an object that ends farther from its place has left the robot


def measure(lab: Laboratory, folder: Path = FOLDER) -> dict:
    """What was recorded; nothing is run here. "cells": rows by system, variant and plant; "heads": what the cells say of themselves."""
    cells: dict[str, Rows] = {}
    heads = []
    for file in sorted((folder / "cells").glob("*.json"), key=lambda file: (file.stem.rsplit(".", 1)[0], int(file.stem.rsplit(".", 1)[1]))):
        cell = json.loads(file.read_text())
        cells.setdefault(name_of(cell["system"], cell["variant"], cell["plant"]), []).extend(cell.pop("rows"))
        heads.append(cell)
    kept = {name: folder / f"{name}.json" for name in ("seeds", "obstacles", "beside", "replaced")}
    versions = [json.loads(file.read_text()) for name in EARLIER if (file := folder / f"{name}_version.json").exists()]
    return {"settings": json.loads((folder / "settings.json").read_text()), "cells": cells, "heads": heads, "versions": versions, "periods": baseline("periods"),
            **{name: json.loads(file.read_text()) if file.exists() else None for name, file in kept.items()}}  # fmt: skip


def name_of(system: str, variant: str, plant: str) -> str:
    return f"{system}.{variant}.{plant}"


def wilson(successes: int, count: int, z: float = 1.959964) -> tuple[float, float]:
    """95 % interval of a share: Wilson's score."""
    share, spread = successes / count, z * z / count
    centre, half = share + spread / 2, z * math.sqrt(share * (1 - share) / count + spread / (4 * count))
    return max((centre - half) / (1 + spread), 0.0), (centre + half) / (1 + spread)  # the bound of no success is 0 but for rounding


def share(good: int, count: int) -> str:
    """ "45/50 (79 … 96 %)": Wilson's interval of 95 %."""
    if count == 0:
        return MISSING
    low, high = wilson(good, count)
    return f"{good}/{count} ({100 * low:.0f} … {100 * high:.0f} %)"


def sign_test(one: int, other: int) -> float:
    """Probability that as uneven a split of one + other pairs comes about by chance, both sides counted."""
    count, fewer = one + other, min(one, other)
    return min(2 * sum(math.comb(count, k) for k in range(fewer + 1)) / 2**count, 1.0) if count else 1.0


def percentile(values: list[float], part: float) -> float:
    """The smallest value that is not exceeded by at least `part` of them; there must be some."""
    return sorted(values)[max(math.ceil(part * len(values)) - 1, 0)]


def spread(values: list[float | None]) -> str:
    """ "1.2, 8.1": p50 and p95 of those that there are."""
    known = [value for value in values if value is not None]
    return f"{percentile(known, 0.5):.3g}, {percentile(known, 0.95):.3g}" if known else MISSING


class Study:
    """The cells with the words of the settings."""

    def __init__(self, result: dict):
        self.settings, self.cells, self.heads = result["settings"], result["cells"], result.get("heads", [])
        self.periods: dict | None = result.get("periods") or None
        self.replaced: list[dict] = result.get("replaced") or []  # results of cells that were made again
        self.recorded: dict[str, int] = {}  # seeds of which there are cells; those of plants hold the plans found alone
        for head in self.heads:
            name = name_of(head["system"], head["variant"], head["plant"])
            self.recorded[name] = self.recorded.get(name, 0) + self.settings["seeds"]["block"]

    def rows(self, system: str, variant: str = "default", plant: str = PLANNING) -> Rows:
        return self.cells.get(name_of(system, variant, plant), [])

    def is_found(self, row: dict) -> bool:
        """A plan that holds, within the time limit: what was begun in time may end later, and then it counts as none. With `--first`: a plan at h."""
        seconds = row["first_solution_s"] if row["first_holding_s"] is None else row["first_holding_s"]
        return row["success"] and seconds <= self.settings["plan"]["time_limit_s"]

    def found(self, system: str, variant: str = "default") -> Rows:
        return [row for row in self.rows(system, variant) if self.is_found(row)]

    def systems(self) -> dict[str, dict]:
        return self.settings["systems"]

    def arrivals(self, system: str, variant: str, plant: str) -> tuple[int, int]:
        """Of the plans that were found: how many arrive, and how many were played."""
        found = {row["seed"] for row in self.found(system, variant)}
        played = [row for row in self.rows(system, variant, plant) if row["seed"] in found]
        return sum(row["arrived"] for row in played), len(played)

    def goal_words(self, system: str) -> str:
        goals = self.systems()[system]["goals"]
        return goals[0] if len(goals) == 1 else f"{len(goals)} in turn"

    def arrival_words(self, system: str, variant: str, plant: str) -> str:
        """The share that arrives, or why there is none."""
        if not self.is_asked(system, variant, plant):
            return NOT_ASKED
        if not self.rows(system, variant):
            return NOT_RUN
        good, count = self.arrivals(system, variant, plant)
        return share(good, count) if count else NONE_FOUND if not self.found(system, variant) else NOT_RUN

    def with_beside(self, result: dict) -> Study:
        """The same cells with the words of what was asked for after the study; the study itself if nothing was."""
        return Study({**result, "settings": joined(self.settings, result["beside"])}) if result.get("beside") else self

    def is_asked(self, system: str, variant: str, plant: str) -> bool:
        """Whether the settings ask for these cells."""
        asked, how = self.settings["variants"][variant], self.settings["plants"].get(plant, {})
        light = self.systems()[system]["weightless"] or how.get("only") != "weightless"
        return system in asked.get("systems", [system]) and variant in how.get("variants", [variant]) and light

    def counts(self) -> dict[tuple[str, str, str], tuple[int, int]]:
        """Of every system, variant and plant that the settings ask for: seeds recorded, and asked for."""
        most, found = self.settings["seeds"]["count"], {}
        for system in self.systems():
            for variant, words in self.settings["variants"].items():
                for plant in (PLANNING, *self.settings["plants"]):
                    if self.is_asked(system, variant, plant):
                        asked = min(
                            how.get("seeds", most) for how in (self.systems()[system], words, self.settings["plants"].get(plant, {}))
                        )
                        found[system, variant, plant] = (self.recorded.get(name_of(system, variant, plant), 0), asked)
        return found

    def seeds_left(self, system: str, plant: str = PLANNING) -> int:
        """Seeds that the settings ask for and that were not run."""
        run, asked = self.counts().get((system, "default", plant), (0, 0))
        return max(asked - run, 0)

    def machines(self, system: str, variant: str) -> str:
        """The processors that its plans were made on."""
        own = [head for head in self.heads if (head["system"], head["variant"], head["plant"]) == (system, variant, PLANNING)]
        return "; ".join(sorted({f"{head['machine']['processor']}, {head['machine']['cores']} cores" for head in own}))

    def bar_plants(self) -> list[str]:
        return [name for name, plant in self.settings["plants"].items() if plant.get("bar")]


def met(value: float, bar: float, at_least: bool = True) -> str:
    return "met" if (value >= bar if at_least else value <= bar) else "**missed**"


def verdict(good: int, count: int, left: int, bar: float) -> str:
    """Whether a share meets its bar; "so far" where the `left` that were not run could still decide otherwise."""
    best, worst = (good + left) / (count + left), good / (count + left)
    return met(good / count, bar) + ("" if best < bar or worst >= bar else " so far")


def part_verdict(known: list[float], part: float, left: int, bar: float) -> str:
    """Whether a percentile is at most its bar; "so far" where the `left` that were not run could still decide otherwise."""
    best, worst = (percentile([*known, *[value] * left], part) for value in (-math.inf, math.inf))
    return met(percentile(known, part), bar, at_least=False) + ("" if best > bar or worst <= bar else " so far")


def median_of_all(study: Study, name: str) -> float:
    """p50 of the time to the first plan that holds, over all seeds: one without a plan counts as never."""
    return percentile(times_of_all(study, name), 0.5)


def times_of_all(study: Study, name: str) -> list[float]:
    """Time to the first plan that holds, of every seed; infinite without one."""
    return [row["first_holding_s"] if study.is_found(row) else math.inf for row in study.rows(name)]
