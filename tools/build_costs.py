#!/usr/bin/env python3
"""What the build spends its time on: the costliest files, headers and templates.

Usage: build_costs.py [BUILD] [--files N] [--trace K] [--limit SECONDS]

BUILD is build/release unless named. Files come from ninja's log: wall time of the last compilation of each, so measure after a
build from nothing, without a compiler cache and with nothing else running. --trace compiles the K costliest once more with
clang (it comes with clang-tidy), which reports where its processor time goes: headers, each with what it includes, and
instantiations of templates, each with what it instantiates. A file above --limit seconds is marked; nothing fails for it.
"""

from __future__ import annotations

import argparse
import collections
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Options of g++ that clang does not know, by the number of arguments that they take.
NOT_FOR_CLANG = {"-Winvalid-pch": 0, "-fpch-preprocess": 0, "-Werror": 0, "-Wno-subobject-linkage": 0, "--param": 1}
OUTPUTS = {"-MD": 0, "-MT": 1, "-MF": 1, "-o": 1}


@dataclass
class Trace:
    """Processor time of one compilation [s]."""

    total: float = 0
    parts: dict[str, float] = field(default_factory=dict)  # frontend, backend
    headers: collections.Counter[str] = field(default_factory=collections.Counter)
    templates: collections.Counter[str] = field(default_factory=collections.Counter)


def file_times(log: Path) -> dict[str, float]:
    """Wall seconds of the last build of each target of ninja's log."""
    times = {}
    for line in log.read_text().splitlines():
        if line.startswith("#"):
            continue
        start, end, _, target, _ = line.split("\t")
        times[target] = (int(end) - int(start)) / 1000
    return times


def compile_command(build: Path, target: str) -> list[str]:
    """The command that makes an object, without the compiler cache."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True, check=True)
    words = next(shlex.split(line) for line in reversed(listed.stdout.splitlines()) if f"-o {target}" in line)
    return words[next(i for i, word in enumerate(words) if Path(word).name.startswith(("g++", "c++", "clang"))) :]


def for_clang(command: list[str], clang: str, precompiled: Path, output: Path) -> list[str]:
    """The same compilation by clang, which reads the headers that g++ has precompiled."""
    words, skip = [clang], 0
    for word, following in zip(command[1:], [*command[2:], ""], strict=True):
        if skip:
            skip -= 1
        elif word == "-include":
            skip = 1
            source = Path(following).with_suffix("")  # cmake_pch.hxx names the header in its text
            if not source.exists():
                words += ["-include", str(precompiled)]
            else:
                words += ["-include", following]
        elif word in NOT_FOR_CLANG or word in OUTPUTS:
            skip = {**NOT_FOR_CLANG, **OUTPUTS}[word]
        else:
            words.append(word)
    return [*words, "-w", "-ftime-trace", "-o", str(output)]


def outermost(events: list[dict], name: str) -> list[dict]:
    """The events of that name that lie within no other of it."""
    kept: list[dict] = []
    end = -1
    for event in sorted((e for e in events if e["name"] == name), key=lambda e: (e["ts"], -e["dur"])):
        if event["ts"] >= end:
            kept.append(event)
            end = event["ts"] + event["dur"]
    return kept


def read_trace(path: Path) -> Trace:
    """What clang reports of one compilation."""
    events = [e for e in json.loads(path.read_text())["traceEvents"] if "dur" in e]
    totals = {e["name"].removeprefix("Total "): e["dur"] / 1e6 for e in events if e["name"].startswith("Total ")}
    trace = Trace(totals.get("ExecuteCompiler", 0), {part: totals.get(part, 0) for part in ("Frontend", "Backend")})
    for event in events:
        if event["name"] == "Source":
            trace.headers[event["args"]["detail"]] += event["dur"] / 1e6
    for event in outermost(events, "InstantiateFunction"):
        trace.templates[event["args"]["detail"].split("<")[0]] += event["dur"] / 1e6
    return trace


def trace_of(build: Path, target: str, clang: str) -> Trace:
    """Compiles an object of the build by clang. @raises SystemExit with clang's words if it does not compile."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "traced.o"
        command = for_clang(compile_command(build, target), clang, ROOT / "cmake" / "precompiled.hpp", output)
        done = subprocess.run(command, cwd=build, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{clang} does not compile {target}:\n{done.stderr[:2000]}")
        return read_trace(output.with_suffix(".json"))


def short(path: str) -> str:
    """A path as people say it."""
    return path.removeprefix(str(ROOT) + "/").split("/include/")[-1]


def print_counter(title: str, counter: collections.Counter[str], count: int) -> None:
    print(title)
    for name, seconds in counter.most_common(count):
        print(f"  {seconds:7.1f}  {short(name)[:110]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "build/release")
    parser.add_argument("--files", type=int, default=25, metavar="N", help="how many files, headers and templates to list")
    parser.add_argument("--trace", type=int, default=0, metavar="K", help="how many files to compile once more with clang")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="mark files above this")
    options = parser.parse_args()
    log = options.build / ".ninja_log"
    if not log.exists():
        parser.error(f"{log} is missing; ./run build makes it")
    times = file_times(log)
    objects = sorted((t for t in times if t.endswith((".o", ".gch"))), key=lambda t: -times[t])
    print(f"files: wall time of compiling [s], {sum(times[t] for t in objects):.0f} s in all")
    for target in objects[: options.files]:
        print(f"  {times[target]:7.1f}  {target}{'  above the limit' if times[target] > options.limit else ''}")
    if not options.trace:
        return 0
    clang = shutil.which("clang++") or shutil.which("clang++-14")
    if clang is None:
        raise SystemExit("--trace needs clang++: apt-get install clang")
    headers: collections.Counter[str] = collections.Counter()
    templates: collections.Counter[str] = collections.Counter()
    for target in [t for t in objects if t.endswith(".o")][: options.trace]:
        trace = trace_of(options.build, target, clang)
        parts = ", ".join(f"{part.lower()} {seconds:.1f}" for part, seconds in trace.parts.items())
        print(f"\n{target}: {trace.total:.1f} s of processor time ({parts})")
        print_counter(" headers, with what they include", trace.headers, 8)
        print_counter(" functions instantiated from templates, with what they instantiate", trace.templates, 8)
        headers += trace.headers
        templates += trace.templates
    print()
    print_counter(f"headers of these {options.trace} files together", headers, options.files)
    print_counter("templates of these files together", templates, options.files)
    return 0


if __name__ == "__main__":
    sys.exit(main())
