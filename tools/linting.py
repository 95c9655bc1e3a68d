#!/usr/bin/env python3
"""Look for bugs without running anything: ruff and mypy over the Python, clang-tidy over the C++ of src and apps.

Usage: linting.py [--all] [--since REVISION] [--only ruff|types|tidy]... [--jobs N] [FILE...]     exit status 0: no finding

clang-tidy takes 10 s and more per source, so by default it sees only what changed: against the branch point from `main`, and
what is not committed; --all: every source, named FILEs: just those. A changed header is seen through a source that includes it.
It reads build/lint/compile_commands.json, a build that is configured but never compiled. `./run lint` calls this.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

from project_files import PLAIN, project_files

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".venv-dev" / "bin"
DATABASE = ROOT / "build/lint/compile_commands.json"
# Each run may hold one conftest.py: the scripts of two folders of tests are no packages.
TYPED = (("tools", "benchmarks", "tests/cli", "tests/house"), ("tests/scenarios",), ("python/deft",))
# clang does not know every option of g++.
NOT_FOR_CLANG = ("-Wno-unknown-warning-option", "-Wno-unused-command-line-argument", "-Wno-ignored-optimization-argument")


def ruff(files: list[Path]) -> str:
    """What ruff has to say, empty: nothing."""
    done = subprocess.run(
        [TOOLS / "ruff", "check", "--output-format", "concise", "--quiet", *files], cwd=ROOT, env=PLAIN, capture_output=True, text=True
    )
    return (done.stdout + done.stderr).strip() if done.returncode else ""


def types(groups: tuple[tuple[str, ...], ...] = TYPED) -> str:
    """What mypy has to say about the folders (or files) of each group, empty: nothing."""
    said = []
    for group in groups:
        done = subprocess.run(
            [TOOLS / "mypy", "--no-error-summary", "--no-color-output", *group], cwd=ROOT, env=PLAIN, capture_output=True, text=True
        )
        if done.returncode:
            said.append((done.stdout + done.stderr).strip())
    return "\n".join(said)


def output_of_git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", "-c", "safe.directory=*", *arguments], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.stderr.strip()}; name the files, or give --all")
    return done.stdout.splitlines()


def changed_files(since: str | None) -> list[Path]:
    """Files that differ from `since` (else from where this branch left `main`), new ones included."""
    base = since or next(iter(output_of_git("merge-base", "HEAD", "main")), "HEAD")
    names = output_of_git("diff", "--name-only", base) + output_of_git("ls-files", "--others", "--exclude-standard")
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def sources_of_database() -> list[Path]:
    """Sources of src and apps that the configured build would compile."""
    if not DATABASE.exists():
        raise SystemExit(f"{os.path.relpath(DATABASE, ROOT)} is missing; ./run lint configures that build")
    files = {Path(entry["file"]) for entry in json.loads(DATABASE.read_text())}
    return sorted(f for f in files if f.is_relative_to(ROOT / "src") or f.is_relative_to(ROOT / "apps"))


def sources_of(files: list[Path], known: list[Path]) -> list[Path]:
    """Sources to look at for changed files: themselves; for a header the source of its name, else the first that includes it."""
    chosen = {f for f in files if f in known}
    texts: dict[Path, str] = {}
    for header in (f for f in files if f.suffix == ".hpp"):
        own = header.with_suffix(".cpp")
        if own in known:
            chosen.add(own)
            continue
        texts = texts or {f: f.read_text() for f in known}
        name = header.relative_to(ROOT / "src") if header.is_relative_to(ROOT / "src") else Path(header.name)
        chosen |= set([f for f, text in texts.items() if f'#include "{name}"' in text][:1])
    return sorted(chosen)


FINDING = re.compile(r"(?m)^(?=\S+:\d+:\d+: (?:warning|error): )")


def tidy(source: Path) -> list[str]:
    """What clang-tidy finds in a source and the headers of ours that it includes.

    Findings inside Eigen are left out: the analyzer, which follows calls into its products, takes what a loop of unknown
    length has copied there for uninitialised.
    """
    command: list[str | Path] = ["clang-tidy", "-p", DATABASE.parent, "--quiet", *(f"--extra-arg={a}" for a in NOT_FOR_CLANG), source]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if not done.returncode:
        return []
    said = [part.rstrip() for part in FINDING.split(done.stdout) if part.strip()]
    return [part for part in said if "/eigen3/Eigen/" not in part.splitlines()[0]] if said else [done.stderr.strip()]


def tidy_all(sources: list[Path], jobs: int) -> list[str]:
    """Findings of all sources, each once: headers are seen by many."""
    found: dict[str, str] = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for k, (source, said) in enumerate(zip(sources, pool.map(tidy, sources)), 1):
            print(f"   {k}/{len(sources)} {os.path.relpath(source, ROOT)}{': findings' if said else ''}", flush=True)
            for finding in said:
                found.setdefault(finding.splitlines()[0], finding)
    return list(found.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="sources and headers for clang-tidy")
    parser.add_argument("--all", action="store_true", help="clang-tidy sees every source of src and apps")
    parser.add_argument("--since", metavar="REVISION", help="clang-tidy sees what changed since then")
    parser.add_argument("--only", action="append", choices=["ruff", "types", "tidy"], default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="sources that clang-tidy sees at the same time")
    options = parser.parse_args()
    parts = options.only or ["ruff", "types", "tidy"]
    failed = False
    for name, check in (("ruff", lambda: ruff(project_files(ROOT, (".py",)))), ("types", types)):
        if name in parts:
            said = check()
            failed |= bool(said)
            print(f"== {name}: {'clean' if not said else 'findings'}" + (f"\n{said}" if said else ""), flush=True)
    if "tidy" in parts:
        known = sources_of_database()
        wanted = [f.resolve() for f in options.files] or (known if options.all else changed_files(options.since))
        sources = sources_of(wanted, known)
        print(f"== tidy: {len(sources)} sources", flush=True)
        findings = tidy_all(sources, options.jobs)
        failed |= bool(findings)
        print("\n".join([*findings, f"== tidy: {len(findings)} findings" if findings else "== tidy: clean"]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
