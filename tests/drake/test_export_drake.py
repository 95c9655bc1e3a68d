"""What `deft export` writes, loaded by Drake: everything where the scene starts, and moving as it should."""

from pathlib import Path

import numpy as np
import pytest
from pydrake.common.yaml import yaml_load_typed
from pydrake.multibody.parsing import LoadModelDirectives, Parser, ProcessModelDirectives
from pydrake.multibody.plant import AddMultibodyPlant, AddMultibodyPlantSceneGraph, MultibodyPlantConfig
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import ConstantVectorSource

import deft


class Loaded:
    """A scene as it is exported to directives, in Drake: steps of `step` [s]; 0: continuous; none: as the export says."""

    def __init__(self, name: str, folder: Path, step: float | None, gravity: float = -9.81, weightless: tuple[str, ...] = ()):
        self.scene = deft.load(deft.scene_path(name))
        assert deft.main(["export", str(deft.scene_path(name)), "--to", "directives", "--out", str(folder), "--quiet"]) == 0
        builder = DiagramBuilder()
        if step is None:
            config = yaml_load_typed(schema=MultibodyPlantConfig, filename=str(next(folder.glob("*.plant.yaml"))))
            self.plant, _ = AddMultibodyPlant(config, builder)
        else:
            self.plant, _ = AddMultibodyPlantSceneGraph(builder, step)
        parser = Parser(self.plant)
        parser.package_map().AddPackageXml(str(folder / "package.xml"))
        ProcessModelDirectives(LoadModelDirectives(str(next(folder.glob("*.dmd.yaml")))), self.plant, parser)
        self.plant.mutable_gravity_field().set_gravity_vector([0, 0, gravity])  # which directives do not hold
        for robot in weightless:  # which carry their own weight
            self.plant.set_gravity_enabled(self.plant.GetModelInstanceByName(robot), False)
        self.plant.Finalize()
        self.drives: dict[str, ConstantVectorSource] = {}
        for robot in weightless:  # drives ask for targets
            instance = self.plant.GetModelInstanceByName(robot)
            self.drives[robot] = builder.AddSystem(ConstantVectorSource(self.targets(instance)))
            builder.Connect(self.drives[robot].get_output_port(), self.plant.get_desired_state_input_port(instance))
        self.builder = builder

    def command(self, root, u: np.ndarray) -> None:
        """Targets of the scene's drives, by name."""
        of_joint = dict(zip(self.scene.names_u, u, strict=True))
        for robot, drive in self.drives.items():
            instance = self.plant.GetModelInstanceByName(robot)
            joints = [self.plant.get_joint_actuator(index).joint().name() for index in self.plant.GetJointActuatorIndices(instance)]
            q = np.array([of_joint[f"{robot}/{joint}"] for joint in joints])
            value = drive.get_mutable_source_value(drive.GetMyMutableContextFromRoot(root))
            value.set_value(np.concatenate([q, np.zeros_like(q)]))

    def targets(self, instance) -> np.ndarray:
        """Of the drives of a robot: the joints as they start, at rest."""
        q = self.plant.GetPositions(self.plant.CreateDefaultContext(), instance)
        return np.concatenate([q, np.zeros_like(q)])

    def pose(self, context, body: str) -> np.ndarray:
        model, _, link = body.rpartition("/")
        instance = self.plant.GetModelInstanceByName(model or link)
        return self.plant.EvalBodyPoseInWorld(context, self.plant.GetBodyByName(link, instance)).GetAsMatrix4()


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
@pytest.mark.parametrize(
    "name", ["plants/free_fall", "plants/pendulum", "pick_and_place/scene", "planning/allegro_ball", "planning/planar_hand"]
)
def test_all_bodies_start_where_the_scene_says(tmp_path, name):
    loaded = Loaded(name, tmp_path, 0.001)
    context = loaded.plant.CreateDefaultContext()
    bodies = [body for body in loaded.scene.bodies if body != "world"]
    assert len(bodies) >= 1
    for body in bodies:
        np.testing.assert_allclose(loaded.pose(context, body), loaded.scene.body_pose(loaded.scene.q(), body), atol=1e-9, err_msg=body)


def test_a_scene_of_many_bodies_steps(tmp_path):
    loaded = Loaded("pick_and_place/scene", tmp_path, 0.001, gravity=-10, weightless=("iiwa", "gripper"))
    context = at_the_end(loaded, 0.2)
    for body in ("cube_1", "cube_4", "cube_7"):  # which stand on the ground; Drake's contact gives way by a centimetre at first
        moved = loaded.pose(context, body)[:3, 3] - loaded.scene.body_pose(loaded.scene.q(), body)[:3, 3]
        assert np.abs(moved[:2]).max() < 1e-3 and abs(moved[2]) < 0.015, body


def at_the_end(loaded: Loaded, seconds: float):
    """The context after so long, from where the scene starts, with its velocity."""
    diagram = loaded.builder.Build()
    simulator = Simulator(diagram)
    context = loaded.plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    q, v = deft.convert.to_drake(loaded.scene, loaded.plant, loaded.scene.q(), loaded.scene.v())
    loaded.plant.SetPositions(context, q)
    loaded.plant.SetVelocities(context, v)
    simulator.get_mutable_integrator().set_target_accuracy(1e-9)
    simulator.AdvanceTo(seconds)
    return context


def test_pick_and_place_ends_where_it_ends(tmp_path):
    """Thirty seconds of gripping and stacking, with the steps and contacts that are exported."""
    loaded = Loaded("pick_and_place/scene", tmp_path, None, gravity=-10, weightless=("iiwa", "gripper"))
    scene = loaded.scene
    run = deft.simulate(scene)
    h, inner = run.t[1] - run.t[0], 10
    simulator = Simulator(loaded.builder.Build())
    root = simulator.get_mutable_context()
    context = loaded.plant.GetMyMutableContextFromRoot(root)
    q, v = deft.convert.to_drake(scene, loaded.plant, scene.q(), scene.v())
    loaded.plant.SetPositions(context, q)
    loaded.plant.SetVelocities(context, v)
    last = np.array(scene.u())
    for k, u in enumerate(run.u):
        for i in range(1, inner + 1):  # targets move evenly over a period
            loaded.command(root, last + (u - last) * i / inner)
            simulator.AdvanceTo(h * (k + i / inner))
        last = np.array(u)
    cubes = [body for body in scene.bodies if body.startswith("cube")]
    ends = {body: scene.body_pose(run.q[-1], body)[:3, 3] for body in cubes}
    assert len(cubes) >= 9 and max(p[2] for p in ends.values()) > 0.15  # three are stacked
    for body, p in ends.items():
        assert np.linalg.norm(loaded.pose(context, body)[:3, 3] - p) < 1e-3, body


def test_a_ball_falls_as_it_should(tmp_path):
    loaded = Loaded("plants/free_fall", tmp_path, 0)
    t, v = 0.4, loaded.scene.v()[3:]
    context = at_the_end(loaded, t)
    moved = loaded.pose(context, "ball")[:3, 3] - loaded.scene.body_pose(loaded.scene.q(), "ball")[:3, 3]
    np.testing.assert_allclose(moved, [v[0] * t, v[1] * t, v[2] * t - 9.81 * t**2 / 2], rtol=1e-3)


def test_a_pendulum_swings_as_it_should(tmp_path):
    loaded = Loaded("plants/pendulum", tmp_path, 0)
    t, length, radius = 1.0, 0.6, 0.01
    context = at_the_end(loaded, t)
    inertia = length**2 / 3 + radius**2 / 4  # of a rod about its end, for its mass
    angle, rate, steps = 1.0, 0.0, 20000
    for _ in range(steps):  # the midpoint rule
        half = rate - 0.5 * t / steps * 9.81 * length / 2 / inertia * np.sin(angle)
        middle = angle + 0.5 * t / steps * rate
        rate -= t / steps * 9.81 * length / 2 / inertia * np.sin(middle)
        angle += t / steps * half
    X = loaded.pose(context, "rod")
    assert np.arctan2(X[0, 2], X[2, 2]) == pytest.approx(angle, rel=1e-3)
