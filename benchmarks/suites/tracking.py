"""P6: periods of the tracking controller over disturbed runs, and its programs beside other solvers."""

from __future__ import annotations

import os

from .programs import output_of, say
from .recording import Request


def load() -> str:
    """How busy the machine is beside us."""
    return "load average of the last minute: " + f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


def bench_tracking(request: Request) -> list[str]:
    """Lines of two tables. Arguments go to the first program (--runs N --repeat N SCENE…)."""
    lines = [load()]
    say("periods")
    lines += output_of([str(request.build / "benchmarks/tracking_benchmark"), *request.arguments]).splitlines()
    say("programs")
    lines += ["", "Programs of the shape of the controller's, in processor time"]
    lines += output_of([str(request.build / "benchmarks/tracking_qp"), "--count", "500"]).splitlines()
    lines += ["", load()]
    print("\n".join(lines))
    return lines
