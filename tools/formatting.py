#!/usr/bin/env python3
"""Format the sources, or tell which are not: C++ by clang-format, Python by ruff, the viewer's client by prettier.

Usage: formatting.py [--check] [--only cpp|python|typescript]...     exit status of --check: 0 clean, 1 files are named

clang-format and ruff are those of .venv-dev. The client is formatted in a copy below build/format, which has a node_modules of
its own; what changed is copied back. `./run format` calls this.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from project_files import PLAIN, project_files

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv-dev" / "bin"
CPP_FOLDERS = ("src", "apps", "python", "tests", "benchmarks")
CLIENT = Path("src/deft/viewer/client")
PASSES = 5  # of clang-format, which at times goes on where it broke a comment


class FormatError(RuntimeError):
    """A formatter could not do its work."""


def cpp_files(root: Path) -> list[Path]:
    """All headers and sources of C++."""
    return [p for p in project_files(root, (".cpp", ".hpp")) if p.relative_to(root).parts[0] in CPP_FOLDERS]


def in_batches(files: list[Path], size: int = 100) -> Iterable[list[Path]]:
    return (files[k : k + size] for k in range(0, len(files), size))


def unformatted_cpp(files: list[Path]) -> list[Path]:
    """Those that clang-format would change; each by the .clang-format above it."""
    found = set()
    for batch in in_batches(files):
        done = subprocess.run([TOOLS / "clang-format", "--dry-run", "-Werror", *batch], env=PLAIN, capture_output=True, text=True)
        named = set(re.findall(r"^(.+?):\d+:\d+: error: code should be clang-formatted", done.stderr, re.M))
        if done.returncode and not named:
            raise FormatError(f"clang-format: {done.stderr.strip()}")
        found |= named
    return sorted(map(Path, found))


def format_cpp(files: list[Path]) -> list[Path]:
    """Formats in place until nothing changes any more. @returns the files that changed."""
    changed: list[Path] = []
    for k in range(PASSES):
        waiting = unformatted_cpp(files)
        if not waiting:
            return changed
        changed = changed or waiting
        if k + 1 < PASSES:
            for batch in in_batches(waiting):
                subprocess.run([TOOLS / "clang-format", "-i", *batch], check=True)
    raise FormatError(f"clang-format finds no end with {', '.join(map(str, waiting))}; put // clang-format off around the place")


def unformatted_python(files: list[Path]) -> list[Path]:
    """Those that ruff would format otherwise, or in which it finds an error of syntax."""
    if not files:
        return []
    done = subprocess.run(
        [TOOLS / "ruff", "format", "--check", "--output-format", "concise", *files], cwd=ROOT, env=PLAIN, capture_output=True, text=True
    )
    named = set(re.findall(r"^(.+?):\d+:\d+: ", done.stdout, re.M))
    if done.returncode and not named:
        raise FormatError(f"ruff format: {done.stdout}{done.stderr}".strip())
    return sorted((ROOT / name).resolve() for name in named)


def format_python(files: list[Path]) -> list[Path]:
    """Formats in place. @returns the files that changed."""
    changed = unformatted_python(files)
    if changed:
        done = subprocess.run([TOOLS / "ruff", "format", *changed], cwd=ROOT, env=PLAIN, capture_output=True, text=True)
        if done.returncode:
            raise FormatError(f"ruff format: {done.stdout}{done.stderr}".strip())
    return changed


def client_copy(root: Path) -> Path:
    """A copy of the client below build/format with the packages of its lock, which are installed again when that changed."""
    copy, source = root / "build/format/client", root / CLIENT
    packages, stamp = copy / "node_modules", copy / "node_modules/.installed"
    copy.mkdir(parents=True, exist_ok=True)
    for old in copy.iterdir():
        if old != packages:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(source, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
    lock = hashlib.sha256((copy / "package-lock.json").read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != lock:
        run_npm(copy, "ci", "--ignore-scripts", "--silent")
        stamp.write_text(lock)
    return copy


def run_npm(folder: Path, *arguments: str, code: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs npm, the one of .venv before another; its output has no colours, wherever it runs.

    @throws FormatError for another exit status than `code`."""
    environment = {**PLAIN, "PATH": f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["npm", *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode not in code:
        raise FormatError(f"npm {' '.join(arguments)}: {done.stdout.strip()}")
    return done


def unformatted_client(root: Path) -> list[Path]:
    """Files of the client that prettier would change."""
    done = run_npm(client_copy(root), "run", "--silent", "format:check", code=(0, 1))
    named = [name for name in re.findall(r"^\[warn\] (\S+)$", done.stdout, re.M) if (root / CLIENT / name).is_file()]
    if "[error]" in done.stdout or bool(done.returncode) != bool(named):
        raise FormatError(f"prettier: {done.stdout.strip()}")
    return [root / CLIENT / name for name in named]


def format_client(root: Path) -> list[Path]:
    """Formats the client in the copy. @returns the files that changed."""
    copy = client_copy(root)
    run_npm(copy, "run", "--silent", "format")
    changed = []
    for path in sorted(p for p in copy.rglob("*") if p.is_file() and "node_modules" not in p.relative_to(copy).parts):
        own = root / CLIENT / path.relative_to(copy)
        if own.exists() and own.read_bytes() != path.read_bytes():
            own.write_bytes(path.read_bytes())
            changed.append(own)
    return changed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing, name the files that are not formatted")
    parser.add_argument("--only", action="append", choices=["cpp", "python", "typescript"], default=[])
    options = parser.parse_args()
    cpp, python = cpp_files(ROOT), project_files(ROOT, (".py",))
    jobs = {
        "cpp": (lambda: unformatted_cpp(cpp), lambda: format_cpp(cpp)),
        "python": (lambda: unformatted_python(python), lambda: format_python(python)),
        "typescript": (lambda: unformatted_client(ROOT), lambda: format_client(ROOT)),
    }
    found = 0
    for name in options.only or jobs:
        files = jobs[name][0 if options.check else 1]()
        found += len(files)
        for path in files:
            print(os.path.relpath(path, ROOT))
    print(f"{found} files {'are not formatted: ./run format' if options.check else 'changed'}" if found else "formatting: clean")
    return 1 if options.check and found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FormatError as error:
        sys.exit(str(error))
