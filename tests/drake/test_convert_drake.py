"""Configurations and velocities of Drake: the same poses and twists of all bodies there."""

import numpy as np
import pytest
from pydrake.multibody.parsing import Parser
from pydrake.multibody.plant import AddMultibodyPlantSceneGraph
from pydrake.systems.framework import DiagramBuilder

import deft

MODEL = """
<sdf version="1.9">
  <model name="mix">
    <link name="base"><pose>0 0 1 0 0 0</pose><inertial><mass>1</mass></inertial></link>
    <link name="arm"><pose>0.2 0 1 0.3 0 0.7</pose><inertial><mass>0.5</mass></inertial></link>
    <joint name="shoulder" type="ball"><parent>base</parent><child>arm</child></joint>
    <link name="fore"><pose relative_to="arm">0.3 0 0 0 0 0</pose><inertial><mass>0.2</mass></inertial></link>
    <joint name="elbow" type="revolute"><parent>arm</parent><child>fore</child><axis><xyz>0 1 0</xyz></axis></joint>
    <link name="rod"><pose relative_to="fore">0.1 0 0 0 0.2 0</pose><inertial><mass>0.1</mass></inertial></link>
    <joint name="slide" type="prismatic"><parent>fore</parent><child>rod</child><axis><xyz>1 0 0</xyz></axis></joint>
  </model>
</sdf>
"""


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "mix.sdf"
    file.write_text(MODEL)
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
    Parser(plant).AddModels(str(file))
    plant.Finalize()
    return deft.load(file), plant


def state(scene, seed):
    rng = np.random.default_rng(seed)
    return scene.integrate(scene.q(), 0.7 * rng.standard_normal(scene.n_v)), rng.standard_normal(scene.n_v)


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_bodies_are_and_move_there_in_drake(pair):
    scene, plant = pair
    context = plant.CreateDefaultContext()
    for seed in range(5):
        q, v = state(scene, seed)
        there = deft.convert.to_drake(scene, plant, q, v)
        plant.SetPositions(context, there[0])
        plant.SetVelocities(context, there[1])
        for name in ("base", "arm", "fore", "rod"):
            body = plant.GetBodyByName(name)
            np.testing.assert_allclose(
                plant.EvalBodyPoseInWorld(context, body).GetAsMatrix4(), scene.body_pose(q, f"mix/{name}"), atol=1e-12
            )
            V = plant.EvalBodySpatialVelocityInWorld(context, body)
            twist = scene.jacobian(q, f"mix/{name}") @ v
            np.testing.assert_allclose([*V.rotational(), *V.translational()], twist, atol=1e-9)
        back = deft.convert.from_drake(scene, plant, *there)
        np.testing.assert_allclose(scene.body_pose(back[0], "mix/rod"), scene.body_pose(q, "mix/rod"), atol=1e-12)
        np.testing.assert_allclose(back[1], v, atol=1e-9)


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_joints_without_a_twin_are_named(pair, tmp_path):
    scene, _ = pair
    (tmp_path / "other.sdf").write_text(MODEL.replace('"elbow"', '"knee"'))
    plant, _ = AddMultibodyPlantSceneGraph(DiagramBuilder(), 0.001)
    Parser(plant).AddModels(str(tmp_path / "other.sdf"))
    plant.Finalize()
    with pytest.raises(deft.InputError, match=r"joint 'mix/elbow' \(axis\): the Drake plant has no joint of that name; it has: .*knee"):
        deft.convert.to_drake(scene, plant, scene.q())
