"""What the Python package costs on top of C++, as JSON: run by an interpreter that has the package (benchmarks/suites/python_package.py)."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from typing import Any

import numpy as np

import deft


def call_overhead(name: str, rounds: int = 20, calls: int = 500) -> dict:
    """Of model.step(q, u, out=r): time of the call less that of the step that it makes [µs], least and median over rounds."""
    scene = deft.load(deft.scene_path(name))
    model, q, u = deft.StepModel(scene), scene.q(), scene.u()
    result = model.step(q, u)
    extra, step = [], []
    for _ in range(rounds):
        inside = 0.0
        start = time.perf_counter()
        for _ in range(calls):
            model.step(q, u, out=result)
            inside += result.time_s
        spent = time.perf_counter() - start
        start = time.perf_counter()
        for _ in range(calls):
            inside * 1.0 + result.time_s  # what the loop itself takes
        loop = time.perf_counter() - start
        extra.append(1e6 * (spent - inside - loop) / calls)
        step.append(1e6 * inside / calls)
    return {"scene": name, "step_us": statistics.median(step), "overhead_us": statistics.median(extra), "least_us": min(extra)}


def batch_share(name: str = "planning/allegro_ball", count: int = 4096, rounds: int = 5) -> dict:
    """Time of the C++ batch within the call, for steps with derivatives from random states."""
    scene = deft.load(deft.scene_path(name))
    random = np.random.default_rng(1)
    q = np.array([scene.integrate(scene.q(), 0.01 * random.standard_normal(scene.n_v)) for _ in range(count)])
    u = scene.u() + 0.02 * random.standard_normal((count, scene.n_u))
    batch, shares, times = deft.Batch(deft.StepModel(scene)), [], []
    out: Any = None
    for _ in range(rounds + 1):  # the first one makes the buffers
        start = time.perf_counter()
        out = batch.step(q, u, derivatives=True, out=out)
        taken = out.dq_dq[0, 0, 0], out.dq_du[0, 0, 0], out.q[0, 0]
        spent = time.perf_counter() - start
        assert np.all(np.isfinite(taken))
        shares.append(out.time_s / spent)
        times.append(spent)
    return {"scene": name, "items": count, "share": statistics.median(shares[1:]), "call_s": statistics.median(times[1:])}


def import_time(rounds: int = 20) -> dict:
    """Of `import deft` after `import numpy` in a fresh interpreter [s], medians."""
    code = "import time; a = time.perf_counter(); import numpy; b = time.perf_counter(); import deft; print(b - a, time.perf_counter() - b)"
    rows = [[float(word) for word in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()]
            for _ in range(rounds + 1)][1:]  # fmt: skip
    return {"numpy_s": statistics.median(row[0] for row in rows), "deft_s": statistics.median(row[1] for row in rows), "rounds": rounds}


def environments(steps: int = 200) -> list[dict]:
    """Steps a second of single environments on one core, and of vectors of 64 on all."""
    import deft.gym

    rows = []
    for task in deft.gym.TASKS:
        env, random = deft.gym.make_task(task), np.random.default_rng(1)
        env.reset(seed=1)
        start = time.process_time()
        for _ in range(steps):
            over = env.step(random.uniform(-1, 1, env.action_space.shape))[2]
            if over:
                env.reset()
        single = steps / (time.process_time() - start)
        envs = deft.gym.make_vec(f"deft/{task}-v0", 64)
        envs.reset(seed=1)
        start = time.perf_counter()
        for _ in range(steps // 10):
            envs.step(random.uniform(-1, 1, envs.action_space.shape))
        rows.append(
            {"task": task, "h": env.task.h, "single_per_s": single, "vector_per_s": 64 * (steps // 10) / (time.perf_counter() - start)}
        )
    return rows


def frames(count: int = 40) -> list[dict]:
    """Pictures of 320 × 240 a second on one core."""
    import deft.render

    rows = []
    for name in ("planning/planar_hand", "planning/allegro_ball", "pick_and_place/scene"):
        scene = deft.load(deft.scene_path(name))
        renderer, q = deft.render.Renderer(scene), scene.q()
        renderer.render(q)
        start = time.process_time()
        for _ in range(count):
            renderer.render(q)
        rows.append({"scene": name, "per_s": count / (time.process_time() - start)})
    return rows


if __name__ == "__main__":
    print(json.dumps({"calls": [call_overhead(name) for name in ("two_spheres_yz/scene", "planning/planar_hand", "planning/allegro_ball")],
                      "batch": batch_share(), "import": import_time(), "environments": environments(), "frames": frames()}))  # fmt: skip
