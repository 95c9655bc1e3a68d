#!/usr/bin/env python3
"""Hold the system packages that `./run` installs against what a finished build opened.

Usage: check_apt.py BUILD_DIR     exit status 0: the list is exact, 1: something is missing or idle

Opened are the headers in ninja's dependency log, the libraries on the link lines and the CMake files of the packages found; `dpkg -S` names their packages.
Every one of them must be in the list or among what the list depends on, so that a machine with the list alone can
build; and every package of the list must own something opened or be one of the TOOLS.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {"g++", "cmake", "ninja-build", "python3", "python3-dev", "python3-venv"}  # python3-dev: headers of whichever interpreter .venv has


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def listed_packages() -> list[str]:
    return output_of("bash", "run", "packages").split()


def opened_files(build: Path) -> set[str]:
    """System files that CMake, the compiler and the linker read: package configurations, headers, libraries."""
    deps = output_of("ninja", "-C", str(build), "-t", "deps")
    headers = {str(Path(line.strip()).resolve()) for line in deps.splitlines() if line.startswith("    /usr/")}
    libraries = set()
    for line in (build / "build.ninja").read_text().splitlines():
        if line.startswith("  LINK_LIBRARIES ="):
            libraries |= set(re.findall(r"(?:^|\s)(/usr/\S+\.(?:so|a))(?=\s|$)", line))
        elif line.startswith("build build.ninja"):
            libraries |= set(re.findall(r"\s(/usr/\S+\.cmake)(?=\s|$)", line))
    return headers | libraries


def owners(files: set[str]) -> dict[str, str]:
    """Package of each file (without architecture); files of no package are left out."""
    found, names = {}, sorted(files)
    for start in range(0, len(names), 500):
        result = subprocess.run(["dpkg", "-S", *names[start : start + 500]], capture_output=True, text=True)
        for line in result.stdout.splitlines():
            package, _, path = line.partition(": ")
            if path and not package.startswith("diversion"):
                found[path] = package.split(",")[0].split(":")[0]
    return found


def closure(packages: list[str]) -> set[str]:
    """The packages and all that they depend on, recommended ones left out, as far as installed here."""
    depends: dict[str, set[str]] = {}
    provides: dict[str, set[str]] = {}
    for line in output_of("dpkg-query", "-W", "-f", "${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n").splitlines():
        name, needed, provided = line.split("\t")
        depends.setdefault(name, set()).update(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]+)", needed))
        for virtual in re.findall(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]+)", provided):
            provides.setdefault(virtual, set()).add(name)
    reached, waiting = set(), list(packages)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [*depends.get(name, ()), *provides.get(name, ())]
    return reached


def problems_of(listed: list[str], opened: dict[str, str]) -> list[str]:
    """Packages opened but not installed by the list, and packages of the list that nothing opened."""
    reached = closure(listed)
    missing: dict[str, str] = {}
    for path, package in sorted(opened.items()):
        if package not in reached:
            missing.setdefault(package, path)
    return [f"{package} is opened ({path}) but not installed by ./run" for package, path in missing.items()] + [
        f"{package} is installed by ./run, but the build opens nothing of it"
        for package in listed
        if package not in TOOLS and package not in opened.values()
    ]


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    opened = owners(opened_files(Path(sys.argv[1]).resolve()))
    problems = problems_of(listed_packages(), opened)
    print("\n".join(problems) if problems else f"packages: exact ({len(opened)} system files of {len(set(opened.values()))} packages)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
