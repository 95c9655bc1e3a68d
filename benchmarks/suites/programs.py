"""Running the programs that a benchmark is made of."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

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


def peers(script: str, *arguments: str) -> dict:
    """{"rows": [...], "absent": {rival: reason}} of a script of benchmarks/peers."""
    return json.loads(output_of([sys.executable, f"benchmarks/peers/{script}", *arguments]).splitlines()[-1])


def say(text: str) -> None:
    """Progress, on standard error."""
    print(f"   {text}", file=sys.stderr, flush=True)


def print_absent(absent: dict) -> None:
    for who, reason in absent.items():
        print(f"absent: {who} ({reason.splitlines()[0]})")


def machine() -> dict:
    """What the numbers were measured on."""
    model = [line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return {"processor": model[0] if model else platform.processor(), "cores": len(model), "system": platform.platform()}
