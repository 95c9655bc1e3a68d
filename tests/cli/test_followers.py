"""Joints that follow others (<mimic>), end to end: a gripper of one command whose fingers close on a box and carry it."""

import h5py
import numpy as np
import pytest

FINGER = """
  <link name="{name}"><inertial><mass value="0.05"/><inertia ixx="1e-5" iyy="1e-5" izz="1e-5"/></inertial>
    <collision><geometry><box size="0.02 0.01 0.04"/></geometry></collision></link>
  <joint name="{name}_finger" type="prismatic"><origin xyz="0 {y} 0"/><parent link="palm"/><child link="{name}"/><axis xyz="0 1 0"/>
    <limit lower="-0.05" upper="0.05" effort="100" velocity="1"/>{mimic}</joint>"""
GRIPPER = f"""<robot name="gripper">
  <link name="base"/>
  <link name="palm"><inertial><mass value="0.2"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
  <joint name="travel" type="prismatic"><parent link="base"/><child link="palm"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="1" effort="100" velocity="1"/></joint>
  {FINGER.format(name="left", y=0.06, mimic="")}
  {FINGER.format(name="right", y=-0.06, mimic='<mimic joint="left_finger" multiplier="-1"/>')}
</robot>"""
SCENE = """
deft: 1
name: grip
directives:
  - add_model: {name: gripper, file: gripper.urdf}
  - add_weld: {parent: world, child: "gripper::base", X_PC: {translation: [0, 0, 0.02]}}
bodies:
  table: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
  box: {shape: {box: {size: [0.04, 0.04, 0.04]}}, mass: 0.1, inertia: [2.7e-5, 2.7e-5, 2.7e-5], joint: free, mu: 0.5}
robots: [{name: gripper, stiffness: [200, 400]}]
gravity: [0, 0, -10]
step: {h: 0.1, contact_margin: 0.05}
configurations:
  start: {box: {position: [0, 0.01, 0.02]}, gripper: {travel: 0, left_finger: 0.01}}
initial: start
commands:
  interpolation: linear
  knots:
    - {t: 0, gripper: [0, 0.01]}
    - {t: 1, gripper: {left_finger: -0.045}}
    - {t: 2, gripper: {travel: 0.2}}
"""


@pytest.fixture
def gripper(tmp_path):
    (tmp_path / "gripper.urdf").write_text(GRIPPER)
    (tmp_path / "grip.deft.yaml").write_text(SCENE)
    return tmp_path


def test_the_fingers_close_together_and_carry_the_box(deft, gripper):
    assert deft.json("sim", "grip.deft.yaml", "--duration", 2, "--out", "run")["status"] == "Completed"
    with h5py.File(gripper / "run/run.h5") as run:
        names = list(run.attrs["names_q"])
        q = run["q"][:]
    left, right, y, x = (q[:, names.index(name)] for name in ("gripper/left_finger", "gripper/right_finger", "box/y", "box/x"))
    assert right[0] == pytest.approx(-0.01, abs=1e-12)  # the start does not name it: it follows
    assert np.abs(left + right).max() < 1e-7
    assert left[-1] == pytest.approx(-0.035, abs=1e-3)  # the box is 40 mm wide, the fingers' faces 110 mm apart
    assert abs(y[-1]) < 1e-3 and x[-1] > 0.17  # in the middle, and carried along


def test_info_names_what_a_joint_follows(deft, gripper):
    info = deft.json("info", "grip.deft.yaml")
    assert (info["nq"], info["nu"]) == (10, 2)
    assert info["robots"][0]["joints"] == ["gripper/travel", "gripper/left_finger"]
    mimics = {joint["name"]: joint["mimic"] for joint in info["joints"]}
    assert mimics["gripper/left_finger"] is None
    assert mimics["gripper/right_finger"] == {"joint": "gripper/left_finger", "multiplier": -1, "offset": 0}


def test_commands_are_one_per_joint_that_can_be_commanded(deft, gripper):
    scene = gripper / "grip.deft.yaml"
    scene.write_text(SCENE.replace("gripper: [0, 0.01]", "gripper: [0, 0.01, 0.01]"))
    assert "command of 'gripper': expected 2 numbers, got 3" in deft.run("check", "grip.deft.yaml", code=2).stdout
    scene.write_text(SCENE.replace("{left_finger: -0.045}", "{right_finger: -0.045}"))
    assert "right_finger" in deft.run("check", "grip.deft.yaml", code=2).stdout
