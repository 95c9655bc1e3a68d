#!/usr/bin/env python3
"""Hand the readers of files to libFuzzer, one after another, with the sanitizers of the preset `fuzz`.

Usage: fuzz.py PROGRAM DEFT [READER]... [--seconds N] [--keep] [--record]

PROGRAM is deft_fuzz, DEFT the command line of the release build, which makes the run folders to start from. READER is a
name of tests/fuzz/readers.cpp; default: all. What is found goes to out/fuzz/READER: `found`, the files that reached
something new, and `crash-…`, `timeout-…`, `oom-…`, the defects. With --keep the smallest files that reach all that was
reached replace tests/fuzz/corpus/READER, where the tests read them again. A reader goes on from what it had found; how
long it ran, what it read and the defects of each run are kept in out/fuzz/READER/runs.json, and --record writes them to
benchmarks/baselines/fuzz.json. Exit status 1 if a defect was found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suites import recording  # noqa: E402

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
OUT = ROOT / "out" / "fuzz"
HANG_S = 10  # a file that takes longer is a defect
MEMORY_MIB = 2048  # so is one that takes more; the sanitizers need several times what the release build does
KEPT_BYTES = 65536  # of a kept corpus, a run's apart: a run is larger than this by itself
RUN_BYTES = 1 << 20
SMALL_BYTES = 20000  # of a file to start from


# What each reader starts from, besides its kept corpus: files of the tree.
KINDS: dict[str, tuple[str, ...]] = {
    "scene": ("scenes/**/*.deft.yaml",),
    "q_sys": ("scenes/published/q_sys/*.yml",),
    "directives": ("scenes/**/*.dmd.y*ml", "scenes/published/**/*.y*ml"),
    "urdf": ("scenes/**/*.urdf",),
    "sdf": ("scenes/**/*.sdf",),
    "mjcf": (),
    "obj": ("scenes/**/*.obj", "tests/**/*.obj"),
    "stl": ("scenes/**/*.stl", "tests/**/*.stl"),
    "dae": ("scenes/**/*.dae", "tests/**/*.dae"),
    "ply": (),
    "gltf": (),
    "glb": (),
    "problem": ("tests/cli/control_problems/*.json", "scenes/**/*.json"),
    "solve": ("tests/cli/control_problems/*.json", "scenes/**/*.json"),
    "run": (),
}


def words(files: Iterable[Path]) -> str:
    """The dictionary of a reader: names and numbers of the files that it starts from."""
    found: set[bytes] = set()
    for file in files:
        found.update(re.findall(rb"[A-Za-z_][A-Za-z_:0-9]{2,24}|-?[0-9.]+e?-?[0-9]*", file.read_bytes()[:SMALL_BYTES]))
    return "".join(f'"{word.decode()}"\n' for word in sorted(found)[:2000] if word)


def small_runs(deft: Path, folder: Path) -> None:
    """Two run folders, of a simulation and of a search; of a scene without files, whose places they would hold."""
    scene = "scenes/planning/push_on_table.deft.yaml"
    for name, command in {
        "sim": ["sim", scene, "--steps", "3"],
        "plan": ["plan", scene, "--seed", "1", "--first", "--nodes", "3"],
    }.items():
        out = OUT / "runs" / name
        subprocess.run([deft, *command, "--out", out, "--force", "--quiet"], cwd=ROOT, check=False, stdout=subprocess.DEVNULL)
        shutil.copyfile(out / "run.h5", folder / f"{name}.h5")


def seeds(reader: str, deft: Path) -> Path:
    """A folder of what the reader starts from."""
    folder = OUT / reader / "seeds"
    folder.mkdir(parents=True, exist_ok=True)
    if reader == "run":
        small_runs(deft, folder)
    kept = sorted((CORPUS / reader).glob("*"))
    for pattern in KINDS[reader]:
        kept += sorted(f for f in ROOT.glob(pattern) if f.stat().st_size <= SMALL_BYTES)
    for number, file in enumerate(kept):
        shutil.copyfile(file, folder / f"{number:04d}{file.suffix}")
    if reader != "run":
        (OUT / reader / "words").write_text(words(folder.iterdir()))
    return folder


def defects_of(reader: str) -> set[Path]:
    """Files that made it crash, hang, lose memory or take too much of it."""
    return {f for f in (OUT / reader).glob("*-*") if re.match(r"(crash|timeout|oom|leak)-", f.name)}


def fuzz(program: Path, reader: str, deft: Path, seconds: int) -> set[Path]:
    """The defects that were found."""
    start, found = seeds(reader, deft), OUT / reader / "found"
    found.mkdir(exist_ok=True)
    known, began = defects_of(reader), time.monotonic()
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={HANG_S}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={OUT / reader}/",
        "-fork=1",
        "-ignore_crashes=1",
        "-ignore_timeouts=1",
        "-ignore_ooms=1",
    ]
    if reader != "run":  # whose words are bytes
        options.append(f"-dict={OUT / reader / 'words'}")
    with (OUT / reader / "log").open("w") as log:
        subprocess.run([program, *options, found, start], env=environment(reader), cwd=ROOT, stdout=log, stderr=log, check=False)
    new = defects_of(reader) - known
    read = re.findall(r"^#(\d+): cov: (\d+)", (OUT / reader / "log").read_text(errors="replace"), re.M)
    if not read:
        raise SystemExit(f"{reader}: the fuzzer did not start; see {OUT / reader / 'log'}")
    run = {
        "commit": recording.commit_of(),
        "seconds": round(time.monotonic() - began),
        "files": int(read[-1][0]),
        "edges": int(read[-1][1]),
        "defects": sorted(f.name for f in new),
    }
    recording.write_whole(OUT / reader / "runs.json", json.dumps([*runs_of(reader), run], indent=1) + "\n")
    return new


def runs_of(reader: str) -> list[dict]:
    """What was kept of its runs, in their order."""
    file = OUT / reader / "runs.json"
    return json.loads(file.read_text()) if file.exists() else []


def environment(reader: str) -> dict[str, str]:
    """What the sanitizers are told. Assimp and HDF5 lose some kilobytes of a file that they refuse, which are not ours to mend."""
    suppressions = OUT / "leaks"
    suppressions.write_text("leak:libassimp\nleak:libhdf5\n")
    return {
        **os.environ,
        "DEFT_FUZZ_READER": reader,
        "DEFT_COACD_PYTHON": str(OUT / "no python"),  # a scene that asks for convex parts is refused, not decomposed for minutes
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "ASAN_OPTIONS": "allocator_may_return_null=1",
        "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
    }


def keep(program: Path, reader: str) -> None:
    """Replaces the kept corpus by the smallest files that reach everything, up to its size in the repository."""
    least = OUT / reader / "least"
    shutil.rmtree(least, ignore_errors=True)
    least.mkdir()
    subprocess.run(
        [program, "-merge=1", f"-timeout={HANG_S}", least, OUT / reader / "found", OUT / reader / "seeds"],
        env=environment(reader),
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    shutil.rmtree(CORPUS / reader, ignore_errors=True)
    (CORPUS / reader).mkdir(parents=True)
    room = RUN_BYTES if reader == "run" else KEPT_BYTES
    for file in sorted(least.iterdir(), key=lambda f: (f.stat().st_size, f.name)):
        room -= file.stat().st_size
        if room < 0:
            break
        shutil.copyfile(file, CORPUS / reader / file.name[:12])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("deft", type=Path)
    parser.add_argument("readers", nargs="*", metavar="READER", help=f"of {', '.join(KINDS)}")
    parser.add_argument("--seconds", type=int, default=60, help="for each reader (default 60)")
    parser.add_argument("--keep", action="store_true", help="renew tests/fuzz/corpus")
    parser.add_argument("--record", action="store_true", help="write the baseline, of all that was kept")
    options = parser.parse_args()
    for reader in options.readers:
        if reader not in KINDS:
            parser.error(f"there is no reader '{reader}'; there are: {', '.join(KINDS)}")
    defects: set[Path] = set()
    for reader in options.readers or KINDS:
        new = fuzz(options.program.resolve(), reader, options.deft.resolve(), options.seconds)
        print(f"{reader}: {len(list((OUT / reader / 'found').iterdir()))} files that reached something new, {len(new)} defects", flush=True)
        defects |= new
        if options.keep:
            keep(options.program.resolve(), reader)
    if options.record:
        build = next(folder for folder in options.program.resolve().parents if (folder / "CMakeCache.txt").exists())
        recording.record("fuzz", recording.source_of(build, "./run fuzz --record"), {reader: runs_of(reader) for reader in KINDS})
    for defect in sorted(defects):
        print(f"defect: {defect}", file=sys.stderr)
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
