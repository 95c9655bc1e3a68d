"""What scripts of other simulators read from run folders: friction per geometry, rotations, times, errors. (Drake itself is not needed to test deft.)"""

import json
import subprocess
import sys

import h5py
import numpy as np
import pytest


@pytest.fixture(scope="module", autouse=True)
def peers(root):
    sys.path.insert(0, str(root / "benchmarks" / "peers"))


@pytest.fixture(scope="module")
def run(root, deft, tmp_path_factory, peers):
    from plant_scene import read_run

    folder = tmp_path_factory.mktemp("plant") / "run"
    subprocess.run(
        [deft, "sim", root / "scenes/box_pushing/scene.deft.yaml", "--out", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL
    )
    return read_run(folder, deft)


def test_friction_of_pairs_is_met_where_coefficients_allow_it():
    from plant_friction import combine, fit_coefficients

    # A finger on a ball and on a table, the ball on the table: three unknowns, three pairs.
    pairs, wanted = [(0, 1), (0, 2), (1, 2)], np.array([0.6, 0.3, 0.5])
    mu, missed = fit_coefficients(np.array([0.5, 0.5, 0.5]), pairs, wanted)
    assert missed == []
    assert [combine(mu[a], mu[b]) for a, b in pairs] == pytest.approx(list(wanted), rel=1e-9)


def test_friction_that_no_coefficients_give_is_named():
    from plant_friction import fit_coefficients

    # 1/μ of four geometries in a ring of pairs: sums of opposite pairs must agree, and here they do not.
    pairs, wanted = [(0, 1), (1, 2), (2, 3), (3, 0)], np.array([0.5, 0.5, 0.5, 0.1])
    _, missed = fit_coefficients(np.full(4, 0.5), pairs, wanted)
    assert missed


def test_a_geometry_without_friction_anywhere_gets_none():
    from plant_friction import fit_coefficients

    mu, missed = fit_coefficients(np.array([0.5, 0.7, 1.0]), [(0, 1), (0, 2), (1, 2)], np.array([0.0, 0.0, 0.9]))
    assert missed == [] and mu[0] == 0 and 2 * mu[1] * mu[2] / (mu[1] + mu[2]) == pytest.approx(0.9, rel=1e-9)


def test_rotations_are_those_of_scene_files():
    import yaml
    from plant_scene import SceneLoader, pose_of

    for text in ("rotation: !Rpy {deg: [0, 0, 90]}", "rotation: !Rpy {rad: [0, 0, 1.5707963267948966]}", "rotation: !AngleAxis {angle_deg: 90, axis: [0, 0, 2]}",
                 "quat_wxyz: [0.7071067811865476, 0, 0, 0.7071067811865476]"):  # fmt: skip
        R, p = pose_of(yaml.load(f"translation: [1, 2e-3, 3]\n{text}", SceneLoader))
        assert R == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-15) and list(p) == [1, 0.002, 3]
    R, _ = pose_of(yaml.load("rotation: !Rpy {deg: [90, 0, 90]}", SceneLoader))  # x first, then z, both about fixed axes
    assert R @ [0, 1, 0] == pytest.approx([0, 0, 1], abs=1e-15) and R @ [1, 0, 0] == pytest.approx([0, 1, 0], abs=1e-15)


def test_knots_are_moved_apart_until_no_joint_is_too_fast():
    from plant_scene import retime

    t = retime(np.array([0.0, 0.1, 0.2]), np.zeros(2), np.array([[0.2, 0.0], [0.2, 0.01]]), 0.5)
    assert t == pytest.approx([0, 0.4, 0.5])


def test_names_of_friction_pairs_match_as_in_deft():
    from plant_scene import matches_body

    assert (
        matches_body("hand::*", "hand/tip")
        and matches_body("hand", "hand/tip")
        and matches_body("hand::tip", "hand/tip")
        and matches_body("ball", "ball")
    )
    assert not matches_body("hand::tip", "hand/palm") and not matches_body("hand", "handle/tip")


def test_a_run_is_its_own_reference(run):
    from plant_scene import object_errors

    assert run.stated_damping() is None and list(run.stiffness()) == [
        robot_k for robot in run.info["robots"] for robot_k in robot["stiffness"]
    ]
    assert all(error == {"position_m": 0, "rotation_rad": 0} for error in object_errors(run, run.q[-1], run.q[-1]).values())
    moved = run.q[-1].copy()
    moved[run.names_q.index("box/theta")] += 0.25
    assert object_errors(run, moved, run.q[-1])["box"]["rotation_rad"] == pytest.approx(0.25)


def test_a_written_folder_opens_in_deft(run, deft, tmp_path):
    from plant_scene import Record, write_run

    bodies = len(run.names_bodies)
    contact = {"a": 1, "b": 2, "point_W": np.zeros(3), "normal_W": np.array([0, 0, 1.0]), "force_W": np.array([0, 0, 2.0]), "torque_W": np.zeros(3), "gap": 0.0,
               "gap_start": 0.0, "boundary_gap": 0.0, "mu": 0.5, "state": 1}  # fmt: skip
    record = Record(t=[0, 0.1, 0.2], q=[run.q[0]] * 3, v=[np.zeros(len(run.names_v))] * 3, u=[run.u[0]] * 2,
                    X_WB=[[np.r_[1, np.zeros(6)]] * bodies] * 3, contacts=[[contact], []], energy=[0.0, 0.0], step_us=[1.0, 1.0])  # fmt: skip
    write_run(tmp_path / "run", run, record, "nothing", ["stands still"], {"status": "Completed"})
    done = subprocess.run([deft, "view", tmp_path / "run", "--no-open", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["files"]
    with h5py.File(tmp_path / "run" / "run.h5") as file:
        assert list(file["contacts/offset"]) == [0, 1, 1] and file["u"].shape == (2, len(run.names_u))


def test_a_piece_starts_where_the_run_is_with_the_springs_as_they_are(run):
    piece = run.piece(2, 4)
    assert len(piece.t) == 3 and piece.u.tolist() == run.u[2:4].tolist() and piece.q[0].tolist() == run.q[2].tolist()
    assert piece.u_start().tolist() == run.u[1].tolist() and run.u_start().tolist() == [
        run.q[0][run.names_q.index(name)] for name in run.names_u
    ]
    assert piece.q_inertia.tolist() == run.q[0].tolist()
