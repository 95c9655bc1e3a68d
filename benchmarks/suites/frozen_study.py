"""Studies whose settings are frozen by a commit, and whose seeds are drawn from it: what their benchmarks are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .holding_cells import Settings, read_drawn, write_seeds
from .programs import Failed
from .recording import Request

OPTIONS = ("--pilot", "--draw-seeds")


@dataclass(frozen=True)
class FrozenStudy:
    """settings.json as it stands, the seeds to run, the systems asked for (all unless named), and whether these are the seeds of the pilot."""

    settings: dict
    seeds: list[int]
    systems: list[str]
    pilot: bool


def open_frozen_study(request: Request, folder: Path) -> FrozenStudy | None:
    """The study of a folder with settings.json and seeds.json, as the arguments ask for it: systems; --pilot: seeds that the study has not.
    --draw-seeds only draws them, once: none then. @throws Failed for other arguments, and where settings or seeds are not those frozen."""
    settings = Settings.read(folder / "settings.json").values
    if "--draw-seeds" in request.arguments:
        print(write_seeds(folder))
        return None
    systems = [word for word in request.arguments if word != "--pilot"]
    if unknown := [word for word in systems if word not in settings["systems"]]:
        raise Failed(f"unknown argument {unknown[0]!r}; there are {', '.join([*settings['systems'], *OPTIONS])}")
    pilot = "--pilot" in request.arguments
    seeds = settings["seeds"]["pilot"] if pilot else read_drawn(folder)["seeds"]
    return FrozenStudy(settings, seeds, systems or list(settings["systems"]), pilot)
