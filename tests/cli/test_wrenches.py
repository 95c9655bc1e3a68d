"""Wrenches with a condition (`when`): a puck that is kicked whenever it rests, and what is wrong with others."""

import h5py
import numpy as np
import pytest

SCENE = """
deft: 1
name: kicked
bodies:
  puck: {shape: {box: {size: [0.2, 0.2, 0.2]}}, joint: free, mass: 2, pose: {translation: [0, 0, 0.1]}, mu: 0.4}
  floor: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.4}
gravity: [0, 0, -10]
step: {h: 0.01, model: convex-second-order, friction_law: coulomb, cone: cone}
wrenches: [{body: puck, impulse_W: [0.5, 0, 0], when: "abs(v_x) < 1e-6"}]
"""
KICK = '{body: puck, impulse_W: [1, 0, 0], when: "%s"}'


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "scene.deft.yaml").write_text(SCENE)
    return "scene.deft.yaml"


def test_a_puck_is_kicked_whenever_it_rests(deft, scene, tmp_path):
    deft.json("sim", scene, "--steps", 30, "--out", "out")
    with h5py.File(tmp_path / "out" / "run.h5") as run:
        speeds = run["v"][:, 3]
    kicked = np.flatnonzero(np.diff(speeds) > 0.1)
    assert kicked.tolist() == [0, 7, 14, 21, 28] and np.allclose(speeds[kicked], 0, atol=1e-6)
    assert np.allclose(speeds[kicked + 1], 0.5 / 2 - 0.4 * 10 * 0.01, atol=1e-6)  # the kick's own step has friction
    # It goes on from its merged scene.
    deft.json("sim", "out/config.yaml", "--steps", 3, "--out", "again")


@pytest.mark.parametrize(
    "when, model, words",
    [
        ("abs(omega) < 1e-6", "convex-second-order", ["'when'", "column 5", "'omega'", "omega_x", "v_z", "qw", "abs"]),
        ("omega_z", "convex-second-order", ["'when'", "condition", "column 1"]),
        ("0 < z < 1", "convex-second-order", ["'when'", "column 7", "&&"]),
        ("", "convex-second-order", ["'when'", "expected a text"]),
        ("z <", "stewart-trinkle", ["'when'", "column 4"]),
        ("z = 1", "stewart-trinkle", ["'when'", "column 3"]),
        ("v_x < 1", "convex", ["v_x", "convex", "qz", "stewart-trinkle"]),
        ("z < 1 and omega_z > 0", "impedance", ["omega_z", "impedance"]),
    ],
)
def test_wrong_conditions_are_refused(deft, scene, when, model, words):
    for command in (["check", scene], ["sim", scene, "--steps", 1, "--out", "out"]):
        text = deft.run(
            *command,
            "--set",
            f"wrenches=[{KICK % when}]",
            "--set",
            f"step.model={model}",
            "--set",
            "step.friction_law=associated",
            "--set",
            "step.cone=pyramid",
            code=2,
        )
        for word in words:
            assert word in text.stdout + text.stderr, text


def test_a_model_of_first_order_takes_conditions_on_positions(deft, scene):
    assert (
        deft.json(
            "sim",
            scene,
            "--steps",
            2,
            "--set",
            f"wrenches=[{KICK % 'z > 0 and t < 1'}]",
            "--set",
            "step.model=convex",
            "--set",
            "step.friction_law=associated",
            "--out",
            "out",
        )["status"]
        == "Completed"
    )
