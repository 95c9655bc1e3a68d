"""The red cube is carried by friction alone and ends on the stack where it was let go."""

import subprocess
import sys

import numpy as np
import pytest
from scene_runs import angle_between, run_scene

STACK_TOP_M = 0.15


@pytest.fixture(scope="module")
def fine(deft, tmp_path_factory):
    """The scene as it is, h = 0.1 s."""
    return run_scene(deft, "pick_and_place", tmp_path_factory.mktemp("runs") / "fine")


@pytest.fixture(scope="module")
def coarse(deft, tmp_path_factory):
    """The same commands in steps of 0.4 s."""
    return run_scene(deft, "pick_and_place", tmp_path_factory.mktemp("runs") / "coarse", "--set", "step.h=0.4")


def carried_steps(run) -> list[int]:
    """Steps in which the red cube touches the pads and nothing else."""
    touching = [{body for pair in step if "red" in pair for body in pair} - {"red"} for step in run.touching_pairs()]
    return [k for k, bodies in enumerate(touching) if bodies == {"gripper/left_pad", "gripper/right_pad"}]


def last_touch(run) -> int:
    """Index of the last sample at which a pad pushes on the red cube."""
    return 1 + max(
        k for k, step in enumerate(run.touching_pairs()) if any("red" in pair and any("_pad" in body for body in pair) for pair in step)
    )


def test_commands_are_those_of_the_inverse_kinematics(root):
    done = subprocess.run([sys.executable, root / "tools" / "pick_and_place_ik.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_sizes(fine):
    assert fine.info["nv"] == 69 and fine.info["nq"] == 79 and fine.info["nu"] == 9


@pytest.mark.parametrize("run", ["fine", "coarse"])
def test_every_step_is_solved_and_certified(run, request):
    summary = request.getfixturevalue(run).summary
    assert summary["status"] == "Completed" and summary["statuses"] == {"Solved": summary["steps"]}
    assert summary["residual_max"] <= 1e-8


def test_bodies_do_not_overlap(fine):
    assert fine.summary["gap_min"] >= -2e-4
    assert fine.data["contacts/gap"].min() >= -1e-9  # the gaps of the linearised geometry, which the step constrains


@pytest.mark.parametrize("run", ["fine", "coarse"])
def test_red_cube_is_lifted_by_friction_alone(run, request):
    run = request.getfixturevalue(run)
    height = run.position("red")[:, 2]
    carried = [k + 1 for k in carried_steps(run)]
    assert carried and height[carried].max() - height[0] >= 0.05


def test_red_cube_stays_where_it_was_let_go(fine):
    let_go = last_touch(fine)
    assert fine.t[-1] - fine.t[let_go] >= 2
    p, quat = fine.position("red"), fine.quaternion("red")
    assert np.linalg.norm(p[let_go:] - p[let_go], axis=1).max() < 2e-3
    assert np.degrees(angle_between(quat[let_go:], quat[let_go]).max()) < 1
    assert p[-1, 2] - 0.03 == pytest.approx(STACK_TOP_M, abs=1e-3)
    assert ("cube_8", "red") in fine.touching_pairs()[-1]


def test_other_cubes_do_not_move(fine):
    for i in range(1, 10):
        metres, _ = fine.excursion(f"cube_{i}")
        assert metres < 1e-4


def test_long_steps_end_in_the_same_place(fine, coarse):
    assert np.linalg.norm(coarse.position("red")[-1] - fine.position("red")[-1]) < 5e-3
    assert np.degrees(angle_between(coarse.quaternion("red")[-1:], fine.quaternion("red")[-1]).max()) < 2
