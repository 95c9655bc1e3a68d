#!/usr/bin/env python3
"""Run every test suite of a build and count: one line per suite, then `N passed, N failed, N skipped` alone on the last line,
without the last part if none was skipped.

Usage: run_tests.py BUILD_DIR LOG_DIR [--only SUITE]... [--without SUITE]... [--part K/N] [--jobs N]

A suite is a GoogleTest executable (BUILD_DIR/tests/test_MODULE), a pytest folder (tests/NAME with test_*.py) or the node
tests (*.test.mjs, .js or .ts anywhere below tests/NAME). A suite that crashes, hangs, runs no test, or ends with an error that no test
explains counts as one failed test more. A test that skips itself fails, but for those that this machine or this build
cannot run (EXPECTED_SKIPS). --part runs the K-th of N parts: of each GoogleTest executable every N-th test, of the other suites
every N-th one. Standard library only. Exit status 1 if anything failed.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE_LIMIT_S = 1200.0  # far above the slowest suite: a suite that runs longer hangs
INSTRUMENTED_SLOW = 4  # times as long with sanitizers, and without optimisation where lines are counted


@dataclass
class Count:
    """Outcome of one suite: tests passed, failed, skipped, one line per failure, and names of the skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    skips: list[str] = field(default_factory=list)

    def fail(self, text: str) -> None:
        self.failed += 1
        self.failures.append(text)

    def skip(self, name: str) -> None:
        self.skipped += 1
        self.skips.append(name)

    def refuse_skips(self, build: Path) -> None:
        """Counts as failed what skipped itself without a reason that holds here."""
        for name in self.skips:
            if not any(re.search(pattern, name) and cause(build) for pattern, cause in EXPECTED_SKIPS):
                self.skipped -= 1
                self.fail(f"{name} skipped itself")


def is_on(build: Path, option: str) -> bool:
    cache = build / "CMakeCache.txt"
    return cache.exists() and f"{option}:BOOL=ON" in cache.read_text()


def has_sanitizers(build: Path) -> bool:
    """Whether malloc is a sanitizer's, so that allocations cannot be counted."""
    return is_on(build, "DEFT_SANITIZE")


# Tests that may skip themselves, and when: a pattern of names, and what must be so.
EXPECTED_SKIPS: tuple[tuple[str, Callable[[Path], bool]], ...] = (
    (r"test_lint\.test_clang_tidy", lambda build: not shutil.which("clang-tidy")),
    (r"test_apt\.", lambda build: not shutil.which("dpkg-query")),
    (r"test_(tracked_files|readme)\.", lambda build: not (ROOT / ".git").exists()),
    (r"(?i)allocat", has_sanitizers),
)


@dataclass(frozen=True)
class Suite:
    """A command, the file its results go to, and the function that counts them."""

    name: str
    command: list[str]
    report: Path
    count: Callable[[Path, str], Count]
    environment: dict[str, str] = field(default_factory=dict)


def count_gtest(report: Path, output: str) -> Count:
    """Counts GoogleTest's JSON report; after a crash there is none, and the printed lines are counted instead."""
    count = Count()
    if not report.exists():
        count.passed = len(re.findall(r"^\[       OK \]", output, re.M))
        for name in re.findall(r"^\[  FAILED  \] ([^\s,]+).* \(\d+ ms\)", output, re.M):
            count.fail(name)
        return count
    for suite in json.loads(report.read_text()).get("testsuites", []):
        for test in suite["testsuite"]:
            name = f"{suite['name']}.{test['name']}"
            if test.get("failures"):
                count.fail(name)
            elif test.get("result") == "COMPLETED":
                count.passed += 1
            else:
                count.skip(name)
    return count


def count_junit(report: Path, output: str) -> Count:
    """Counts the JUnit XML that pytest and node write."""
    count = Count()
    if not report.exists():
        return count
    try:
        cases = ElementTree.parse(report).getroot().iter("testcase")
    except ElementTree.ParseError as error:
        count.fail(f"unreadable report: {error}")
        return count
    for case in cases:
        name = f"{case.get('classname', '')}.{case.get('name', '')}".strip(".")
        if case.find("failure") is not None or case.find("error") is not None:
            count.fail(name)
        elif case.find("skipped") is not None:
            count.skip(name)
        else:
            count.passed += 1
    return count


# Folders of tests that need environments of their own, which `./run test --extras` makes and names (tests/README.md).
ELSEWHERE = {"extras": "DEFT_EXTRAS_PYTHON", "drake": "DEFT_DRAKE_TESTS_PYTHON"}


def python_of(folder: Path) -> str:
    """The interpreter of a folder of tests: for those of the package one that has its wheel, if there is one."""
    named = {"python": "DEFT_PACKAGE_PYTHON", **ELSEWHERE}.get(folder.name, "")
    return os.environ.get(named, sys.executable)


def find_suites(build: Path, logs: Path) -> list[Suite]:
    """All suites of the tree, the C++ modules that have test files but no executable included (they fail)."""
    suites = []
    for folder in sorted(p for p in (ROOT / "tests").iterdir() if p.is_dir()):
        if ELSEWHERE.get(folder.name, "PATH") not in os.environ:
            continue
        if any(folder.glob("*_test.cpp")):
            report = logs / f"test_{folder.name}.json"
            suites.append(
                Suite(folder.name, [str(build / "tests" / f"test_{folder.name}"), f"--gtest_output=json:{report}"], report, count_gtest)
            )
        if any(folder.glob("test_*.py")):
            report = logs / f"pytest_{folder.name}.xml"
            suites.append(
                Suite(
                    f"{folder.name} (pytest)",
                    [python_of(folder), "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", str(folder)],
                    report,
                    count_junit,
                )
            )
        scripts = sorted(p for p in folder.rglob("*.test.*") if p.suffix in (".mjs", ".js", ".ts"))
        if scripts:
            report = logs / f"node_{folder.name}.xml"
            suites.append(
                Suite(
                    f"{folder.name} (node)",
                    [
                        str(Path(sys.executable).parent / "node"),
                        "--test",
                        "--test-reporter=junit",
                        f"--test-reporter-destination={report}",
                        *map(str, scripts),
                    ],
                    report,
                    count_junit,
                )
            )
    return suites


def part_of(suites: list[Suite], k: int, n: int) -> list[Suite]:
    """The k-th of n parts that together run every test once."""
    if n == 1:
        return suites
    executables = [suite for suite in suites if suite.count is count_gtest]
    others = [suite for suite in suites if suite.count is not count_gtest]
    shard = {"GTEST_TOTAL_SHARDS": str(n), "GTEST_SHARD_INDEX": str(k - 1)}
    return [replace(suite, environment=shard) for suite in executables] + others[k - 1 :: n]


def read_part(text: str) -> tuple[int, int]:
    """ "2/3": (2, 3)."""
    match = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if not match or int(match[1]) > int(match[2]):
        raise argparse.ArgumentTypeError(f"{text!r}: expected K/N with 1 <= K <= N, for instance 1/3")
    return int(match[1]), int(match[2])


def run(suite: Suite, log: Path, environment: dict[str, str], slow: float = 1) -> tuple[Count, float]:
    """Runs one suite with its output in `log`, for `slow` times the limit at most; returns its count and wall time [s]."""
    suite.report.unlink(missing_ok=True)
    start, problem = time.monotonic(), None
    with log.open("wb") as sink:
        try:
            status = subprocess.run(
                suite.command,
                cwd=ROOT,
                env={**environment, **suite.environment},
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                timeout=slow * SUITE_LIMIT_S,
            ).returncode
        except subprocess.TimeoutExpired:
            status, problem = None, f"still running after {slow * SUITE_LIMIT_S:g} s"
        except OSError as error:
            status, problem = None, f"did not start: {error}"
    count = suite.count(suite.report, log.read_text(errors="replace"))
    if status is not None and status < 0:
        problem = f"crashed with signal {-status}"
    elif status and not count.failed:
        problem = f"ended with exit status {status}"
    elif status == 0 and count.passed + count.failed == 0 and "GTEST_TOTAL_SHARDS" not in suite.environment:
        problem = "ran no test"
    if problem:
        count.fail(f"suite {problem}")
    return count, time.monotonic() - start


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("logs", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="SUITE", help="run this suite alone (may be repeated)")
    parser.add_argument("--without", action="append", default=[], metavar="SUITE", help="leave this suite out (may be repeated)")
    parser.add_argument("--part", type=read_part, default=(1, 1), metavar="K/N", help="run the K-th of N parts of the tests")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="suites that run at the same time")
    options = parser.parse_args()
    build, logs = options.build.resolve(), options.logs.resolve()
    logs.mkdir(parents=True, exist_ok=True)

    suites = find_suites(build, logs)
    unknown = {*options.only, *options.without} - {s.name.split()[0] for s in suites}
    if unknown:
        parser.error(f"no suite named {', '.join(sorted(unknown))}; there are: {', '.join(sorted({s.name.split()[0] for s in suites}))}")
    suites = [s for s in suites if (not options.only or s.name.split()[0] in options.only) and s.name.split()[0] not in options.without]
    suites = part_of(suites, *options.part)
    environment = {**os.environ, "DEFT_BUILD_DIR": str(build), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in [n for n in environment if n.startswith("GTEST_")]:
        del environment[name]

    total = Count()
    print("== tests")
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        logs_of = {s.name: logs / f"{s.report.stem}.log" for s in suites}
        slow = INSTRUMENTED_SLOW if has_sanitizers(build) or is_on(build, "DEFT_COVERAGE") else 1
        futures = {pool.submit(run, s, logs_of[s.name], environment, slow): s for s in suites}
        for future in concurrent.futures.as_completed(futures):
            suite, (count, seconds) = futures[future], future.result()
            count.refuse_skips(build)
            total.passed, total.failed = total.passed + count.passed, total.failed + count.failed
            total.skipped += count.skipped
            skipped = f", {count.skipped} skipped" if count.skipped else ""
            print(f"   {suite.name:22} {count.passed:5} passed, {count.failed:3} failed{skipped}  ({seconds:.1f} s)", flush=True)
            for failure in count.failures:
                print(f"      FAILED {failure}")
            if count.failed:
                print(f"      log: {os.path.relpath(logs_of[suite.name], ROOT)}", flush=True)
    if not suites:
        total.fail("no suite found")
        print("      FAILED no test suite found")
    print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
