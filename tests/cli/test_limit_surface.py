"""step.model: limit-surface on the command line."""

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
from conftest import make_older

SCENES = Path(__file__).resolve().parents[2] / "scenes" / "reproductions"


def test_scenes_without_stiffness_are_described_and_not_differentiated(deft):
    peg = SCENES / "grasping_peg.deft.yaml"
    info = json.loads(deft.run("info", peg, "--json").stdout)
    assert info["settings"]["model"] == "limit-surface" and [robot["name"] for robot in info["robots"]] == ["left", "right"]
    refused = deft.run("linearize", peg, code=2)
    assert "derivatives of step.model: limit-surface" in refused.stderr
    other = deft.run("sim", peg, "--model", "convex", "--out", "out", code=2)
    assert "robot 'left' has an admittance alone" in other.stderr and "commands.type: velocity is for" in other.stderr


def test_squeeze_ends_with_a_proof_and_names_its_contacts(deft, tmp_path):
    done = deft.run("sim", SCENES / "grasping_squeeze.deft.yaml", "--set", "step.gain=0", "--out", "squeeze", "--json", code=1)
    summary = json.loads(done.stdout)
    assert summary["status"] == "Infeasible" and "square" in summary["reason"]


def test_runs_record_invariants_and_alternative_motions(deft, tmp_path):
    summary = json.loads(deft.run("sim", SCENES / "grasping_graze.deft.yaml", "--out", "graze", "--json").stdout)
    assert summary["uniqueness"] == {"unique": 0, "not_unique": 3, "unknown": 0}
    with h5py.File(Path(summary["files"][0]) if Path(summary["files"][0]).is_absolute() else tmp_path / summary["files"][0]) as run:
        second = np.array(run["steps/second_delta"])
        names = [str(name) for name in run.attrs["names_v"]]
        square = [names.index(f"square/{k}") for k in ("x", "y", "theta")]
        assert (np.abs(second[:, square]).max(axis=1) > 1e-3).all()
        assert np.array(run["steps/balance"]).max() == pytest.approx(0, abs=1e-8)


def document(page: Path):
    """The run inside a page."""
    found = re.search(r'<script id="deft-run" type="application/json">(.*?)</script>', page.read_text(), re.S)
    assert found, f"{page} holds no run"
    return json.loads(found[1])


def test_runs_record_what_supports_resist(deft, tmp_path):
    deft.run("sim", SCENES / "grasping_squeeze.deft.yaml", "--out", "squeeze")
    with h5py.File(tmp_path / "squeeze" / "run.h5") as run:
        assert list(run.attrs["support_bodies"]) == [1]
        assert (np.array(run["supports/state"]) == 2).all(), "the square is jammed in every step"
        assert (np.array(run["supports/load"]) == 0).all()
    deft.run("sim", SCENES / "grasping_symmetric.deft.yaml", "--duration", "4", "--out", "push")
    with h5py.File(tmp_path / "push" / "run.h5") as run:
        load, twist, moves = (np.array(run[f"supports/{name}"]) for name in ("load", "twist", "state"))
        slides = moves == 1
        assert slides.sum() > 40
        # The limit surface is the unit sphere: loads are unit vectors along the twists.
        assert np.linalg.norm(load[slides], axis=1) == pytest.approx(1, abs=1e-12)
        assert np.cross(load[slides], twist[slides]) == pytest.approx(0, abs=1e-9)
    page = document(tmp_path / "push" / "run.html")
    assert page["supports"] == {"bodies": [1]} and page["scene"]["bodies"][1]["limit_surface"] == {
        "axes": [0, 1, 2],
        "ellipsoid": [1, 0, 0, 1, 0, 1],
    }
    deft.run("sim", SCENES / "grasping_arms.deft.yaml", "--steps", "3", "--out", "arms")
    body = next(b for b in document(tmp_path / "arms" / "run.html")["scene"]["bodies"] if b["name"] == "square")
    assert len(body["limit_surface"]["loads"]) == 3 * 19 * body["limit_surface"]["columns"]


def test_view_finds_alternative_motions_of_runs_without_their_poses(deft, tmp_path):
    deft.run("sim", SCENES / "grasping_graze.deft.yaml", "--out", "graze")
    page = tmp_path / "graze" / "run.html"
    first = document(page)
    assert first["blocks"]["second_frame"]["shape"] == [3]
    with h5py.File(tmp_path / "graze" / "run.h5", "a") as run:
        poses = np.array(run["steps/second_X_WB"])
        delta, q = np.array(run["steps/second_delta"]), np.array(run["q"])
        names_q, names_v = list(run.attrs["names_q"]), list(run.attrs["names_v"])
        x, y = (q[:-1, names_q.index(f"square/{k}")] + delta[:, names_v.index(f"square/{k}")] for k in "xy")
        assert poses[:, 1, 4] == pytest.approx(x, abs=1e-12) and poses[:, 1, 5] == pytest.approx(y, abs=1e-12)
        del run["steps/second_X_WB"]  # as programs before wrote it
    page.unlink()
    deft.run("view", "graze", "--no-open")
    assert document(page)["blocks"]["second_X_WB"] == first["blocks"]["second_X_WB"]
    # Without its models too the run is shown.
    with h5py.File(tmp_path / "graze" / "run.h5", "a") as run:
        make_older(run)
        run.attrs["scene_yaml"] = "deft: 1\nbodies: {a: {shape: {mesh: gone.stl}, joint: free}}\n"
    done = deft.run("view", "graze", "--no-open")
    assert "second motions are not drawn" in done.stderr
    assert document(page)["blocks"]["second_frame"]["shape"] == [0]
