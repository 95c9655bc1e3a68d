"""Runs that follow a plan on the page, also of files that another program wrote, and two runs on one clock."""

import base64
import json

import h5py
import numpy as np
import pytest
from conftest import make_older


def document(page) -> dict:
    text = page.read_text()
    begin = text.index('application/json">', text.index("deft-run")) + len('application/json">')
    return json.loads(text[begin : text.index("</script", begin)])


def block(doc, name) -> np.ndarray:
    entry = doc["blocks"][name]
    types = {"f4": "<f4", "u4": "<u4", "u2": "<u2", "u1": "u1"}
    return np.frombuffer(base64.b64decode(entry["data"]), types[entry["type"]]).reshape(entry["shape"])


def follow_a_plan(path, steps=None):
    """Adds /track to a run by hand, as a program that is not ours would; of the first `steps` steps only. The reference is 1 cm off along z."""
    with h5py.File(path, "r+") as run:
        q, X_WB = run["q"][:], run["X_WB"][:]
        count = len(q) - 1 if steps is None else steps
        run.attrs["track_words"] = ["OpenLoop", "Hold"]
        run["steps/residual"][:] = np.nan
        run["steps/energy"][:] = np.nan
        run["track/reference_q"] = q[: count + 1]
        X_WB[:, :, 6] += 0.01
        run["track/reference_X_WB"] = X_WB[: count + 1]
        run["track/measured_q"] = np.full((count, q.shape[1]), np.nan)
        run["track/knot"] = np.arange(count) / 2
        run["track/position_error"] = np.full(count, 0.01)
        run["track/rotation_error"] = np.zeros(count)
        run["track/status"] = np.arange(count, dtype="i4") % 2
        run["track/period_us"] = np.full(count, np.nan)
        run["track/plan"] = np.zeros(count, dtype="i4")


def test_a_run_that_another_program_tracked_has_its_page(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 6)
    follow_a_plan(tmp_path / "run" / "run.h5")
    deft.json("view", "run", "--no-open")
    doc = document(tmp_path / "run" / "run.html")
    assert doc["track"]["words"] == ["OpenLoop", "Hold"]
    assert block(doc, "track_status").tolist() == [0, 1, 0, 1, 0, 1]
    assert block(doc, "track_position_error") == pytest.approx(0.01)
    assert np.isnan(block(doc, "track_period")).all() and np.isnan(block(doc, "step_residual")).all()
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        bodies = doc["track"]["bodies"]
        assert block(doc, "track_X_WB") == pytest.approx(run["track/reference_X_WB"][:][:, bodies], abs=1e-6)


def test_of_a_track_that_ends_early_the_whole_steps_are_shown(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 6)
    follow_a_plan(tmp_path / "run" / "run.h5", steps=4)
    assert "4 steps" in deft.run("view", "run", "--no-open").stdout
    assert len(block(document(tmp_path / "run" / "run.html"), "t")) == 5


def test_a_track_without_its_reference_is_named(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 2)
    with h5py.File(tmp_path / "run" / "run.h5", "r+") as run:
        run.attrs["track_words"] = ["OpenLoop"]
    assert "/track/reference_q" in deft.run("view", "run", "--no-open", code=2).stderr


def test_a_second_run_stands_beside_the_first(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "slow", "--steps", 6)
    deft.run("sim", pushed_ball, "--out", "fast", "--steps", 3)
    deft.run("view", "slow", "--beside", "fast", "--no-open")
    doc = document(tmp_path / "slow" / "run.html")
    assert (doc["beside"]["here"], doc["beside"]["title"]) == ("slow", "fast")
    with h5py.File(tmp_path / "fast" / "run.h5") as run:
        assert block(doc, "beside_t") == pytest.approx(run["t"][:], abs=1e-6)
        assert block(doc, "beside_X_WB") == pytest.approx(run["X_WB"][:][:, doc["beside"]["bodies"]], abs=1e-6)
    deft.run("view", "slow", "--no-open")
    assert "beside" not in document(tmp_path / "slow" / "run.html")


def test_runs_of_other_bodies_are_refused_by_name(deft, pushed_ball, falling_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "pushed", "--steps", 2)
    deft.run("sim", falling_ball, "--out", "falling", "--steps", 2)
    message = deft.run("view", "pushed", "--beside", "falling", "--no-open", code=2).stderr
    assert "falling" in message and "pushed" in message and "bodies" in message
    with h5py.File(tmp_path / "pushed" / "run.h5") as run:
        names = list(run.attrs["names_bodies"])
    deft.run("sim", pushed_ball, "--out", "other", "--steps", 2)
    with h5py.File(tmp_path / "other" / "run.h5", "r+") as run:
        make_older(run)
        run.attrs["names_bodies"] = [*names[:-1], "stranger"]
    message = deft.run("view", "pushed", "--beside", "other", "--no-open", code=2).stderr
    assert "stranger" in message and str(names[-1]) in message


def test_a_second_run_that_is_none_is_named(deft, pushed_ball):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 2)
    assert "nowhere" in deft.run("view", "run", "--beside", "nowhere", "--no-open", code=2).stderr


def test_the_settings_of_track_are_listed(deft):
    text = deft.json("info", "--settings")["settings"]
    for key in ("period", "horizon", "linearization", "replan_position", "object_damping"):
        assert f"track.{key} " in text


@pytest.mark.parametrize(
    "setting, words",
    [
        ("horizon=0", ["track.horizon", "0"]),
        ("reference=near", ["near", "timed, nearest"]),
        ("normal_force=-1", ["track.normal_force", "> 0 or inf", "-1"]),
    ],
)
def test_wrong_settings_of_track_are_named(deft, pushed_ball, setting, words):
    message = deft.run("info", pushed_ball, "--set", f"track.{setting}", code=2).stderr
    assert all(word in message for word in words), message


@pytest.mark.parametrize("name", ["scene_yaml", "names_q", "names_bodies", "status_words"])
def test_a_text_that_lost_its_twin_of_fixed_length_is_named(deft, pushed_ball, tmp_path, name):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 2)
    with h5py.File(tmp_path / "run/run.h5", "r+") as run:
        del run.attrs[f"{name}_fixed"]
    message = deft.run("view", "run", "--no-open", code=2).stderr
    assert f"the attribute '{name}' has no twin '{name}_fixed'" in message


def test_a_damaged_run_is_named_and_ends_at_once(deft, scenes, tmp_path):
    """What a fuzzer found: more contacts than there are, a place of the tree that is none, a checksum that is wrong."""
    deft.run("sim", scenes / "planar_hand_ball" / "scene.deft.yaml", "--steps", "3", "--out", tmp_path / "sim", "--quiet")
    with h5py.File(tmp_path / "sim" / "run.h5", "r+") as run:
        run["contacts/offset"][-1] = 1 << 50
    assert deft.run("view", tmp_path / "sim", "--no-open", code=None).returncode in (0, 2)

    scene = scenes / "planning" / "planar_pushing.deft.yaml"
    deft.run("plan", scene, "--seed", "1", "--first", "--out", tmp_path / "plan", "--quiet")
    with h5py.File(tmp_path / "plan" / "run.h5", "r+") as run:
        run["reachable/places"][0] = -1
    failed = deft.run("view", tmp_path / "plan", "--no-open", code=2)
    assert str(tmp_path / "plan") in failed.stderr and "is damaged" in failed.stderr

    whole = (tmp_path / "sim" / "run.h5").read_bytes()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "run.h5").write_bytes(whole[:9] + bytes([whole[9] ^ 255]) + whole[10:])
    assert "is not a run" in deft.run("view", tmp_path / "cut", "--no-open", code=2).stderr
