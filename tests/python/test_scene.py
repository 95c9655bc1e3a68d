"""Scenes: names, configurations, kinematics, contacts."""

import copy
import json
import os
import pickle
import subprocess

import numpy as np
import pytest
from conftest import ROOT

import deft

BINARY = os.path.join(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release"), "deft")


def info(scene: str) -> dict:
    return json.loads(subprocess.run([BINARY, "info", scene, "--json", "--quiet"], capture_output=True, text=True, check=True).stdout)


def test_bundled_scenes_load_and_pack_what_they_unpack():
    names = [name for name in deft.scenes() if name.startswith("planning/") and "/disturb" not in name]
    assert "planning/allegro_ball" in names
    for name in names:
        scene = deft.load(deft.scene_path(name))
        q = scene.q()
        assert q.shape == (scene.n_q,) and scene.v().shape == (scene.n_v,) and scene.u().shape == (scene.n_u,)
        np.testing.assert_allclose(scene.pack(scene.unpack(q)), q, atol=1e-12, err_msg=name)


@pytest.mark.filterwarnings("ignore::deft.InputWarning")
def test_a_scene_is_what_its_dict_says(touching):
    again = deft.loads(touching.to_dict(), directory="/")
    assert again.bodies == touching.bodies and again.goals == touching.goals and again.settings == touching.settings
    np.testing.assert_array_equal(again.q(), touching.q())
    assert pickle.loads(pickle.dumps(touching)).to_dict() == touching.to_dict()
    assert copy.deepcopy(touching) is touching


def test_names_are_those_of_info(touching):
    told = info(str(deft.scene_path("planning/allegro_ball")))
    assert touching.bodies == [body["name"] for body in told["bodies"]]
    assert (touching.n_q, touching.n_v, touching.n_u) == (told["nq"], told["nv"], told["nu"])
    q = touching.q()
    for body in told["bodies"]:
        X_WB = touching.body_pose(q, body["name"])
        np.testing.assert_allclose(X_WB[:3, 3], body["position"], atol=1e-9)
        w, x, y, z = body["quat_wxyz"]
        np.testing.assert_allclose(X_WB[0, :3], [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], atol=1e-9)


def test_indices_and_slices(touching):
    q = touching.q()
    for number, coordinate in enumerate(touching.coordinates):
        assert touching.index(coordinate.name) == number
    np.testing.assert_array_equal(np.concatenate([q[touching.slice("hand")], q[touching.slice("ball")]]), q)
    assert touching.slice_u("hand") == slice(0, 16, 1) and touching.slice_v("ball") == slice(16, 22, 1)
    with pytest.raises(deft.InputError, match="did you mean 'hand/joint_1'"):
        touching.index("hand/jont_1")
    with pytest.raises(deft.InputError, match="body: there is no 'bal'"):
        touching.body_pose(q, "bal")


def test_pack_reads_lists_dicts_and_poses(touching):
    joints = np.linspace(0.1, 0.2, 16)
    q = touching.pack({"hand": joints, "ball": {"position": (1, 2, 3), "quat_wxyz": [2, 0, 0, 0]}})
    np.testing.assert_array_equal(q[touching.slice("hand")], joints)
    np.testing.assert_array_equal(q[touching.slice("ball")], [1, 0, 0, 0, 1, 2, 3])
    some = touching.pack({"hand": {"joint_3": 0.5}})
    assert some[touching.index("hand/joint_3")] == 0.5 and some[touching.index("hand/joint_4")] == 0
    with pytest.raises(ValueError, match=r"ball.position: expected shape \(3,\), got \(2,\)"):
        touching.pack({"ball": {"position": [1, 2]}})
    loop: dict = {}
    loop["a"] = loop
    with pytest.raises(ValueError, match=r"ball\.a\.a: expected a number"):
        touching.pack({"ball": loop})
    with pytest.raises(TypeError, match="models: expected names as keys"):
        touching.pack({1: [1]})
    with pytest.raises(TypeError, match="q: expected real numbers, got dtype complex128"):
        touching.unpack(touching.q() + 0j)
    with pytest.raises(deft.InputError, match="hnad"):
        touching.pack({"hnad": [0.0] * 16})


def test_jacobians_are_the_differences_of_poses(touching):
    q, eps = touching.q(), 1e-6
    for body in ("hand/link_15_tip", "ball/ball") if "hand/link_15_tip" in touching.bodies else (touching.bodies[-2], touching.bodies[-1]):
        J = touching.jacobian(q, body)
        assert J.shape == (6, touching.n_v)
        for column in range(touching.n_v):
            dq = np.zeros(touching.n_v)
            dq[column] = eps
            X, Y = (touching.body_pose(touching.integrate(q, sign * dq), body) for sign in (-1, 1))
            turn = Y[:3, :3] @ X[:3, :3].T
            omega = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / 2
            np.testing.assert_allclose(J[:3, column], omega / (2 * eps), atol=1e-6)
            np.testing.assert_allclose(J[3:, column], (Y[:3, 3] - X[:3, 3]) / (2 * eps), atol=1e-6)


def test_gaps_follow_the_jacobians_of_contacts(touching):
    q = touching.q()
    contacts = touching.contacts(q)
    assert len(contacts) > 3 and contacts.jacobian.shape == (len(contacts), 3, touching.n_v)
    rng = np.random.default_rng(3)
    dq = 1e-6 * rng.standard_normal(touching.n_v)
    before, after = (touching.contacts(touching.integrate(q, sign * dq)) for sign in (-1, 1))
    assert before.bodies == contacts.bodies == after.bodies
    predicted = np.einsum("ni,nij,j->n", contacts.normal, contacts.jacobian, 2 * dq)
    np.testing.assert_allclose(after.gap - before.gap, predicted, atol=1e-9)


def test_tangent_space(touching):
    rng = np.random.default_rng(4)
    q, dq = touching.q(), 0.3 * rng.standard_normal(touching.n_v)
    there = touching.integrate(q, dq)
    np.testing.assert_allclose(touching.difference(q, there), dq, atol=1e-12)
    assert abs(np.linalg.norm(there[touching.slice("ball")][:4]) - 1) < 1e-12


def test_changed_copies(hand, tmp_path):
    shorter = hand.with_({"step.h": 0.05}, overlays=[{"gravity": [0, 0, -5]}])
    assert shorter.settings["step"]["h"] == 0.05 and hand.settings["step"]["h"] == 0.1
    assert shorter.to_dict()["gravity"] == [0, 0, -5]
    overlay = tmp_path / "over.yaml"
    overlay.write_text("step: {h: 0.02}\n")
    assert deft.load(deft.scene_path("planning/planar_hand"), overlays=[overlay]).settings["step"]["h"] == 0.02
    hand.to_dict()["step"]["h"] = 7  # of a copy
    assert hand.to_dict()["step"]["h"] == 0.1


def test_texts_are_read_as_files_are(tmp_path):
    ball = "deft: 1\nbodies:\n  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5}\n"
    (tmp_path / "ball.deft.yaml").write_text(ball)
    scenes = [
        deft.loads(ball),
        deft.load(tmp_path / "ball.deft.yaml"),
        deft.loads(
            {"deft": 1, "bodies": {"ball": {"shape": {"sphere": {"radius": np.float64(0.1)}}, "mass": 1, "joint": "free", "mu": 0.5}}}
        ),
    ]
    assert {scene.n_q for scene in scenes} == {7} and scenes[0].objects == scenes[1].objects == scenes[2].objects == ["ball"]


def test_errors_name_the_place():
    with pytest.raises(deft.InputError) as caught:
        deft.loads("deft: 1\nbodies:\n  ball: {shape: {sphere: {radius: -1}}, mass: 1, joint: free}\n")
    first = caught.value.diagnostics[0]
    assert isinstance(caught.value, ValueError) and first.line == 3 and first["severity"] == "error" and "radius" in first.message
    with pytest.raises(deft.InputError, match="scene not found"):
        deft.load("nowhere.deft.yaml")
    with pytest.raises(deft.InputError, match="step has no key 'hh'; valid: h, model"):
        deft.loads({"deft": 1}, set={"step.hh": 1})
    with pytest.raises(TypeError, match="object has no place in a scene"):
        deft.loads({"deft": object()})
    with pytest.raises(KeyError, match="planning/planar_hand"):
        deft.scene_path("planning/planar_hnad")


def test_warnings_are_warnings():
    with pytest.warns(deft.InputWarning, match="friction"):
        deft.loads(
            "deft: 1\nbodies:\n  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free}\n  floor: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed}\n"
        )


def test_scenes_are_built_in_code(tmp_path):
    builder = deft.SceneBuilder("pushed")
    builder.add_body("finger", {"sphere": {"radius": 0.02}}, joint={"translation": "xyz"}, mass=0.1, mu=0.8)
    builder.add_body("box", {"box": {"size": [0.2, 0.15, 0.1]}}, mass=0.5, joint="free", mu=0.4)
    builder.add_body("table", {"half_space": {"normal": [0, 0, 1], "offset": 0}}, joint="fixed", mu=0.4)
    builder.robot("finger", stiffness=500).set("gravity", [0, 0, -9.81]).set("step.h", 0.1).set("step.contact_margin", 0.05)
    builder.configuration("start", {"finger": {"x": -0.2, "z": 0.05}, "box": {"position": np.array([0, 0, 0.05])}})
    builder.goal("aside", {"box": {"position": [0.3, 0.1, 0.05]}}, tolerance={"position": 0.01, "rotation": 0.1})
    scene = builder.build()
    assert scene.robots == ["finger"] and scene.objects == ["box"] and scene.goals == ["aside"] and scene.name == "pushed"
    twin = deft.load(deft.scene_path("planning/push_on_table"), set={"step.cone": "cone"})
    np.testing.assert_array_equal(scene.q(), twin.q())
    pushed = deft.StepModel(scene, cone="cone").step(scene.q(), scene.u() + [0.11, 0, 0])
    np.testing.assert_array_equal(pushed.q, deft.StepModel(twin).step(twin.q(), twin.u() + [0.11, 0, 0]).q)
    with pytest.raises(deft.InputError, match="needs 'joint'"):
        deft.SceneBuilder().add_body("ball", {"sphere": {"radius": 1}}, mass=1).build()


def test_models_are_built_in():
    builder = deft.SceneBuilder()
    builder.add_model(
        "package://deft_scenes/models/allegro_right.sdf",
        "hand",
        weld={"child": "hand_root", "position": [0, 0, 0.1], "quat_wxyz": [1, 0, 0, 0]},
    )
    builder.add_model("package://deft_scenes/objects/mug.sdf", "mug")
    scene = builder.robot("hand", stiffness=10).set("step.h", 0.1).build()
    assert scene.n_u == 16 and scene.objects == ["mug"]
    np.testing.assert_allclose(scene.body_pose(scene.q(), "hand/hand_root")[:3, 3], [0, 0, 0.1], atol=1e-12)
    with pytest.raises(ValueError, match="weld: unknown positon"):
        builder.add_model("x.sdf", "x", weld={"child": "a", "positon": 1})
