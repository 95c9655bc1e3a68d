"""step.model: perfect-tracking, impedance, stewart-trinkle in scenes, end to end."""

import gzip
import json

import h5py
import numpy as np
import pytest

SCENE = """
deft: 1
name: push
bodies:
  ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.4}
  box: {shape: {box: {size: [0.2, 0.2, 0.1]}}, mass: 1, inertia: [0.004, 0.004, 0.007], joint: free, mu: 0.4}
  finger: {shape: {sphere: {radius: 0.02}}, mass: 0.1, joint: {translation: xyz}, mu: 0.4}
robots: [{name: finger, stiffness: 500}]
gravity: [0, 0, -10]
step: {h: 0.05, dynamics: quasistatic, contact_margin: 0.03}
configurations:
  start: {box: {position: [0, 0, 0.05]}, finger: {x: -0.12, y: 0, z: 0.05}}
initial: start
commands: {knots: [{t: 0, finger: {x: -0.12, y: 0, z: 0.05}}, {t: 0.5, finger: {x: -0.08, y: 0, z: 0.05}}]}
"""
MODELS = ["perfect-tracking", "impedance", "stewart-trinkle"]


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "push.deft.yaml").write_text(SCENE)
    return "push.deft.yaml"


def test_a_finger_pushes_a_box(deft, tmp_path, scene):
    moved = {}
    for model in MODELS:
        summary = deft.json("sim", scene, "--model", model, "--out", model)
        assert summary["status"] == "Completed" and summary["steps"] == 10 and summary["residual_max"] <= 1e-8
        assert "uniqueness" not in summary and "reason" not in summary
        moved[model] = summary["q"]["box/x"]
        with h5py.File(tmp_path / model / "run.h5") as run:
            assert ("v" in run) == (model == "stewart-trinkle")
            assert set(run["steps/uniqueness"][:]) == {0}
            assert "second_delta" not in run["steps"]
            assert np.abs(run["contacts/boundary_gap"][:]).max() == 0
    assert moved["perfect-tracking"] == pytest.approx(0.04, abs=1e-9)
    assert moved["impedance"] == pytest.approx(0.04 - 4 / 500, abs=1e-9)  # the spring carries μ m g


def test_problems_that_they_dump_are_solved_again(deft, tmp_path, scene):
    for model, kind in zip(MODELS, ["mcp", "mcp", "lcp"]):
        deft.json("sim", scene, "--model", model, "--out", model, "--dump-problems", f"dump-{model}")
        files = sorted((tmp_path / f"dump-{model}").iterdir())
        assert len(files) == 10
        problem = json.loads(gzip.open(files[-1]).read())
        assert problem["kind"] == kind and (kind == "lcp") == (len(problem.get("free", [])) == 0)
        result = deft.json("solve", files[-1])
        assert result["status"] == "Solved" and max(result["residuals"]["scaled"].values()) <= 1e-8


def test_uniqueness_is_recorded(deft, tmp_path, scene):
    # Without gravity and out of reach of everything, a quasistatic box may be anywhere.
    apart = ["--set", "gravity=[0,0,0]", "--set", "configurations.start.finger.x=-0.5", "--set", "configurations.start.box.position=[0,0,0.2]", "--set", "step.uniqueness=check", "--steps", "2",
             "--set", "commands={}"]  # fmt: skip
    summary = deft.json("sim", scene, "--model", "impedance", "--out", "out", *apart)
    assert summary["status"] == "Completed" and summary["statuses"] == {"NotUnique": 2}
    assert summary["uniqueness"] == {"unique": 0, "not_unique": 2, "unknown": 0}
    with h5py.File(tmp_path / "out" / "run.h5") as run:
        assert run["steps/uniqueness"][:].tolist() == [2, 2]
        second = run["steps/second_delta"][:]
    assert second.shape == (2, 9) and np.isfinite(second).all() and np.abs(second[0]).max() > 0
    assert "is not unique" in (tmp_path / "out" / "deft.log").read_text()
    deft.run("view", "out", "--no-open")


def test_a_step_without_solution_says_why(deft, tmp_path, scene):
    wall = ["--set", "bodies.wall={shape: {box: {size: [0.1, 1, 1]}}, joint: fixed, mu: 0.4, pose: {translation: [0.16, 0, 0.5]}}"]
    done = deft.run("sim", scene, "--model", "perfect-tracking", "--out", "out", *wall, code=1)
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["status"] == "Infeasible" and summary["statuses"] == {"Solved": 2, "Infeasible": 1}
    for text in (summary["reason"], done.stdout, (tmp_path / "out" / "deft.log").read_text()):
        assert "finger" in text and "box" in text and "wall" in text
    with h5py.File(tmp_path / "out" / "run.h5") as run:
        assert run["q"].shape[0] == 4


@pytest.mark.parametrize("command, settings, message", [
    ("sim", ["step.kappa=100"], "is for exact contact, but step.kappa is 100; valid: inf"),
    ("sim", ["step.compliance=1e-6"], "is for rigid contact, but step.compliance is 1e-06; valid: 0"),
    ("sim", ["step.cone=cone"], "has polygons of friction in space, but step.cone is cone; valid: pyramid"),
    ("sim", ["step.effort_limits=true"], "step.effort_limits is true; valid: false"),
    ("sim", ["friction={ellipsoid: [1, 1, 0.1]}"], "friction.ellipsoid is set; available with: convex, convex-second-order"),
    ("sim", ["step.rays=5"], "step.rays: must be an even number"),
    ("sim", ["step.uniqueness=maybe"], "step.uniqueness: "),
    ("linearize", [], "not available yet: derivatives of step.model: "),
])  # fmt: skip
@pytest.mark.parametrize("model", MODELS)
def test_what_does_not_go_together_is_refused(deft, scene, model, command, settings, message):
    if model == "stewart-trinkle" and "compliance" in message:
        return  # it has compliance
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert message in deft.run(command, scene, "--model", model, *arguments, code=2).stderr
