"""The study of feedback: what it keeps, what it runs again, and the statistics of its page."""

import stat
import sys
from pathlib import Path

import pytest
from reproductions import feedback as page

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from suites import feedback as study  # noqa: E402
from suites.programs import Failed  # noqa: E402
from suites.recording import Request  # noqa: E402

# Answers as deft does: seeds below 10 arrive, others do not (exit code 1); fails for 'mass'.
PROGRAM = """#!/usr/bin/env python3
import json, pathlib, sys
words = sys.argv[1:]
value = lambda name, other=None: words[words.index(name) + 1] if name in words else other
with open({calls!r}, "a") as file:
    file.write(" ".join(words) + "\\n")
if "mass" in value("--disturb", ""):
    sys.exit("error: out of luck")
out = pathlib.Path(value("--out"))
out.mkdir(parents=True)
first, count = int(value("--seed")), int(value("--seeds", "1"))
run = lambda seed: {{"seed": seed, "success": seed < 10, "status": "Completed", "final_error": {{"position_m": 0.001 * (seed + 1), "rotation_rad": "inf"}},
                    "replans": 0, "replan_s": 0.0, "t_end": 1.0}}
runs = [run(first + k) for k in range(count)]
summary = dict(runs[0], plant={{"name": "mujoco", "settings": ["MuJoCo 4.0.0 (/somewhere/libmujoco.so), inner step"]}}, controller="mpc", files=[])
if count > 1:
    summary["runs"] = runs
(out / "summary.json").write_text(json.dumps(summary))
sys.exit(not runs[0]["success"])
"""


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    """A study with a program of few words, and a plan."""
    build, plan = tmp_path / "build", tmp_path / "plan"
    build.mkdir()
    plan.mkdir()
    program = build / "deft"
    program.write_text(PROGRAM.format(calls=str(tmp_path / "calls.txt")))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    for name in ("plan.yaml", "config.yaml"):
        (plan / name).write_text("x: 1\n")
    monkeypatch.setattr(study, "ROOT", tmp_path)
    return build, plan, lambda: len((tmp_path / "calls.txt").read_text().splitlines()) if (tmp_path / "calls.txt").exists() else 0


def jobs(disturbance="offset", count=2):
    return [study.Job("planar_hand", disturbance, "mpc", 5 * k, 5) for k in range(count)]


def test_what_was_run_is_not_run_again_until_something_changes(laboratory):
    build, plan, calls = laboratory
    plans = {"planar_hand": plan}
    absent: dict[str, str] = {}
    first = study.run_all(study.Study(build), jobs(), plans, absent)
    assert calls() == 2 and absent == {}
    assert [run["seed"] for job in jobs() for run in first[job]["runs"]] == list(range(10))
    assert first[jobs()[0]]["settings"] == ["MuJoCo 4.0.0, inner step"]  # of no machine
    assert study.run_all(study.Study(build), jobs(count=3), plans, absent).keys() == set(jobs(count=3))
    assert calls() == 3  # one more chunk
    (plan / "plan.yaml").write_text("x: 2\n")
    study.run_all(study.Study(build), jobs(count=1), plans, absent)
    assert calls() == 4  # another plan
    (build / "deft").write_text((build / "deft").read_text() + "# another program\n")
    study.run_all(study.Study(build), jobs(count=1), plans, absent)
    assert calls() == 5
    study.run_all(study.Study(build), jobs("delay", 1), plans, absent)
    assert calls() == 6


def test_misses_are_results_and_failures_are_named(laboratory):
    build, plan, _ = laboratory
    absent: dict[str, str] = {}
    results = study.run_all(study.Study(build), [*jobs(count=3)[2:], *jobs("mass", 1)], {"planar_hand": plan}, absent)
    (only,) = results.values()
    assert [run["success"] for run in only["runs"]] == [False] * 5
    assert len(absent) == 1 and "mass" in next(iter(absent)) and "out of luck" in next(iter(absent.values()))
    assert study.row_of(only["runs"][0])["rotation_rad"] is None  # infinite


def test_unknown_arguments_are_named(laboratory):
    with pytest.raises(Failed, match=r"planar_foot.*planar_hand"):
        study.bench_feedback(Request(laboratory[0], ["planar_foot"]))


def test_every_seed_is_run_once_in_every_cell():
    for system in study.SYSTEMS:
        for quick, counts in ((False, (50, 5, 1)), (True, (3, 1, 1))):
            cells: dict = {}
            for job in study.jobs_of(system, quick):
                cells.setdefault((job.disturbance, job.controller), []).extend(range(job.first, job.first + job.count))
            assert {name for name, _ in cells} == {"none", *(path.stem for path in study.DISTURBANCES.glob("*.yaml"))}
            for (name, _), seeds in cells.items():
                assert sorted(seeds) == list(range(counts[{"all": 0, "none": 2}.get(name, 1)]))


@pytest.mark.parametrize(("successes", "count"), [(0, 10), (10, 10), (7, 50), (45, 50), (1, 1)])
def test_wilson_bounds_solve_their_equation(successes, count):
    # |p̂ − p| = z √(p(1 − p)/n) at both ends.
    for bound, known in zip(page.wilson(successes, count), (0.0 if successes == 0 else None, 1.0 if successes == count else None)):
        if known is not None:
            assert bound == pytest.approx(known, abs=1e-12)
        else:
            assert abs(successes / count - bound) == pytest.approx(1.959964 * (bound * (1 - bound) / count) ** 0.5, rel=1e-9)


def test_quantiles_survive_lost_objects():
    rows = [{"position_m": value} for value in (0.003, None, 0.001, 0.002, None)]
    assert page.quantile(rows, "position_m", 0.5) == 0.003
    assert page.quantile(rows, "position_m", 0.25) == 0.002
    assert page.quantile(rows, "position_m", 0.125) == pytest.approx(0.0015)
    assert page.quantile(rows, "position_m", 0.95) == float("inf")
    assert page.number(float("inf"), "rotation_rad") == "∞"


def test_the_recorded_study_has_what_its_page_shows():
    result = page.baseline("feedback")
    assert set(result["systems"]) <= set(study.SYSTEMS)
    for name, system in result["systems"].items():
        assert page.complete(system, "all"), name
        for cell in system["cells"].values():
            assert [row["seed"] for row in cell["open-loop"]] == [row["seed"] for row in cell["mpc"]]
            for rows in cell.values():
                for row in rows:
                    near = row["position_m"] is not None and row["position_m"] <= 0.01 and row["rotation_rad"] <= 0.1
                    assert row["success"] <= near  # an arrival is near; a run that ended early may be near and none
