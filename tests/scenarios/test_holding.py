"""Objects held by friction stay where they are for ten minutes."""

import numpy as np
import pytest
from scene_runs import SceneRun, deft_json, run_scene, scene_file

DRIFT_MAX_M = 1e-6
GRIP_S = 10  # by then the grip has settled


@pytest.mark.parametrize(
    "settings", [("--h", "0.1"), ("--h", "0.1", "--model", "convex-second-order")], ids=["quasidynamic", "second order"]
)
@pytest.mark.parametrize("scene, held", [("gripper_cube", "cube"), ("allegro_ball", "ball")])
def test_a_held_object_stays(deft, tmp_path, scene, held, settings):
    damped = ("--set", "step.joint_damping=1") if "--model" in settings else ()
    summary = deft_json(deft, "sim", scene_file(scene), "--out", tmp_path, "--duration", "600", "--kappa", "inf", *settings, *damped)
    run = SceneRun(scene, {}, summary, tmp_path)
    assert run.summary["status"] == "Completed" and run.summary["residual_max"] <= 1e-8
    position = run.position(held)[run.t >= GRIP_S]
    assert np.linalg.norm(position - position[0], axis=1).max() < DRIFT_MAX_M


def test_the_cube_is_held_well_inside_its_friction_cone(deft, tmp_path):
    run = run_scene(deft, "gripper_cube", tmp_path)
    last = slice(run.data["contacts/offset"][-2], run.data["contacts/offset"][-1])
    forces, normals = run.data["contacts/force_W"][last], run.data["contacts/normal_W"][last]
    normal = np.abs(np.einsum("ij,ij->i", forces, normals)).sum()
    tangential = np.abs(forces[:, 2]).sum()
    assert normal == pytest.approx(20, rel=0.01)  # 10 N from either side
    assert tangential == pytest.approx(0.1 * 9.81, rel=1e-6)
