"""Cells of the study of plans that hold: what they depend on, and the files that keep them, so that a fresh clone goes on where another stopped."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from .programs import ROOT, Failed, machine, write_whole
from .recording import git

FOLDER = ROOT / "benchmarks/plans_that_hold"
PLANNING = "plan"  # the plant of cells that hold plans
SOURCES = ("src/deft", "apps/cli", "cmake", "CMakeLists.txt", "CMakePresets.json", "requirements.lock")
LEFT_OUT = ("src/deft/viewer",)  # draws, never computes
SUFFIXES = {".cpp", ".hpp", ".h", ".c", ".py", ".txt", ".cmake", ".json", ".lock", ".in"}


def digest(*parts: object) -> str:
    """16 hexadecimal digits of what is given, as JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def digest_of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def sources_digest(root: Path = ROOT) -> str:
    """Of all that the program is built from, by path and content."""
    files = [root / name for name in SOURCES if (root / name).is_file()]
    for name in SOURCES:
        files += [path for path in (root / name).rglob("*") if path.is_file() and path.suffix in SUFFIXES]
    names = sorted({path.relative_to(root).as_posix(): path for path in files}.items())
    return digest(
        [(name, digest_of_file(path)) for name, path in names if not any(name.startswith(left_out + "/") for left_out in LEFT_OUT)]
    )


def scene_digest(scene: Path, bundled: Path = ROOT / "scenes") -> str:
    """Of a scene file and the models that it names."""
    models = sorted(set(re.findall(r"package://deft_scenes/([^\"'\s}]+)", scene.read_text())))
    return digest(digest_of_file(scene), [(name, digest_of_file(bundled / name)) for name in models])


def simulator_versions(lock: Path = ROOT / "requirements-bench.lock") -> dict[str, str]:
    """The pinned versions of the simulators that plans are played in."""
    found = dict(re.findall(r"^(drake|mujoco)==([\w.]+)", lock.read_text(), re.M))
    return {name: found.get(name, "") for name in ("drake", "mujoco")}


def files_below(folder: Path) -> dict[str, str]:
    """Digests of all files, by path."""
    return {path.relative_to(folder).as_posix(): digest_of_file(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def tree_of(commit: str, work: Path, root: Path = ROOT) -> Path:
    """The files of a commit: the working tree where it has the same sources of the program and the same scenes, a copy below `work` where it has not.
    @throws Failed if the clone does not have the commit."""
    copy = work / f"tree-{commit[:16]}"
    if not copy.exists():
        part = copy.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        archive = subprocess.run(["git", "-C", str(root), "archive", commit], capture_output=True)
        if archive.returncode:
            said = archive.stderr.decode(errors="replace").strip()
            raise Failed(f"the study is of commit {commit}, which is not in this clone (of a shallow one: git fetch --unshallow): {said}")
        subprocess.run(["tar", "-x", "-C", str(part)], input=archive.stdout, check=True)
        part.rename(copy)
    same = sources_digest(copy) == sources_digest(root) and files_below(copy / "scenes").items() <= files_below(root / "scenes").items()
    return root if same else copy


def joined(settings: dict, beside: dict) -> dict:
    """The settings of the study with what was asked for after it (beside.json): further variants and plants, and variants that are played in plants of
    the study, too. The study's own cells depend on none of it."""
    plants = {
        name: {**how, "variants": [*how["variants"], *beside["also"].get(name, [])]} if "variants" in how else how
        for name, how in settings["plants"].items()
    }
    return {**settings, "variants": settings["variants"] | beside["variants"], "plants": plants | beside["plants"]}


@dataclass(frozen=True)
class Settings:
    """settings.json with beside.json, if there is one: `values`; `sha256` of settings.json alone."""

    values: dict
    sha256: str

    @staticmethod
    def read(path: Path) -> Settings:
        values, beside = json.loads(path.read_text()), path.with_name("beside.json")
        if beside.exists():
            values = joined(values, json.loads(beside.read_text()))
        return Settings(values, hashlib.sha256(path.read_bytes()).hexdigest())

    def seeds_of(self, system: str, variant: str, plant: str) -> int:
        """How many of the seeds are used: all, or as few as system, variant and plant say."""
        counts = [self.values["seeds"]["count"], self.values["systems"][system].get("seeds"), self.values["variants"][variant].get("seeds")]
        if plant != PLANNING:
            counts.append(self.values["plants"][plant].get("seeds"))
        return min(count for count in counts if count is not None)

    def plants_of(self, system: str, variant: str) -> list[str]:
        """The plants in which plans of a variant are played."""
        weightless = self.values["systems"][system]["weightless"]
        return [name for name, plant in self.values["plants"].items()
                if (plant.get("only") != "weightless" or weightless) and variant in plant.get("variants", [variant])]  # fmt: skip

    def systems_of(self, variant: str) -> list[str]:
        return self.values["variants"][variant].get("systems", list(self.values["systems"]))

    def goal_of(self, system: str, number: int) -> str:
        """Of seed number `number`, from 0."""
        goals = self.values["systems"][system]["goals"]
        return goals[number % len(goals)]


def draw_seeds(settings: Settings, commit: str) -> list[int]:
    """The seeds of the study by the rule of benchmarks/README.md: nobody chooses them, everybody can repeat it."""
    rule, seeds = settings.values["seeds"], []
    for k in range(100 * rule["count"]):
        number = int(hashlib.sha256(f"{commit} {settings.sha256} {k}".encode()).hexdigest(), 16)
        seed = rule["least"] + number % (rule["below"] - rule["least"])
        if seed not in seeds and seed not in rule["pilot"]:
            seeds.append(seed)
        if len(seeds) == rule["count"]:
            return seeds
    raise Failed(f"seeds: no {rule['count']} different numbers from {rule['least']} to {rule['below']}")


def write_seeds(folder: Path, root: Path = ROOT) -> Path:
    """seeds.json, once the settings are in the history. @throws Failed if they are not, or if seeds were drawn for them."""
    settings, file = Settings.read(folder / "settings.json"), folder / "seeds.json"
    if file.exists() and json.loads(file.read_text())["settings_sha256"] == settings.sha256:
        raise Failed(f"{file}: seeds were drawn for these settings; they are drawn once")
    path = str(folder / "settings.json")
    commit = git(root, "log", "-1", "--format=%H", "--", path).stdout.strip()
    if not commit or git(root, "diff", "--quiet", "HEAD", "--", path).returncode != 0:
        raise Failed(f"{path}: commit it first; the seeds are drawn from the commit that froze it")
    drawn = {"settings_sha256": settings.sha256, "commit": commit, "date": time.strftime("%Y-%m-%d"), "seeds": draw_seeds(settings, commit)}
    file.write_text(json.dumps(drawn) + "\n")
    return file


def read_drawn(folder: Path) -> dict:
    """seeds.json: the seeds of the study, and the commit that froze its settings and with them its program.
    @throws Failed if none are drawn, or if settings or seeds were changed since."""
    settings, file = Settings.read(folder / "settings.json"), folder / "seeds.json"
    if not file.exists():
        raise Failed(f"{file} is not there: freeze settings.json by a commit, then draw with --draw-seeds (or try --pilot)")
    drawn = json.loads(file.read_text())
    if drawn["settings_sha256"] != settings.sha256:
        raise Failed(f"{file}: the seeds were drawn for other settings; commit settings.json, then draw again with --draw-seeds")
    if drawn["seeds"] != draw_seeds(settings, drawn["commit"]):
        raise Failed(f"{file}: these are not the seeds of the rule")
    return drawn


def read_seeds(folder: Path) -> list[int]:
    """The seeds of the study. @throws Failed as read_drawn."""
    return read_drawn(folder)["seeds"]


@dataclass(frozen=True)
class Cell:
    """Some seeds of one system, variant and plant."""

    system: str
    variant: str
    plant: str  # PLANNING: the plans themselves
    block: int

    def __str__(self) -> str:
        return f"{self.system}.{self.variant}.{self.plant}.{self.block}"


class CellStore:
    """Finished cells, a small file each, which say what they depend on."""

    def __init__(self, folder: Path, commit: str):
        self.folder, self.commit = folder, commit
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, cell: Cell) -> Path:
        return self.folder / f"{cell}.json"

    def load(self, cell: Cell, key: str) -> list[dict] | None:
        """Its rows, if it is finished and still depends on the same."""
        if not self.file(cell).exists():
            return None
        kept = json.loads(self.file(cell).read_text())
        return kept["rows"] if kept["key"] == key else None

    def save(self, cell: Cell, key: str, rows: list[dict], wall_s: float) -> None:
        head = {"system": cell.system, "variant": cell.variant, "plant": cell.plant, "block": cell.block, "key": key, "commit": self.commit,
                "machine": machine(), "date": time.strftime("%Y-%m-%d"), "wall_s": round(wall_s, 1)}  # fmt: skip
        lines = ",\n  ".join(json.dumps(row, allow_nan=False) for row in rows)
        text = json.dumps(head, indent=1)[:-2] + f',\n "rows": [\n  {lines}\n ]\n}}\n'
        write_whole(self.file(cell), text)
