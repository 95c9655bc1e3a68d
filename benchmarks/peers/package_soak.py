"""Does the Python package keep memory, and does it stand threads? As JSON: run by an interpreter that has the package (benchmarks/suites/python_package.py).

Usage: package_soak.py STEPS PLANS EXCEPTIONS SECONDS
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import deft

PAGE = 4096


def resident() -> float:
    """Memory of this process [MB]."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE / 1e6


def growth(once: Callable[[int], Any], count: int) -> dict:
    """Of memory between the end of the first tenth and the end [MB]."""
    for k in range(count // 10):
        once(k)
    before = resident()
    for k in range(count // 10, count):
        once(k)
    return {"count": count, "growth_mb": resident() - before, "at_mb": before}


def steps(count: int) -> dict:
    scene = deft.load(deft.scene_path("planning/planar_hand"))
    model, random = deft.StepModel(scene, kappa=300), np.random.default_rng(1)

    def once(k: int) -> None:
        u = scene.u() + 0.05 * random.standard_normal(scene.n_u)
        step = model.step(scene.q(), u)
        if k % 10 == 0:
            step.contacts, step.forces, model.derivatives(scene.q(), u, wrt=("q", "u", "params")).dq_du

    return growth(once, count)


def plans(count: int) -> dict:
    scene = deft.load(deft.scene_path("planning/planar_hand"))

    def once(k: int) -> None:
        plan = deft.plan(scene, seed=k, first=True, time_limit=20)
        assert plan.q.shape[1] == scene.n_q

    return growth(once, count)


def exceptions(count: int) -> dict:
    scene = deft.load(deft.scene_path("planning/planar_hand"))
    model = deft.StepModel(scene)
    wrong: list[Callable[[], Any]] = [
        lambda: model.step(scene.q()[:-1], scene.u()),
        lambda: model.step(scene.q() * np.nan, scene.u()),
        lambda: deft.loads("deft: 1\nname: x\nbodies: {a: 3}\n"),
        lambda: scene.q("nowhere"),
        lambda: deft.solve({"kind": "lcp", "M": [[1.0]]}),
    ]

    def once(k: int) -> None:
        try:
            wrong[k % len(wrong)]()
        except (ValueError, KeyError):
            return
        raise AssertionError(f"call {k % len(wrong)} raised nothing")

    return growth(once, count)


def threads(seconds: float, count: int = 4) -> dict:
    """One scene, a model for each thread: all must compute what one thread computes."""
    scene = deft.load(deft.scene_path("planning/allegro_ball"))
    random = np.random.default_rng(2)
    commands = scene.u() + 0.03 * random.standard_normal((16, scene.n_u))
    single = deft.StepModel(scene)
    expected = []
    for u in commands:
        single.reset()
        expected.append(single.step(scene.q(), u).q.copy())
    done, wrong, end = [0] * count, [0] * count, time.monotonic() + seconds

    def work(k: int) -> None:
        model = deft.StepModel(scene)
        while time.monotonic() < end:
            for u, q in zip(commands, expected, strict=True):
                model.reset()
                wrong[k] += not np.array_equal(model.step(scene.q(), u).q, q)
                done[k] += 1
            scene.contacts(scene.q())
            scene.with_({"step.h": 0.05})

    workers = [threading.Thread(target=work, args=(k,)) for k in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return {"threads": count, "seconds": seconds, "steps": sum(done), "wrong": sum(wrong)}


if __name__ == "__main__":
    n_steps, n_plans, n_exceptions = map(int, sys.argv[1:4])
    print(json.dumps({"steps": steps(n_steps), "plans": plans(n_plans), "exceptions": exceptions(n_exceptions),
                      "threads": threads(float(sys.argv[4]))}))  # fmt: skip
