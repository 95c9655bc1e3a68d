"""What a benchmark finds, kept with where it comes from: `out/bench/NAME.json` always, `benchmarks/baselines/NAME.json` where it is to be recorded."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .programs import ROOT, Failed, machine, write_whole

BASELINES = ROOT / "benchmarks/baselines"
RIVALS = ROOT / "requirements-bench.in"
WRITTEN = ("docs/", "benchmarks/baselines/", "benchmarks/plans_that_hold/cells/")  # by recording and drawing: may differ from the commit
MOST_LOAD = 0.3  # of the last minute, before times are taken for a record


@dataclass(frozen=True)
class Request:
    """What a benchmark is asked for. `keep` is called with what has been found so far, as often as that is worth it: a run that is cut short has kept it."""

    build: Path
    arguments: list[str]
    rounds: int = 3
    keep: Callable[[dict], None] = lambda result: None


# ---- where numbers come from ----
def git(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True)


def changed_files(root: Path = ROOT) -> list[str]:
    """Files that differ from the commit, new ones too; without those that recording and drawing write."""
    lines = git(root, "status", "--porcelain", "--untracked-files=all").stdout.splitlines()
    names = [line[3:].rsplit(" -> ", 1)[-1].strip('"') for line in lines]
    return sorted(name for name in names if not name.startswith(WRITTEN))


def commit_of(root: Path = ROOT, changed: list[str] | None = None) -> str:
    """The commit that is checked out, with a `+` if files differ from it (`changed_files`, where they are not given); empty where there is none."""
    head = git(root, "rev-parse", "HEAD").stdout.strip()
    return head + "+" * bool(head and (changed_files(root) if changed is None else changed))


def compiler_of(build: Path) -> str:
    """Name and version of the compiler of a build folder, and the kind of build. @throws Failed if it was never configured."""
    files = sorted(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    if not files:
        raise Failed(f"{build} is no build folder of CMake; ./run build makes one")
    text, cache = files[-1].read_text(), (build / "CMakeCache.txt").read_text()
    name, version = (re.search(rf'set\(CMAKE_CXX_COMPILER_{word} "([^"]*)"\)', text) for word in ("ID", "VERSION"))
    kind = re.search(r"^CMAKE_BUILD_TYPE:\w+=(.*)$", cache, re.M)
    return " ".join(found[1] for found in (name, version, kind) if found)


def rival_versions(named: Path = RIVALS) -> dict[str, str]:
    """Versions of the rivals and libraries that requirements-bench.in names, those that are installed here."""
    found = {}
    for name in re.findall(r"^([A-Za-z][\w-]*)", named.read_text(), re.M):
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # named as absent by the benchmark that wants it
    return found


def source_of(build: Path, command: str) -> dict:
    """Where what is measured from now on comes from: the commit (with `+`, and the files that differ from it), the machine and how busy it is, compiler,
    versions of rivals, date and command."""
    changed = changed_files()
    return {"commit": commit_of(changed=changed), "changed": changed, "machine": machine(), "load": round(os.getloadavg()[0], 2), "compiler": compiler_of(build),
            "rivals": rival_versions(), "date": time.strftime("%Y-%m-%d"), "command": without_places(command)}  # fmt: skip


def without_places(command: str) -> str:
    """Files of this machine by their names alone."""
    return " ".join(Path(word).name if word.startswith("/") else word for word in command.split(" "))


def check_recordable(source: dict, timed: bool) -> None:
    """@throws Failed where numbers would not be those of a commit, or times not those of a quiet machine."""
    if source["changed"]:
        raise Failed(f"not recorded: {', '.join(source['changed'][:3])} differ from the commit; commit first, or --force")
    if not source["commit"]:
        raise Failed("not recorded: this is no clone of git; --force records all the same")
    if timed and source["load"] > MOST_LOAD:
        raise Failed(
            f"not recorded: a load of {source['load']:g} in the last minute, at most {MOST_LOAD:g} where times are taken; --force records all the same"
        )


# ---- baselines ----
def baseline(name: str) -> dict:
    """What was recorded last: {"benchmark", "source" or, of a result with `systems`, "sources" by system, "result"}; empty where nothing was."""
    file = BASELINES / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def record(name: str, source: dict, result: object) -> None:
    """Writes the baseline. Of a result with `systems` those that it neither holds nor names as absent keep what was recorded of them last."""
    found: dict = {"benchmark": name}
    if isinstance(result, dict) and "systems" in result:
        before, absent = baseline(name), result.get("absent", {})
        kept = lambda parts: {system: part for system, part in parts.items() if system not in absent}  # noqa: E731
        found["sources"] = kept(before.get("sources", {})) | dict.fromkeys(result["systems"], source)
        result = {**result, "systems": kept(before.get("result", {}).get("systems", {})) | result["systems"]}
    else:
        found["source"] = source
    write(BASELINES / f"{name}.json", {**found, "result": result})


def write(file: Path, content: dict) -> None:
    write_whole(file, json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
