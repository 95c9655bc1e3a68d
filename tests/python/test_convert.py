"""Configurations and velocities of other simulators: the same poses and twists of all bodies there."""

import mujoco
import numpy as np
import pinocchio
import pytest

import deft

MODEL = """
<mujoco model="mix">
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/><geom size=".1" mass="1"/>
      <body name="arm" pos="0.2 0 0" euler="20 0 40">
        <joint name="shoulder" type="ball"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".5"/>
        <body name="fore" pos=".3 0 0">
          <joint name="elbow" axis="0 1 0"/><joint name="slide" type="slide" axis="1 0 0"/>
          <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".2"/>
        </body>
      </body>
    </body>
    <body name="die" pos="1 0 0.5"><freejoint/><geom type="box" size=".1 .1 .1" mass=".3"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "mix.xml"
    file.write_text(MODEL)
    return deft.load(file), mujoco.MjModel.from_xml_path(str(file))


def state(scene, seed):
    rng = np.random.default_rng(seed)
    return scene.integrate(scene.q(), 0.7 * rng.standard_normal(scene.n_v)), rng.standard_normal(scene.n_v)


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_bodies_are_and_move_there_in_mujoco(pair):
    scene, model = pair
    data = mujoco.MjData(model)
    for seed in range(5):
        q, v = state(scene, seed)
        data.qpos[:], data.qvel[:] = deft.convert.to_mujoco(scene, model, q, v)
        mujoco.mj_forward(model, data)
        for name in ("base", "arm", "fore", "die"):
            X_WB = scene.body_pose(q, f"mix/{name}")
            np.testing.assert_allclose(data.body(name).xpos, X_WB[:3, 3], atol=1e-12)
            np.testing.assert_allclose(data.body(name).xmat.reshape(3, 3), X_WB[:3, :3], atol=1e-12)
            twist = np.zeros(6)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, model.body(name).id, twist, 0)
            np.testing.assert_allclose(scene.jacobian(q, f"mix/{name}") @ v, twist, atol=1e-9)
        back = deft.convert.from_mujoco(scene, model, data.qpos, data.qvel)
        np.testing.assert_allclose(back[0], q, atol=1e-12)
        np.testing.assert_allclose(back[1], v, atol=1e-12)


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_joints_without_a_twin_are_named(pair):
    scene, _ = pair
    other = mujoco.MjModel.from_xml_string(MODEL.replace('"elbow"', '"knee"'))
    with pytest.raises(
        deft.InputError, match=r"joint 'mix/elbow' \(axis\): the MuJoCo model has no joint of that name; it has: knee, slide"
    ):
        deft.convert.to_mujoco(scene, other, scene.q())
    with pytest.raises(ValueError, match=r"q: expected shape \(20,\), got \(3,\)"):
        deft.convert.to_mujoco(scene, pair[1], [0, 0, 0])


def pinocchio_twin() -> pinocchio.Model:
    """The same joints, which Pinocchio numbers in another order."""
    model, I = pinocchio.Model(), pinocchio.SE3.Identity()
    model.addJoint(0, pinocchio.JointModelFreeFlyer(), I, "die")
    base = model.addJoint(0, pinocchio.JointModelFreeFlyer(), I, "root")
    model.addBodyFrame("base", base, I, 0)
    euler = np.deg2rad([20, 0, 40])
    R = pinocchio.rpy.rpyToMatrix(euler[0], 0, 0) @ pinocchio.rpy.rpyToMatrix(0, 0, euler[2])  # MuJoCo's: about axes that turn along
    arm = model.addJoint(base, pinocchio.JointModelSpherical(), pinocchio.SE3(R, np.array([0.2, 0, 0])), "shoulder")
    elbow = model.addJoint(arm, pinocchio.JointModelRY(), pinocchio.SE3(np.eye(3), np.array([0.3, 0, 0])), "elbow")
    model.addJoint(elbow, pinocchio.JointModelPX(), I, "slide")
    return model


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_bodies_are_and_move_there_in_pinocchio(pair):
    scene, model = pair[0], pinocchio_twin()
    data = model.createData()
    for seed in range(5):
        q, v = state(scene, seed)
        there = deft.convert.to_pinocchio(scene, model, q, v)
        pinocchio.forwardKinematics(model, data, *there)
        for name, joint in (("base", "root"), ("arm", "shoulder"), ("fore", "slide"), ("die", "die")):
            index = model.getJointId(joint)
            np.testing.assert_allclose(data.oMi[index].homogeneous, scene.body_pose(q, f"mix/{name}"), atol=1e-12)
            V = pinocchio.getVelocity(model, data, index, pinocchio.LOCAL_WORLD_ALIGNED)
            np.testing.assert_allclose([*V.angular, *V.linear], scene.jacobian(q, f"mix/{name}") @ v, atol=1e-9)
        back = deft.convert.from_pinocchio(scene, model, *there)
        np.testing.assert_allclose(back[0], q, atol=1e-12)
        np.testing.assert_allclose(back[1], v, atol=1e-12)


def test_exported_scenes_have_their_names(tmp_path):
    path = deft.scene_path("planning/allegro_ball")
    assert deft.main(["export", str(path), "--to", "mjcf", "--out", str(tmp_path), "--quiet"]) == 0
    scene, model = deft.load(path), mujoco.MjModel.from_xml_path(str(next(tmp_path.glob("*.xml"))))
    q, v = state(scene, 7)
    qpos, qvel = deft.convert.to_mujoco(scene, model, q, v)
    np.testing.assert_allclose(deft.convert.from_mujoco(scene, model, qpos, qvel)[0], q, atol=1e-12)
