"""step.model: limit-surface on the command line."""
import json
from pathlib import Path

import h5py
import numpy as np
import pytest

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


def test_runs_record_invariants_and_second_motions(deft, tmp_path):
    summary = json.loads(deft.run("sim", SCENES / "grasping_graze.deft.yaml", "--out", "graze", "--json").stdout)
    assert summary["uniqueness"] == {"unique": 0, "not_unique": 3, "unknown": 0}
    with h5py.File(Path(summary["files"][0]) if Path(summary["files"][0]).is_absolute() else tmp_path / summary["files"][0]) as run:
        second = np.array(run["steps/second_delta"])
        names = [str(name) for name in run.attrs["names_v"]]
        square = [names.index(f"square/{k}") for k in ("x", "y", "theta")]
        assert (np.abs(second[:, square]).max(axis=1) > 1e-3).all()
        assert np.array(run["steps/balance"]).max() == pytest.approx(0, abs=1e-8)
