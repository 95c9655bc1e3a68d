"""Scenes that nobody has tuned anything for: drawn at random and checked by equations that share no code with the program."""

import json
import subprocess

import numpy as np
import pytest
from checker.brute import drawn, errors, solution_spread
from checker.check_run import Run, check_run
from checker.drawn import limit_surface_scene
from checker.drawn_mechanisms import mechanism_scene

EXIT = {"Completed": 0, "Infeasible": 1, "Unbounded": 1}
SEEDS = {
    "convex": range(20),
    "convex-second-order": range(12),
    "limit-surface": range(30),
    "perfect-tracking": range(8),
    "impedance": range(8),
    "stewart-trinkle": range(8),
}


def simulate(deft, scene, out, steps):
    """The run of a scene and the summary; the exit code says how it ended."""
    done = subprocess.run(
        [deft, "sim", scene, "--steps", str(steps), "--out", out, "--json", "--quiet"], capture_output=True, text=True, timeout=120
    )
    summary = json.loads(done.stdout)
    assert done.returncode == EXIT[summary["status"]], summary
    return Run(out / "run.h5"), summary


@pytest.mark.parametrize("model, seed", [(model, seed) for model, seeds in SEEDS.items() for seed in seeds])
def test_every_step_obeys_the_laws(deft, tmp_path, model, seed):
    scene = limit_surface_scene(seed, tmp_path) if model == "limit-surface" else mechanism_scene(seed, tmp_path, model)
    run, _ = simulate(deft, scene, tmp_path / "out", 12)
    report = check_run(scene, run, model, modes=3)
    assert not report.wrong, "\n".join(report.wrong[:5])


@pytest.mark.parametrize("model", ["limit-surface", "convex", "convex-second-order"])
def test_the_check_finds_what_is_wrong(deft, tmp_path, model):
    """Forces, motions and gaps that are off by a millionth are noticed."""
    scene = limit_surface_scene(0, tmp_path) if model == "limit-surface" else mechanism_scene(0, tmp_path, model)
    path = tmp_path / "out"
    simulate(deft, scene, path, 12)
    for spoil in ("force", "motion", "gap", "friction"):
        run = Run(path / "run.h5")
        busiest = int(np.argmax(np.linalg.norm(run.contacts["force_W"], axis=1)))
        assert np.linalg.norm(run.contacts["force_W"][busiest]) > 0
        if spoil == "force":
            run.contacts["force_W"][busiest] *= 1 + 1e-6
        elif spoil == "motion":
            run.q[-1, 0] += 1e-6 * np.abs(run.q[-1] - run.q[-2]).max()
        elif spoil == "gap":
            run.contacts["gap_start"][busiest] += 1e-6
        else:
            run.contacts["mu"][busiest] += 1e-6
        assert check_run(scene, run, model, uniqueness=False).wrong, spoil


def test_problems_agree_with_all_modes(deft, tmp_path):
    problems = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        M, q = drawn(rng, n)
        free = sorted(int(i) for i in rng.choice(n, size=rng.integers(0, n), replace=False)) if rng.random() < 0.4 else []
        document = {
            "format": "deft-problem",
            "version": 1,
            "kind": "mcp" if free else "lcp",
            "M": {"rows": n, "cols": n, "data": M.ravel().tolist()},
            "q": q.tolist(),
        } | ({"free": free} if free else {})
        (tmp_path / f"{seed:03}.json").write_text(json.dumps(document))
        problems.append((M, q, free))
    done = subprocess.run(
        [deft, "solve", *sorted(tmp_path.glob("*.json")), "--uniqueness", "check", "--json"], capture_output=True, text=True, timeout=120
    )
    for (M, q, free), result in zip(problems, json.loads(done.stdout)["results"], strict=True):
        modes, found = solution_spread(M, q, free)
        assert result["status"] == "Infeasible" if modes == 0 else result["status"] in ("Solved", "NotUnique"), result
        if modes == 0:
            continue
        solution = result["solution"]
        z = np.array(solution["z"])
        assert errors(M, q, free, z) <= 1e-9
        spread = np.abs(found - found[0]).max() / max(np.abs(found).max(), 1e-300)
        if result["status"] == "NotUnique":
            other = np.array(solution["second"]["z"])
            assert errors(M, q, free, other) <= 1e-9 and np.abs(z - other).max() > 1e-8 * np.abs(z).max()
        else:
            assert solution["uniqueness"] == "unique" and spread <= 1e-5
