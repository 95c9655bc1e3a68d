"""`deft new`: scenes that run, from a robot, objects and a goal."""

import math

import pytest
import yaml

HAND_OBJECTS = ["ball", "box", "bottle"]


@pytest.mark.parametrize("thing", HAND_OBJECTS)
def test_a_hand_with_an_object_that_stays(deft, thing):
    made = deft.json("new", "allegro", thing, "--out", "hand.deft.yaml", "--goal", "turn z 90")
    assert (made["joints"], made["objects"], made["steps"], made["warnings"]) == (16, 1, "Solved", 0)
    start = deft.json("info", "hand.deft.yaml")
    assert min(c["gap"] for c in start["contacts"]) > -1e-3
    assert not any("ground" in (c["a"] + c["b"]) and thing in (c["a"] + c["b"]) for c in start["contacts"])  # it is in the hand
    run = deft.json("sim", "hand.deft.yaml", "--steps", 20, "--out", "run")
    body = next(b for b in start["bodies"] if b["name"].startswith(thing))
    assert abs(run["q"][f"{thing}/z"] - body["position"][2]) < 2e-3


@pytest.mark.parametrize("thing", ["box", "mug"])
def test_a_turn_in_the_hand_ends_where_the_object_lies(deft, tmp_path, thing):
    deft.json("new", "allegro", thing, "--out", "hand.deft.yaml", "--goal", "turn z 90")
    text = (tmp_path / "hand.deft.yaml").read_text()
    assert "as it then lies in the hand" in text
    scene = yaml.safe_load(text.replace("!Rpy", ""))
    start, goal = scene["configurations"]["start"][thing], scene["goals"]["goal"][thing]
    (w0, x0, y0, z0), (w1, x1, y1, z1) = start["quat_wxyz"], goal["quat_wxyz"]
    w, z = w1 * w0 + x1 * x0 + y1 * y0 + z1 * z0, z1 * w0 - w1 * z0 + y1 * x0 - x1 * y0  # of q1 q0⁻¹
    assert 2 * math.atan2(z, w) == pytest.approx(math.pi / 2, abs=0.02)  # about z
    assert 2 * math.acos(min(1, math.hypot(w, z))) < 0.25  # and little tilt
    assert math.dist(start["position"], goal["position"]) < 0.05
    there = f"configurations.start.{thing}={{position: {goal['position']}, quat_wxyz: {goal['quat_wxyz']}}}"
    q = deft.json("sim", "hand.deft.yaml", "--set", there, "--steps", 20, "--out", "run")["q"]
    assert [q[f"{thing}/{axis}"] for axis in "xyz"] == pytest.approx(goal["position"], abs=5e-3)
    aligned = sum(q[f"{thing}/{name}"] * part for name, part in zip(("qw", "qx", "qy", "qz"), goal["quat_wxyz"]))
    assert 2 * math.acos(min(1, abs(aligned))) < 0.05  # and does not turn or tip


def test_several_objects_with_a_hand(deft):
    made = deft.json("new", "allegro", "ball", "mug", "--out", "hand.deft.yaml")
    assert (made["objects"], made["warnings"], made["hand"]) == (2, 0, True)
    q = deft.json("sim", "hand.deft.yaml", "--steps", 10, "--out", "run")["q"]
    assert q["ball/z"] > 0.06 and q["mug/z"] == pytest.approx(0.0475, abs=2e-3)  # in the hand; on the ground


def test_a_start_that_was_not_found_is_a_warning(deft):
    made = deft.json("new", "three_link_arm", "ball", "--out", "arm.deft.yaml")
    assert made["warnings"] == 1


ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>COLLISION</link>
<joint name="j1, [rot]" type="TYPE"><parent link="base"/><child link="rod"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
ROD = '<collision><origin xyz="0.3 0 0.3"/><geometry><box size="0.6 0.02 0.02"/></geometry></collision>'


def test_robots_that_cannot_be(deft, tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM.replace("COLLISION", "").replace("TYPE", "revolute"))
    assert "could touch nothing" in deft.run("new", "arm.urdf", "ball", "--out", "x.deft.yaml", code=2).stderr
    (tmp_path / "arm.urdf").write_text(ARM.replace("COLLISION", ROD).replace("TYPE", "floating"))
    assert "could be driven" in deft.run("new", "arm.urdf", "--out", "x.deft.yaml", code=2).stderr
    (tmp_path / "arm.urdf").write_text(ARM.replace("COLLISION", ROD).replace("TYPE", "revolute"))
    assert deft.json("new", "arm.urdf", "--out", "x.deft.yaml")["joints"] == 1  # whatever its joint is called


def test_objects_that_cannot_be(deft, tmp_path, root):
    fixed = (root / "scenes/objects/box.sdf").read_text().replace('<model name="box">', '<model name="box"><static>1</static>')
    (tmp_path / "fixed.sdf").write_text(fixed)
    assert "fixed to the world" in deft.run("new", "iiwa", "fixed.sdf", "--out", "x.deft.yaml", code=2).stderr
    bare = '<sdf version="1.9"><model name="air"><link name="air"/></model></sdf>'
    (tmp_path / "bare.sdf").write_text(bare)
    deft.run("new", "iiwa", "bare.sdf", "--out", "x.deft.yaml", code=2)
    assert "endings" in deft.run("new", "iiwa", "--out", "x.sdf", code=2).stderr.replace("is an ending", "endings")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["bare.sdf", "fixed.sdf"]


def test_package_paths_come_along(deft, tmp_path, root):
    (tmp_path / "pk/foo").mkdir(parents=True)
    (tmp_path / "pk/foo/arm.urdf").write_text((root / "scenes/models/iiwa7.urdf").read_text())
    deft.json("new", "package://foo/arm.urdf", "--package-path", "pk", "--out", "x.deft.yaml")
    assert deft.json("check", "x.deft.yaml")["errors"] == []


def test_an_arm_behind_an_object_on_the_ground(deft):
    made = deft.json("new", "iiwa", "mug", "box", "--out", "arm.deft.yaml", "--goal", "move 0.1 0 0")
    assert (made["joints"], made["objects"], made["steps"]) == (7, 2, "Solved")
    assert made["next"] == "deft plan arm.deft.yaml"
    assert deft.json("check", "arm.deft.yaml") == {"errors": [], "warnings": []}
    start = {b["name"]: b["position"] for b in deft.json("info", "arm.deft.yaml")["bodies"]}
    assert start["iiwa7/iiwa_link_7"][0] < start["mug/mug"][0]  # behind, as seen along the goal
    assert abs(start["mug/mug"][1] - start["box/box"][1]) > 0.06


def test_joints_are_stiffer_with_the_frequency(deft):
    slow = deft.json("new", "iiwa", "--out", "a.deft.yaml", "--frequency", 5) and deft.json("info", "a.deft.yaml")["robots"][0]["stiffness"]
    fast = (
        deft.json("new", "iiwa", "--out", "b.deft.yaml", "--frequency", 10) and deft.json("info", "b.deft.yaml")["robots"][0]["stiffness"]
    )
    assert fast == pytest.approx([4 * k for k in slow], rel=0.1)  # as its square; two digits are kept


def test_the_text_says_what_it_is(deft, tmp_path):
    deft.json("new", "iiwa", "ball", "--out", "arm.deft.yaml", "--goal", "turn x -45")
    lines = (tmp_path / "arm.deft.yaml").read_text().splitlines()
    bare = [line for line in lines if "#" not in line]
    assert all(line.endswith(":") for line in bare), bare  # a comment on every line that says something
    assert any("turn x -45" in line for line in lines)


def test_model_files_are_named_from_the_scenes_folder(deft, tmp_path, root):
    (tmp_path / "models").mkdir()
    (tmp_path / "scenes").mkdir()
    (tmp_path / "models/arm.urdf").write_text((root / "scenes/models/iiwa7.urdf").read_text())
    deft.json("new", "models/arm.urdf", "--out", "scenes/arm.deft.yaml")
    assert '"../models/arm.urdf"' in (tmp_path / "scenes/arm.deft.yaml").read_text()
    assert sorted(f.name for f in (tmp_path / "scenes").iterdir()) == ["arm.deft.yaml"]  # no draft is left


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["allegra", "ball"], "did you mean 'allegro'"),
        (["allegro", "mugg"], "did you mean 'mug'"),
        (["allegro", "--goal", "lift 1"], "name one after the robot"),
        (["allegro", "ball", "--goal", "throw"], "is none of the goals"),
        (["mug"], "neither a model file nor a bundled one"),
    ],
)
def test_what_cannot_be_is_refused(deft, tmp_path, arguments, message):
    done = deft.run("new", *arguments, "--out", "x.deft.yaml", code=2)
    assert message in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_passive_model_is_no_robot(deft, root):
    done = deft.run("new", root / "scenes/objects/mug.sdf", "--out", "x.deft.yaml", code=2)
    assert "no joint that could be driven" in done.stderr


def test_what_is_there_stays(deft, tmp_path):
    (tmp_path / "x.deft.yaml").write_text("mine")
    assert "is there already" in deft.run("new", "iiwa", "--out", "x.deft.yaml", code=2).stderr
    assert (tmp_path / "x.deft.yaml").read_text() == "mine"
    deft.run("new", "iiwa", "--out", "x.deft.yaml", "--force")
    assert "iiwa7" in (tmp_path / "x.deft.yaml").read_text()
