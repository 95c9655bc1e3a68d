#!/usr/bin/env python3
"""Make the wheel of the Python package from a build folder: libdeft.so with what it carries inside, installed below build/install,
and the extension beside it, for this interpreter; auditwheel names the platform.

Usage: make_wheel.py BUILD_DIR OUT [--all]      --all: also for the other interpreters of this machine that deft serves

Prints a line for each wheel, and the interpreters that are not there. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATIC, PREFIX, WORK = ROOT / "build/static", ROOT / "build/install", ROOT / "build/wheel"
OTHERS = ("3.10", "3.11", "3.12")  # from 3.12 on one wheel serves all (the stable ABI)
# Of wheels that ours depends on; never copied into it.
SHARED = ("libpinocchio_default.so*", "libcoal.so*", "libassimp.so*", "libqhull_r.so*", "libtinyxml2.so*")


class Failed(Exception):
    """Said in one line."""


def call(*command: object, folder: Path = ROOT) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if subprocess.run([str(word) for word in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL).returncode:
        raise Failed(f"{' '.join(str(word) for word in command[:4])} … failed")


def install_library(build: Path) -> None:
    """libdeft.so and what belongs to it below PREFIX."""
    call(sys.executable, "tools/static_libraries.py", STATIC)
    call("cmake", "-S", ROOT, "-B", build, f"-DDEFT_STATIC_LIBRARIES={STATIC}")
    call("ninja", "-C", build, "deft")
    shutil.rmtree(PREFIX, ignore_errors=True)
    call("cmake", "--install", build, "--prefix", PREFIX)
    call(sys.executable, "tools/notices.py", build, PREFIX / "share/deft/licenses/NOTICES.txt")


def make_wheel(python: str, own: bool, out: Path) -> Path:
    """The wheel for an interpreter, in `out`. Another than ours takes the tools of the build from its package index."""
    shutil.rmtree(WORK / "raw", ignore_errors=True)
    (WORK / "raw").mkdir(parents=True)
    settings = {"build-dir": WORK / Path(python).name, "cmake.define.deft_ROOT": PREFIX}
    tools = ["--no-build-isolation"] if own else []
    call(python, "-m", "pip", "wheel", ROOT / "python", "--no-deps", *tools, "-w", WORK / "raw", "--disable-pip-version-check",
         *(f"-C{name}={value}" for name, value in settings.items()))  # fmt: skip
    (raw,) = (WORK / "raw").glob("*.whl")
    shutil.rmtree(WORK / "repaired", ignore_errors=True)
    call(
        Path(sys.executable).parent / "auditwheel",
        "repair",
        *(word for name in SHARED for word in ("--exclude", name)),
        "-w",
        WORK / "repaired",
        raw,
    )
    (wheel,) = (WORK / "repaired").glob("*.whl")
    out.mkdir(exist_ok=True)
    for older in out.glob(f"deft_contact-*-{wheel.name.split('-')[2]}-*.whl"):
        older.unlink()
    shutil.copy2(wheel, out / wheel.name)
    return out / wheel.name


def interpreters(every: bool) -> list[tuple[str, bool]]:
    """Those to make a wheel for, and whether it is this one."""
    this = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = [(sys.executable, True)]
    for version in OTHERS if every else ():
        if version == this:
            continue
        path = shutil.which(f"python{version}")
        if path and subprocess.run([path, "-m", "pip", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            found.append((path, False))
        else:
            print(f"no wheel for Python {version}: there is no python{version} with pip and its headers")
    return found


def main(arguments: list[str]) -> int:
    every = "--all" in arguments
    places = [word for word in arguments if word != "--all"]
    if len(places) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, out = Path(places[0]).resolve(), Path(places[1]).resolve()
    install_library(build)
    for python, own in interpreters(every):
        wheel = make_wheel(python, own, out)
        print(f"{wheel.relative_to(ROOT) if wheel.is_relative_to(ROOT) else wheel}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as error:
        print(f"make_wheel: {error}", file=sys.stderr)
        sys.exit(1)
