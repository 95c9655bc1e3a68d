"""What is wrong with a scene of `step.model: limit-surface` is named, with its place and what is valid: exit code 2."""

import pytest
import yaml

SCENE = """
deft: 1
name: push
bodies:
  disc: {shape: {cylinder: {radius: 0.1, length: 0.1}}, joint: {planar: xy}, mass: 1, mu: 1, limit_surface: [1, 1, 1]}
  tip: {shape: {sphere: {radius: 0}}, joint: {translation: xy}, mu: 1}
robots: [{name: tip, admittance: 1}]
friction: {default: 1}
step: {model: limit-surface, h: 0.05, gain: 0.01}
configurations: {start: {tip: [-0.2, 0]}}
initial: start
commands: {type: velocity, interpolation: hold, knots: [{t: 0, tip: [0.5, 0]}]}
"""
WRONG = [
    ("bodies.disc.limit_surface", None, ["disc", "limit_surface"]),
    ("bodies.disc.limit_surface", [1, 1], ["limit_surface", "3"]),
    ("bodies.disc.limit_surface", [1, 1, 1, 1], ["limit_surface", "3"]),
    ("bodies.disc.limit_surface", [1, -1, 1], ["limit_surface", "> 0", "-1"]),
    ("bodies.disc.limit_surface", [1, 0, 1], ["limit_surface", "> 0"]),
    ("bodies.disc.limit_surface", [[1, 2, 0], [2, 1, 0], [0, 0, 1]], ["limit_surface", "positive"]),
    ("bodies.disc.limit_surface", [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], ["limit_surface", "symmetric"]),
    ("bodies.disc.limit_surface", [[1, 0], [0, 1]], ["limit_surface", "3"]),
    ("bodies.disc.limit_surface", "round", ["limit_surface"]),
    ("bodies.disc.limit_surface", {"support": {"square": -1}, "pressure": "uniform", "mu": 0.5}, ["square"]),
    ("bodies.disc.limit_surface", {"support": {"star": 1}, "pressure": "uniform", "mu": 0.5}, ["star", "square"]),
    ("bodies.disc.limit_surface", {"support": {"square": 1}, "pressure": "gauss", "mu": 0.5}, ["pressure", "uniform"]),
    ("bodies.disc.limit_surface", {"support": {"square": 1}, "pressure": "uniform", "mu": 0}, ["mu"]),
    ("bodies.disc.limit_surface", {"support": {"polygon": [[0, 0], [1, 0]]}, "pressure": "uniform", "mu": 0.5}, ["polygon"]),
    (
        "bodies.disc.limit_surface",
        {"support": {"polygon": [[0, 0], [1, 0], [2, 0]]}, "pressure": "uniform", "mu": 0.5},
        ["disc", "support", "area"],
    ),
    ("step.gain", -0.1, ["gain", "-0.1"]),
    ("step.gain", float("nan"), ["gain"]),
    ("step.gain", float("inf"), ["gain"]),
    ("step.gain", "big", ["gain"]),
    ("step.h", 0, ["h"]),
    ("step.h", -0.1, ["h"]),
    ("step.h", None, ["h"]),
    ("step.model", "limit_surface", ["limit_surface", "limit-surface"]),
    ("step.model", "sliding", ["sliding", "limit-surface", "impedance", "stewart-trinkle"]),
    ("step.uniqueness", "yes", ["uniqueness", "check"]),
    ("robots", [{"name": "tip", "admittance": [1, 1, 1]}], ["admittance", "2"]),
    ("robots", [{"name": "tip", "admittance": [1, -1]}], ["admittance", "-1"]),
    ("robots", [{"name": "tip", "admittance": 0}], ["admittance"]),
    ("robots", [{"name": "tpi", "admittance": 1}], ["tpi", "tip"]),
    ("commands.knots", [{"t": 0, "tip": [0.5, 0, 0]}], ["tip", "2"]),
    ("commands.knots", [{"t": 0, "tip": [0.5]}], ["tip", "2"]),
    ("commands.knots", [{"t": 0, "tpi": [0.5, 0]}], ["tpi", "tip"]),
    ("commands.knots", [{"t": 0, "tip": {"z": 1}}], ["z"]),
    ("commands.knots", [{"t": 0, "disc": [0.5, 0, 0]}], ["disc"]),
    ("commands.type", "speed", ["speed", "velocity"]),
    ("commands.type", "position", ["velocity"]),
    ("bodies.disc.joint", "free", ["'disc'", "planar: xy"]),
    ("bodies.tip.joint", {"translation": "xyz"}, ["'tip'"]),
    ("bodies.tip.joint", {"translation": "yz"}, ["plane"]),
    ("plane", "yz", ["plane", "'disc'"]),
    ("plane", "zz", ["plane", "xy"]),
    ("step.kappa", 100, ["kappa", "inf"]),
    ("step.compliance", 1e-6, ["compliance"]),
    ("bodies.disc.mu", -1, ["mu"]),
]


@pytest.mark.parametrize("key, value, words", WRONG, ids=[f"{key}-{value}" for key, value, _ in WRONG])
def test_wrong_scenes_are_refused(deft, tmp_path, key, value, words):
    document = yaml.safe_load(SCENE)
    *path, last = key.split(".")
    at = document
    for part in path:
        at = at[part]
    if value is None:
        at.pop(last, None)
    else:
        at[last] = value
    (tmp_path / "scene.deft.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    text = deft.run("sim", "scene.deft.yaml", "--steps", "2", "--out", "out", code=2).stderr
    for word in words:
        assert word in text, text


def test_the_right_scene_runs(deft, tmp_path):
    (tmp_path / "scene.deft.yaml").write_text(SCENE)
    assert deft.json("sim", "scene.deft.yaml", "--out", "out", "--steps", "2")["status"] == "Completed"
