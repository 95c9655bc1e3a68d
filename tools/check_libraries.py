#!/usr/bin/env python3
"""Fail if a program resolves a second copy of a library, or takes from the system what the prefix of Pinocchio holds.

Usage: check_libraries.py PREFIX PROGRAM...     exit status 0: clean, 1: violations

Two copies of Boost, tinyxml2 or assimp in one process exchange objects of different layout and corrupt memory. zlib is the
one exception: the prefix holds it for assimp, Debian's HDF5 takes the system's, both have the same soname and a C
interface that kept its layout, so the loader keeps whichever comes first and serves both.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SHARED_WITH_SYSTEM = {"libz"}
RESOLVED = re.compile(r"^\s*(\S+) => (\S.*?)(?: \(0x[0-9a-f]+\))?$")


def stem(name: str) -> str:
    """libboost_filesystem.so.1.90.0 -> libboost_filesystem"""
    return name.split(".so")[0]


def problems_of(ldd_output: str, prefix: Path) -> list[str]:
    """What is wrong with the libraries that ldd printed; `prefix` is the folder whose lib, lib64 hold Pinocchio and Coal."""
    held = {stem(p.name) for folder in ("lib", "lib64") for p in (prefix / folder).glob("*.so*")}
    copies: dict[str, set[str]] = {}
    problems = []
    for line in ldd_output.splitlines():
        match = RESOLVED.match(line)
        if not match:
            continue
        soname, path = match.groups()
        if path == "not found":
            problems.append(f"{soname} is not found")
            continue
        name = stem(soname)
        copies.setdefault(name, set()).add(path)
        if name in held and name not in SHARED_WITH_SYSTEM and not path.startswith(f"{prefix}/"):
            problems.append(f"{soname} comes from {path}, but the prefix holds it")
    return problems + [
        f"{name} is loaded more than once: {', '.join(sorted(paths))}" for name, paths in sorted(copies.items()) if len(paths) > 1
    ]


def check(program: Path, prefix: Path) -> list[str]:
    """problems_of() what ldd says about a program."""
    result = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    if result.returncode:
        return [f"ldd {program}: {result.stderr.strip() or result.stdout.strip()}"]
    return problems_of(result.stdout, prefix)


def main() -> int:
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    problems = [f"{program}: {p}" for program in sys.argv[2:] for p in check(Path(program), Path(sys.argv[1]))]
    print("\n".join(problems) if problems else "libraries: one copy each")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
