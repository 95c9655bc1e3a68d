#!/usr/bin/env python3
"""Collect the licences of what libdeft.so and the Python package carry inside, as one text file for whom they are passed on to.

Usage: notices.py BUILD_DIR FILE

Of libraries of the distribution the file `copyright` of their packages, of the parts of the page those that npm installed, of
nanobind that of its wheel. One that is not there ends the run. Standard library only.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("libcli11-dev", "libfmt-dev", "libhdf5-dev", "libspdlog-dev", "libyaml-dev", "nlohmann-json3-dev")


def of_wheel(name: str) -> tuple[str, str]:
    """Name with version, and the licence, of an installed Python package."""
    about = importlib.metadata.distribution(name)
    file = next(path for path in about.files or [] if path.name in ("LICENSE", "LICENSE.txt"))
    return f"{name} {about.version}", Path(str(about.locate_file(file))).read_text()


def of_page(build: Path) -> list[tuple[str, str]]:
    """Of the packages that the page is made of."""
    client = json.loads((ROOT / "src/deft/viewer/client/package.json").read_text())
    folders = [build / "viewer/client/node_modules" / name for name in client["dependencies"]]
    return [(f"{folder.name} {client['dependencies'][folder.name]}", (folder / "LICENSE").read_text()) for folder in folders]


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, file = map(Path, arguments)
    parts = [(name, (Path("/usr/share/doc") / name / "copyright").read_text()) for name in PACKAGES]
    parts += [of_wheel("nanobind"), *of_page(build)]
    file.parent.mkdir(parents=True, exist_ok=True)
    rule = "=" * 78
    file.write_text(
        "deft contains the following software.\n\n" + "\n".join(f"{rule}\n{name}\n{rule}\n{text.strip()}\n" for name, text in parts)
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
