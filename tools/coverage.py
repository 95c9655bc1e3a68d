#!/usr/bin/env python3
"""Lines of the sources that the tests reach, by module.

Usage: coverage.py BUILD_DIR [--record] [--missed MODULE]

BUILD_DIR is a build of the preset `coverage` whose tests were run. Its counters are read by gcov; a line of a header or
template counts as reached where any instance was. Prints a table; --record writes benchmarks/baselines/coverage.json, which
the table in benchmarks/README.md shows; --missed prints the lines of a module that nothing reached. Kernels for instruction
sets that this processor does not have are left out, by name (KERNELS). Exit status 1 if a module is below 85 %.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suites import recording  # noqa: E402

LEAST = 0.85  # share of lines of every module
KERNELS = {"avx2": "dense_kernels_avx2.cpp", "avx512f": "dense_kernels_avx512.cpp"}  # by the processor's word for it

Lines = dict[Path, dict[int, int]]  # calls of each line of each source


def counters(file: Path) -> list[dict]:
    """What gcov reads from the counters of one translation unit."""
    done = subprocess.run(["gcov", "--json-format", "--stdout", str(file)], cwd=file.parent, capture_output=True, text=True, check=True)
    return [source for line in done.stdout.splitlines() if line.startswith("{") for source in json.loads(line)["files"]]


def read_lines(build: Path) -> Lines:
    """Calls of every line of src and apps, summed over translation units."""
    lines: Lines = defaultdict(dict)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for sources in pool.map(counters, sorted(build.rglob("*.gcda"))):
            for source in sources:
                file = Path(source["file"])
                if not file.is_absolute() or not file.is_relative_to(ROOT) or file.relative_to(ROOT).parts[0] not in ("src", "apps"):
                    continue
                calls = lines[file.relative_to(ROOT)]
                for line in source["lines"]:
                    number = line["line_number"]
                    calls[number] = calls.get(number, 0) + line["count"]
    return lines


def absent_kernels() -> set[str]:
    """Sources of kernels that this processor cannot run."""
    flags = Path("/proc/cpuinfo").read_text().split()
    return {file for word, file in KERNELS.items() if word not in flags}


def module_of(file: Path) -> str:
    """src/deft/solvers/lcs/rows.cpp -> solvers/lcs; apps/cli/main.cpp -> apps/cli."""
    parts = file.parent.parts
    return "/".join(parts[2:] if parts[0] == "src" else parts)


def by_module(lines: Lines) -> dict[str, dict[str, int]]:
    """Lines that can be run, and those that were, of each module."""
    modules: dict[str, dict[str, int]] = defaultdict(lambda: {"lines": 0, "reached": 0})
    for file, calls in lines.items():
        if file.name in absent_kernels():
            continue
        modules[module_of(file)]["lines"] += len(calls)
        modules[module_of(file)]["reached"] += sum(count > 0 for count in calls.values())
    return dict(sorted(modules.items()))


def print_missed(lines: Lines, module: str) -> None:
    for file in sorted(file for file in lines if module_of(file) == module):
        text = (ROOT / file).read_text().splitlines()
        for number in sorted(number for number, count in lines[file].items() if not count):
            print(f"{file}:{number}: {text[number - 1].strip()}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--record", action="store_true", help="write the baseline")
    parser.add_argument("--missed", metavar="MODULE", help="print the lines of a module that no test reached")
    options = parser.parse_args()
    lines = read_lines(options.build.resolve())
    if not lines:
        parser.error(f"no counters in {options.build}: build it with the preset 'coverage' and run its tests")
    if options.missed:
        print_missed(lines, options.missed)
        return 0
    modules = by_module(lines)
    for name, count in modules.items():
        share = count["reached"] / count["lines"]
        print(f"{name:32} {count['lines']:6} lines  {100 * share:5.1f} %{'' if share >= LEAST else '  below'}")
    if options.record:
        source = recording.source_of(options.build, "./run coverage --record")
        recording.check_recordable(source, timed=False)
        recording.record("coverage", source, {"modules": modules, "absent": sorted(absent_kernels())})
    return 1 if any(count["reached"] < LEAST * count["lines"] for count in modules.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
