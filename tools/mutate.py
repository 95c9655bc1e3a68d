#!/usr/bin/env python3
"""Plant faults in the sources, one at a time, and see whether the tests notice.

Usage: mutate.py BUILD_DIR [--count N] [--seed S] [--survivors] [--record]

BUILD_DIR is a build of a copy of the tree (`git worktree`), which is changed and put back; the faults are drawn from solvers,
contact, derivatives and planner in equal shares, from a fixed seed: a sign flipped, a term dropped, a count off by one, a
comparison or a condition turned. Each is compiled and run against its module's own tests; --survivors runs those that were
not noticed against the whole suite. Results are kept after each fault in out/mutants/results.json, and a run goes on where
the last one ended. tests/mutants.json argues, one by one, for the faults that change nothing or only a choice among equals; these
leave the count. --record writes benchmarks/baselines/mutants.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import run_tests

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

from suites import recording  # noqa: E402

RESULTS = ROOT / "out/mutants/results.json"
ARGUED = ROOT / "tests/mutants.json"
# Where faults are planted: folders of src/deft.
GROUPS = {
    "solvers": ("solvers",),
    "contact": ("contact", "collision"),
    "derivatives": ("dynamics/derivatives", "solvers/contact/derivative", "dynamics/convex"),
    "planner": ("planning",),
}
# The modules whose tests are asked first where a module's own notice nothing.
NEIGHBOURS = ("dynamics", "contact", "viewer", "plant", "planning")
OWN_LIMIT_S, SUITE_LIMIT_S = 300, 2400  # of a module's tests, and of one suite: a fault that makes them hang is noticed
# What is planted: a name, what it looks for in a line of code, and what it puts there.
FAULTS: tuple[tuple[str, str, str], ...] = (
    ("sign", r" \+ (?=[\w(])", " - "),
    ("sign", r" - (?=[\w(])", " + "),
    ("sign", r" \+= ", " -= "),
    ("sign", r" -= ", " += "),
    ("sign", r"(?<== )-(?=[\w(])", ""),
    ("sign", r"(?<=return )-(?=[\w(])", ""),
    ("dropped", r" [+-] \w+(?:\.\w+|\(\w*\)|\[\w+\])*(?=[;),])", ""),
    ("dropped", r" \* \w+(?:\.\w+|\(\w*\)|\[\w+\])*(?=[;),])", ""),
    ("dropped", r"^\s+\w+[\w.()\[\], ]* [+-]= .*;$", ""),
    ("off by one", r" [+-] 1(?=[;),\]])", ""),
    ("off by one", r"(?<== )0(?=; \w+ [<!]=? )", "1"),
    ("off by one", r"(?<=\w) < (?=\w+;)", " <= "),
    ("comparison", r"(?<=[\w)]) < (?=[\w-])(?!.*> )", " > "),
    ("comparison", r"(?<=[\w)\]]) > (?=[\w-])", " < "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("condition", r" && ", " || "),
    ("condition", r" \|\| ", " && "),
    ("condition", r"(?<=if \()!(?=\w)", ""),
    ("extreme", r"std::max\(", "std::min("),
    ("extreme", r"std::min\(", "std::max("),
    ("factor", r"(?<![\w.])0\.5 \* ", ""),
    ("factor", r"(?<![\w.])2 \* ", ""),
)


@dataclass(frozen=True)
class Fault:
    """One change of one line."""

    group: str
    file: str  # from the root
    line: int  # from 1
    kind: str
    before: str
    after: str

    @property
    def name(self) -> str:
        """The same as long as the line and what precedes it in its file are."""
        key = f"{self.file}|{self.before}|{self.after}|{self.kind}"
        return hashlib.sha256(key.encode()).hexdigest()[:12]


def module_of(fault: Fault) -> str:
    """The folder of src/deft that a fault is in, as its test program is called."""
    return fault.file.split("/")[2]


def code_lines(file: Path) -> Iterator[tuple[int, str]]:
    """Lines that compute something: no comments, directives, messages, assertions, and no part of a template's arguments."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        code = re.sub(r"//.*", "", line).rstrip()
        if code.strip() and not re.search(r'^\s*#|"|static_assert|^\s*(template|using|namespace|constexpr char)|log::', code):
            yield number, line


def faults_of(group: str) -> list[Fault]:
    """Every fault that can be planted in a group, in the order of files and lines."""
    found = []
    for folder in GROUPS[group]:
        for file in sorted((ROOT / "src/deft" / folder).rglob("*.[ch]pp")):
            for number, line in code_lines(file):
                for kind, pattern, put in FAULTS:
                    for match in re.finditer(pattern, re.sub(r"\s*//.*", "", line)):
                        after = line[: match.start()] + put + line[match.end() :]
                        found.append(Fault(group, str(file.relative_to(ROOT)), number, kind, line, after))
    return found


def drawn(group: str, seed: int) -> list[Fault]:
    """All of a group's faults in the order of a draw, kinds in turn, so that frequent kinds do not crowd out the others."""
    dice = random.Random(f"{seed} {group}")
    kinds: dict[str, list[Fault]] = {}
    for fault in faults_of(group):
        kinds.setdefault(fault.kind, []).append(fault)
    for members in kinds.values():
        dice.shuffle(members)
    order = []
    while any(kinds.values()):
        order += [members.pop() for members in kinds.values() if members]
    return order


class Laboratory:
    """A copy of the tree and its build, in which faults are planted."""

    def __init__(self, build: Path) -> None:
        cache = (build / "CMakeCache.txt").read_text()
        self.build = build
        self.tree = Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.M)[1])  # type: ignore[index]
        if self.tree == ROOT:
            raise SystemExit(f"{build} is a build of this tree, which faults must not be planted in; make a copy with git worktree")
        self.logs = ROOT / "out/mutants/logs"
        self.logs.mkdir(parents=True, exist_ok=True)

    def compile(self, target: str) -> bool:
        with (self.logs / "build.log").open("w") as log:
            return subprocess.run(["ninja", "-C", self.build, target], stdout=log, stderr=log).returncode == 0

    def plant(self, fault: Fault) -> str:
        """Plants a fault. @returns the source without it."""
        file = self.tree / fault.file
        text = file.read_text()
        lines = text.splitlines(keepends=True)
        if lines[fault.line - 1].rstrip("\n") != fault.before:
            raise SystemExit(f"{file}:{fault.line} is not what the draw saw; the copy of the tree must be that of this commit")
        lines[fault.line - 1] = fault.after + "\n"
        file.write_text("".join(lines))
        return text

    def own_tests(self, fault: Fault) -> str:
        """`noticed`, `survived`, or `not compiled`."""
        return self.tests_of(module_of(fault))

    def tests_of(self, module: str) -> str:
        """The same, of the tests of one module."""
        if not self.compile(f"test_{module}"):
            return "not compiled"
        shards = os.cpu_count() or 1
        running = [
            subprocess.Popen(
                [self.build / "tests" / f"test_{module}", "--gtest_fail_fast", "--gtest_brief=1"],
                cwd=self.tree,
                env={**os.environ, "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(k)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for k in range(shards)
        ]
        deadline = time.monotonic() + OWN_LIMIT_S
        while any(p.poll() is None for p in running) and not any(p.poll() for p in running) and time.monotonic() < deadline:
            time.sleep(0.1)
        noticed = any(process.poll() != 0 for process in running)  # a shard failed, or did not end
        for process in running:
            process.kill()
            process.wait()
        return "noticed" if noticed else "survived"

    def neighbours(self, fault: Fault) -> str:
        """`noticed by MODULE` or `survived neighbours`, of the fault that is planted, by modules that stand on the faulty one."""
        for module in NEIGHBOURS:
            if module != module_of(fault) and self.tests_of(module) != "survived":
                return f"noticed by {module}"
        return "survived neighbours"

    def whole_suite(self, _fault: Fault) -> str:
        """`noticed by SUITE` or `survived`, of the fault that is planted."""
        if not self.compile("all"):
            return "noticed by the build"
        run_tests.SUITE_LIMIT_S = SUITE_LIMIT_S
        environment = {**os.environ, "DEFT_BUILD_DIR": str(self.build), "PYTHONDONTWRITEBYTECODE": "1"}
        run_tests.ROOT = self.tree
        for suite in run_tests.find_suites(self.build, self.logs):
            if suite.name.split()[0] in ("house", "viewer"):
                continue
            count, _ = run_tests.run(suite, self.logs / f"{suite.report.stem}.log", environment)
            if count.failed:
                return f"noticed by {suite.name}: {count.failures[0]}"
        return "survived"


def read_if_there(file: Path) -> dict[str, dict]:
    return json.loads(file.read_text()) if file.exists() else {}


def keep(results: dict[str, dict]) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    recording.write_whole(RESULTS, json.dumps(results, indent=1) + "\n")


def plant_all(laboratory: Laboratory, count: int, seed: int) -> None:
    """Faults of each group in the order of the draw, until there are enough that compile."""
    results = read_if_there(RESULTS)
    for group in GROUPS:
        valid = 0
        for fault in drawn(group, seed):
            if valid == count:
                break
            if fault.name not in results:
                text = laboratory.plant(fault)
                try:
                    outcome = laboratory.own_tests(fault)
                finally:
                    (laboratory.tree / fault.file).write_text(text)
                results[fault.name] = {**asdict(fault), "outcome": outcome, "whole": ""}
                keep(results)
                print(f"{fault.file}:{fault.line}: {fault.kind}: {outcome}", flush=True)
            valid += results[fault.name]["outcome"] != "not compiled"


def run_survivors(laboratory: Laboratory) -> None:
    """The tests of neighbours, and then the whole suite, on what a module's own tests did not notice."""
    results, argued = read_if_there(RESULTS), read_if_there(ARGUED)
    for before, tests in (("", laboratory.neighbours), ("survived neighbours", laboratory.whole_suite)):
        for name, result in results.items():
            if result["outcome"] != "survived" or result["whole"] != before or name in argued:
                continue
            fault = Fault(**{key: result[key] for key in Fault.__dataclass_fields__})
            text = laboratory.plant(fault)
            try:
                result["whole"] = tests(fault)
            finally:
                (laboratory.tree / fault.file).write_text(text)
            keep(results)
            print(f"{fault.file}:{fault.line}: {fault.kind}: {result['whole']}", flush=True)


def summary() -> dict:
    """The score: of the faults that count, how many were noticed; and what survived."""
    argued = read_if_there(ARGUED)
    planted = {name: result for name, result in read_if_there(RESULTS).items() if result["outcome"] != "not compiled"}
    counted = {name: result for name, result in planted.items() if name not in argued}
    survivors = [r for r in counted.values() if r["outcome"] == "survived" and not r["whole"].startswith("noticed")]
    return {
        "planted": len(planted),
        "argued": len(planted) - len(counted),
        "noticed": len(counted) - len(survivors),
        "survivors": [{key: r[key] for key in ("file", "line", "kind", "before", "after", "whole")} for r in survivors],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--count", type=int, default=28, help="faults of each of the four groups (default 28)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--survivors", action="store_true", help="the whole suite on what a module's own tests did not notice")
    parser.add_argument("--record", action="store_true", help="write the baseline")
    options = parser.parse_args()
    laboratory = Laboratory(options.build.resolve())
    plant_all(laboratory, options.count, options.seed)
    if options.survivors:
        run_survivors(laboratory)
    found = summary()
    for survivor in found["survivors"]:
        print(f"survivor: {survivor['file']}:{survivor['line']}\n  - {survivor['before'].strip()}\n  + {survivor['after'].strip()}")
    counted = found["planted"] - found["argued"]
    print(f"{found['noticed']} of {counted} noticed ({found['argued']} more argued away)")
    if options.record:
        recording.record("mutants", recording.source_of(options.build, "./run mutants --record"), found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
