"""`deft check` of scenes that load: what is suspicious, of whom, by how much, and what cures it."""

from pathlib import Path

import pytest

SCENE = """
deft: 1
bodies:
  table: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
  ball: {shape: {sphere: {radius: 0.1}}, mass: MASS, joint: free, mu: 0.5}
  finger: {shape: {sphere: {radius: 0.05}}, mass: 1, joint: {prismatic: [1, 0, 0]}, limits: {s: LIMITS}, pose: {translation: [-0.5, 0, 0.1]}, mu: 0.5}
robots: [{name: finger, stiffness: 500}]
gravity: [0, 0, -10]
step: {h: 0.1}
configurations: {start: {ball: {position: [0, 0, HEIGHT]}, finger: AT}}
initial: start
goals: {aside: {ball: {position: [GOAL, 0, 0.1]}}}
"""
GOOD = {"MASS": "1", "LIMITS": "[-1, 1]", "HEIGHT": "0.1", "AT": "[0]", "GOAL": "0.1"}


@pytest.fixture
def warnings(deft, tmp_path):
    def check(more="", *options, **changes):
        text = SCENE
        for word, value in {**GOOD, **changes}.items():
            text = text.replace(word, value)
        (tmp_path / "scene.deft.yaml").write_text(text + more)
        found = deft.json("check", "scene.deft.yaml", *options)
        assert found["errors"] == []
        assert all(
            w["severity"] == "warning" and {"file", "line", "column", "message", "kind", "cure"} <= w.keys() for w in found["warnings"]
        )
        return found["warnings"]

    return check


def test_a_good_scene_has_none(warnings):
    assert warnings() == []


def test_what_overlaps_at_the_start(warnings):
    (found,) = warnings(HEIGHT="0.09")
    assert found["kind"] == "penetration" and found["depth_m"] == pytest.approx(0.01)
    assert [name.split("#")[0] for name in found["pair"]] == ["table", "ball"]
    assert "'start'" in found["cure"]


def test_a_start_beyond_a_limit_and_one_left_at_zero(warnings):
    (found,) = warnings(AT="[1.5]")
    assert (found["kind"], found["joint"], found["value"], found["limit"]) == ("limit", "finger/s", 1.5, 1)
    (found,) = warnings(LIMITS="[0.2, 1]", AT="{}")
    assert (found["kind"], found["value"], found["limit"]) == ("limit", 0, 0.2)
    assert "leaves out is 0" in found["message"] and "finger: {s: 0.2}" in found["cure"]


def test_a_goal_beyond_reach(warnings):
    (found,) = warnings(GOAL="5")
    assert (found["kind"], found["goal"]) == ("unreachable", "aside")
    assert found["distance_m"] == pytest.approx(5, abs=0.1)


def test_masses_far_apart(warnings):
    found = warnings("", "--set", "configurations.start.finger=[0.35]", MASS="5000")
    assert [w["kind"] for w in found] == ["mass_ratio"] and found[0]["ratio"] == pytest.approx(5000)


def test_pairs_that_pass_through_each_other(warnings):
    groups = "\ndirectives: [{add_collision_filter_group: {name: g, members: [ball, finger], ignored_collision_filter_groups: [g]}}]\n"
    (found,) = warnings(groups, AT="[0.4]")
    assert found["kind"] == "filtered_pair" and found["depth_m"] == pytest.approx(0.05)


def test_steps_that_are_long_for_the_stiffness(warnings):
    assert warnings("", "--set", "step.model=convex-second-order") == []
    (found,) = warnings("", "--set", "step.model=convex-second-order", "--set", "robots=[{name: finger, stiffness: 1.0e+6}]")
    # √(K/M) = 1000 rad/s: sixteen swings in 0.1 s.
    assert (found["kind"], found["joint"], found["h"]) == ("step_length", "finger/s", 0.1)
    assert found["longest"] == pytest.approx(0.06)  # 10 swings are 0.0628 s, rounded down


def test_friction_that_nobody_states(deft, tmp_path):
    text = SCENE.replace("joint: free, mu: 0.5", "joint: free")
    for word, value in GOOD.items():
        text = text.replace(word, value)
    (tmp_path / "scene.deft.yaml").write_text(text)
    (found,) = deft.json("check", "scene.deft.yaml")["warnings"]
    assert found["kind"] == "friction" and "mu: 0.5" in found["cure"]


def test_strict_makes_them_errors_and_people_read_the_cure(deft, tmp_path):
    text = SCENE
    for word, value in {**GOOD, "HEIGHT": "0.09"}.items():
        text = text.replace(word, value)
    (tmp_path / "scene.deft.yaml").write_text(text)
    done = deft.run("check", "scene.deft.yaml", "--strict", code=2)
    assert "cure: move one of them apart" in done.stdout and "1 errors" in done.stdout


def test_the_bundled_scenes_start_well(deft, scenes):
    found = deft.json("check", *sorted(scenes.glob("planning/*.deft.yaml")))["warnings"]
    assert [w for w in found if w["kind"] in ("limit", "unreachable", "filtered_pair")] == []
    # Published starts that press a little: the links of two fingers into their ball, a palm into its own.
    pressed = {Path(w["file"]).name.split(".")[0]: w["depth_m"] for w in found if w["kind"] == "penetration"}
    assert pressed.keys() == {"planar_hand_weight", "allegro_ball"} and max(pressed.values()) < 4e-3
