"""The model files of scenes/models are what tools/make_models.py writes from kinematics.yaml."""

import subprocess
import sys

import numpy as np
import pytest
from robot_data import expand_model, forward_kinematics, load_data


def test_files_are_up_to_date(root):
    done = subprocess.run([sys.executable, root / "tools" / "make_models.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def point(name: str, body: str, p_B, q: dict) -> np.ndarray:
    """p_W of a body point at joint values q."""
    X_WB = forward_kinematics(expand_model(load_data(), name), q)[body]
    return (X_WB @ [*p_B, 1])[:3]


def test_upright_arm_has_the_height_of_its_links():
    np.testing.assert_allclose(
        point("iiwa7", "iiwa_link_7", [0, 0, 0], {}), [0, 0, 0.1575 + 0.183 + 0.184 + 0.2155 + 0.184 + 0.2155 + 0.0805], atol=1e-12
    )


def test_elbow_turns_the_forearm_backwards_into_the_horizontal():
    # joint 4 at -90 degrees: the forearm points along +x at elbow height
    elbow = 0.1575 + 0.183 + 0.184 + 0.2155
    np.testing.assert_allclose(
        point("iiwa7", "iiwa_link_7", [0, 0, 0], {"iiwa_joint_4": -np.pi / 2}), [0.184 + 0.2155 + 0.0805, 0, elbow], atol=1e-12
    )


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_planar_arm_stays_at_the_height_of_its_shoulder(turn):
    q = {"iiwa_joint_1": turn, "iiwa_joint_4": 0.4, "iiwa_joint_6": -0.3}
    assert point("iiwa7_planar", "iiwa_link_7", [0, 0, 0], q)[2] == pytest.approx(0.1575 + 0.183)


def test_three_link_arm_reaches_along_y():
    np.testing.assert_allclose(
        point("three_link_arm", "link_ee", [0, 0, 0], {"joint_1": np.pi / 2, "joint_2": -np.pi / 2}), [0, 2, 1], atol=1e-12
    )


def test_unknown_model_is_refused_with_the_choices():
    with pytest.raises(KeyError, match="sphere_y"):
        expand_model(load_data(), "spehre_y")
