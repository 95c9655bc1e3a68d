#!/usr/bin/env python3
"""Build the static libraries that libdeft.so of the wheel carries: HDF5, fmt and spdlog, as position-independent code, from the
source packages of this Linux distribution with its patches, in the versions whose headers are installed.

Usage: static_libraries.py OUT

The distribution's own libraries do not serve: its shared HDF5 needs curl, Kerberos and LDAP, its static one is not
position-independent. What is there already is kept. Neither root nor a changed configuration of apt is needed. Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Of each: the package of the headers, the library, options of its CMake files.
LIBRARIES = {
    "libhdf5-dev": ("libhdf5.a", ["HDF5_BUILD_TOOLS=OFF", "HDF5_BUILD_EXAMPLES=OFF", "HDF5_BUILD_HL_LIB=OFF", "HDF5_BUILD_CPP_LIB=OFF",
                                  "HDF5_BUILD_FORTRAN=OFF", "HDF5_ENABLE_Z_LIB_SUPPORT=ON", "HDF5_ENABLE_SZIP_SUPPORT=OFF"]),
    "libfmt-dev": ("libfmt.a", ["FMT_TEST=OFF", "FMT_DOC=OFF"]),
    "libspdlog-dev": ("libspdlog.a", ["SPDLOG_FMT_EXTERNAL=ON", "SPDLOG_BUILD_EXAMPLE=OFF", "SPDLOG_BUILD_TESTS=OFF"]),
}  # fmt: skip

USUAL = ("CMAKE_BUILD_TYPE=Release", "CMAKE_POSITION_INDEPENDENT_CODE=ON", "BUILD_SHARED_LIBS=OFF", "BUILD_TESTING=OFF")


class Failed(Exception):
    """Said in one line."""


def call(*command: str, folder: Path, **environment: str) -> str:
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)  # fmt: skip
    if done.returncode:
        raise Failed(f"{' '.join(command[:3])} … ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def source_of(package: str) -> str:
    """`source=version` of an installed package, as apt-get source takes it."""
    return call("dpkg-query", "-W", "-f", "${source:Package}=${source:Version}", package, folder=Path("/"))


class Sources:
    """The source packages behind the distribution's packages, by apt with lists of its own."""

    def __init__(self, work: Path):
        self.work = work
        parts = work / "sources.list.d"
        for folder in (parts, work / "lists/partial", work / "archives/partial"):
            folder.mkdir(parents=True, exist_ok=True)
        places = [
            Path("/etc/apt/sources.list"),
            *Path("/etc/apt/sources.list.d").glob("*.list"),
            *Path("/etc/apt/sources.list.d").glob("*.sources"),
        ]
        for place in (place for place in places if place.is_file()):
            text = re.sub(r"^deb(\s)", r"deb-src\1", place.read_text(), flags=re.M)
            (parts / place.name).write_text(re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.M))
        self.options = [f"--option={name}={value}" for name, value in (
            ("Dir::Etc::sourcelist", "/dev/null"), ("Dir::Etc::sourceparts", parts), ("Dir::State::lists", work / "lists"),
            ("Dir::Cache", work), ("APT::Sandbox::User", ""))]  # fmt: skip
        call("apt-get", *self.options, "update", folder=work)

    def unpack(self, source: str) -> Path:
        """The folder of its sources."""
        name = source.split("=")[0]
        archives, tree = self.work / name, self.work / f"{name}-tree"
        for folder in (archives, tree):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        call("apt-get", *self.options, "source", "--download-only", source, folder=archives)
        originals = [path for path in sorted(archives.glob("*.orig.tar.*")) if path.suffix != ".asc"]
        if len(originals) != 1:
            raise Failed(f"{source}: {len(originals)} archives of original sources")
        call("tar", "-xf", str(originals[0]), "--strip-components=1", "-C", str(tree), folder=archives)
        for changes in archives.glob("*.debian.tar.*"):
            call("tar", "-xf", str(changes), "-C", str(tree), folder=archives)
        series = tree / "debian/patches/series"
        for line in series.read_text().splitlines() if series.exists() else []:
            if line and not line.startswith("#"):
                # Not as a part of the repository that the folder is in.
                call("git", "apply", "-p1", str(series.parent / line.split()[0]), folder=tree, GIT_CEILING_DIRECTORIES=str(tree.parent))
        return tree


def build(tree: Path, options: list[str], library: str, out: Path) -> None:
    """Compiles a library that has CMake files, and moves it to `out`."""
    folder = tree.with_name(f"{tree.name}-build")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    # HDF5's checks look for what they write in the current folder.
    # No folder of this machine in the library; HDF5 writes its flags into itself, so the compiler gets this one from a program in front of it.
    launcher = folder / "compiler"
    launcher.write_text(f'#!/bin/sh\nexec "$@" -ffile-prefix-map={tree.parent}=.\n')
    launcher.chmod(0o755)
    launchers = [f"CMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")]
    call("cmake", "-G", "Ninja", "-S", str(tree), "-B", ".", *(f"-D{option}" for option in [*USUAL, *launchers, *options]), folder=folder)
    call("ninja", "-j", str(os.cpu_count() or 1), folder=folder)
    found = list(folder.rglob(library))
    if len(found) != 1:
        raise Failed(f"{tree.name}: {len(found)} files {library} were built")
    shutil.copy2(found[0], out / f"{library}.part")
    (out / f"{library}.part").rename(out / library)
    shutil.rmtree(folder)
    shutil.rmtree(tree)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    out = Path(arguments[0]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    sources = None
    for package, (library, options) in LIBRARIES.items():
        wanted, kept = f"{source_of(package)} {' '.join([*USUAL, *options])}; patched, without names of folders", out / f"{library}.txt"
        if (out / library).exists() and kept.exists() and kept.read_text() == wanted:
            print(f"{library} of {source_of(package)} is there", flush=True)
            continue
        print(f"{library} of {source_of(package)} …", flush=True)
        sources = sources or Sources(out / "work")
        build(sources.unpack(source_of(package)), options, library, out)
        kept.write_text(wanted)
    shutil.rmtree(out / "work", ignore_errors=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failed as error:
        print(f"static_libraries: {error}", file=sys.stderr)
        sys.exit(1)
