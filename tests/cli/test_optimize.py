"""deft optimize: keys, exit codes, limits of the plan that it leaves, and what it says of wrong input."""

import h5py
import numpy as np
import pytest

NEAR = ("--set", "goals.down.box.z=0.3")
KEYS = {"status", "success", "goal_error", "holds", "held_before", "before", "cost_before", "cost", "passes", "time_s", "duration_s",
        "segments", "regrasps", "files", "goal", "seed"}  # fmt: skip


@pytest.fixture
def pushing(root):
    return root / "scenes" / "planning" / "planar_pushing.deft.yaml"


@pytest.fixture
def planned(deft, pushing):
    deft.json("plan", pushing, "--first", "--seed", 1, *NEAR, "--out", "plan")
    return deft.folder / "plan"


def test_a_first_plan_is_made_to_hold(deft, planned):
    summary = deft.json("optimize", planned, "--time-limit", 1200, "--out", "better")  # sanitizers are slow
    assert KEYS <= set(summary)
    assert summary["status"] == "Solved" and summary["success"] is True and summary["held_before"] is False
    assert summary["cost"] <= summary["cost_before"]
    assert [row["judge"] for row in summary["holds"]] == ["h", "h/2", "h/5", "second-order", "worlds"]
    assert all(row["success"] for row in summary["holds"]) and summary["holds"][-1]["share"] >= 0.8
    # A run folder like that of a planner; its commands are no faster than 0.5 m/s.
    with h5py.File(deft.folder / "better" / "run.h5") as run:
        u, t, q0 = run["u"][:], run["t"][:], dict(zip(run.attrs["names_q"], run["q"][0]))
        start = np.array([q0[name] for name in run.attrs["names_u"]])
        assert np.abs(np.diff(u, axis=0, prepend=start[None])).max() <= 0.5 * (t[1] - t[0]) + 1e-9
        assert run["plan/segments"][-1, 1] == len(u) and run["plan"].attrs["goal"] == "down"
    end = deft.json("replay", "better", "--plant", "convex-second-order", "--set", "track.settle=1", "--out", "played", code=None)
    assert end["final_error"]["position_m"] < 0.02


def test_without_time_the_plan_stays_and_the_exit_code_is_1(deft, planned):
    summary = deft.json("optimize", planned, "--time-limit", 0.001, "--out", "same", code=1)
    assert summary["status"] == "NotHolding" and summary["cost"] == summary["cost_before"]
    with h5py.File(planned / "run.h5") as old, h5py.File(deft.folder / "same" / "run.h5") as new:
        assert np.array_equal(old["u"][:], new["u"][:])


def test_settings_have_ranges_and_names(deft, planned):
    for setting, message in {
        "optimize.cone_share=1.5": "optimize.cone_share: must be above 0, at most 1, got 1.5",
        "optimize.corners=4": "optimize.corners: must be an integer from 0 to 3, got 4",
        "optimize.iteration=4": "did you mean 'iterations'",
        "optimize.kappa_first=-1": "optimize.kappa_first: must be > 0, got -1",
    }.items():
        assert message in deft.run("optimize", planned, "--set", setting, "--out", "wrong", code=2).stderr
    assert not (deft.folder / "wrong").exists()
    assert "optimize.cone_share" in deft.run("info", "--settings").stdout


def test_what_is_no_plan_is_refused(deft, pushing, planned):
    deft.run("sim", pushing, "--steps", 2, "--out", "sim")
    assert "is not a run with a plan" in deft.run("optimize", "sim", "--out", "wrong", code=2).stderr
    assert "no such run" in deft.run("optimize", "nothing.h5", code=2).stderr
    assert "has steps of 0.1 s, the scene has step.h: 0.05" in deft.run("optimize", planned, "--h", 0.05, code=2).stderr
    assert "valid: down, aside" in deft.run("optimize", planned, "--goal", "up", code=2).stderr


def test_a_scene_is_planned_for_first(deft, pushing):
    summary = deft.json("optimize", pushing, *NEAR, "--seed", 1, "--time-limit", 0.001, "--out", "scene", code=1)
    assert summary["planned_s"] > 0 and summary["steps"] > 0
