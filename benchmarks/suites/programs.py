"""Running the programs that a benchmark is made of."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

ROOT = Path(__file__).resolve().parents[2]
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Failed(Exception):
    """A benchmark program that is missing or ended with an error."""


def output_of(command: list[str], **environment: str) -> str:
    """Standard output of a program. @throws Failed with its last words."""
    if not Path(command[0]).exists():
        raise Failed(f"{command[0]} is not there; ./run build makes the programs")
    result = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **ONE_CORE, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    if result.returncode:
        raise Failed(f"{Path(command[0]).name} ended with {result.returncode}:\n{(result.stderr or result.stdout)[-2000:]}")
    return result.stdout


class DeftRuns:
    """Runs of a copy of `deft`, so that a build meanwhile does not change a study, in several threads; they can be ended together. The copy is made when
    it is first needed."""

    exit_codes: ClassVar[dict[str, tuple[int, ...]]] = {}  # that are results, by command; others: 0, 1 and 3

    def __init__(self, build: Path, work: Path):
        self.build, self.work = build, work
        self.work.mkdir(parents=True, exist_ok=True)
        self.running: set[subprocess.Popen] = set()
        self.lock, self.stopped = threading.Lock(), False
        self.copying = threading.Lock()
        self.copy: Path | None = None

    def built(self) -> Path:
        """The program as it was built. @throws Failed if it is not there."""
        built = self.build / "deft"
        if not built.exists():
            raise Failed(f"{built} is not there; ./run build makes it")
        return built

    @property
    def deft(self) -> Path:
        """The copy, named by its digest."""
        with self.copying:
            if self.copy is None:
                built = self.built()
                self.copy = self.work / f"deft-{hashlib.sha256(built.read_bytes()).hexdigest()[:16]}"
                if not self.copy.exists():
                    part = self.copy.with_suffix(".part")
                    shutil.copy2(built, part)
                    part.rename(self.copy)
            return self.copy

    def call(self, folder: Path, command: str, *arguments: str) -> dict:
        """summary.json of a run folder that this command writes. @throws Failed if it ends without a result."""
        shutil.rmtree(folder, ignore_errors=True)
        deft = str(self.deft)
        with self.lock:
            if self.stopped:
                raise Failed("interrupted")
            process = subprocess.Popen([deft, command, *arguments, "--out", str(folder), "--quiet"], cwd=ROOT, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)  # fmt: skip
            self.running.add(process)
        _, errors = process.communicate()
        with self.lock:
            self.running.discard(process)
        if process.returncode not in self.exit_codes.get(command, (0, 1, 3)) or not (folder / "summary.json").exists():
            raise Failed(f"deft {command} ended with {process.returncode}: {errors[-2000:]}")
        return json.loads((folder / "summary.json").read_text())

    def stop(self) -> None:
        """Ends the processes that this study started."""
        with self.lock:
            self.stopped = True
            for process in self.running:
                process.terminate()


def peers(script: str, *arguments: str) -> dict:
    """{"rows": [...], "absent": {rival: reason}} of a script of benchmarks/peers."""
    return json.loads(output_of([sys.executable, f"benchmarks/peers/{script}", *arguments]).splitlines()[-1])


def say(text: str) -> None:
    """Progress, on standard error."""
    print(f"   {text}", file=sys.stderr, flush=True)


def print_absent(absent: dict) -> None:
    for who, reason in absent.items():
        print(f"absent: {who} ({reason.splitlines()[0]})")


def percentile(values: list[float], part: float) -> float | None:
    """One of the values, which about `part` of them do not exceed; None where there is none."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else None


def write_whole(file: Path, text: str) -> None:
    """All of it or nothing: a killed run leaves the file as it was."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(text)
    part.replace(file)


def machine() -> dict:
    """What the numbers were measured on."""
    model = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {"processor": model[0] if model else platform.processor(), "cores": len(model), "system": platform.platform()}
