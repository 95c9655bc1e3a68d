"""Robots whose base floats, and objects that a robot's file brings along."""

import math

import pytest

FINGER = """<body name="finger" pos="-0.2 0 0.05">
      <inertial pos="0 0 0" mass="0.2" diaginertia="1e-4 1e-4 1e-4"/>
      <joint name="x" type="slide" axis="1 0 0" range="-1 1"/><joint name="y" type="slide" axis="0 1 0" range="-1 1"/>
      <geom name="tip" type="sphere" size="0.03" friction="0.5"/>
    </body>"""
DIE = """<body name="die" pos="0 0 0.05"><freejoint/>
      <geom name="die" type="box" size="0.05 0.05 0.05" mass="0.5" friction="0.5"/></body>"""
TABLE = f"""<mujoco model="table"><worldbody>{FINGER}{DIE}</worldbody>
  <actuator><position joint="x" kp="500"/><position joint="y" kp="500"/></actuator></mujoco>"""
LEG = """<body name="{0}" pos="{1} {2} 0"><joint name="{0}" axis="0 1 0" range="-1 1"/>
        <geom name="{0}" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.3"/></body>"""
LEGS = [("fl", 0.18, 0.1), ("fr", 0.18, -0.1), ("hl", -0.18, 0.1), ("hr", -0.18, -0.1)]
BEAST = f"""<mujoco model="beast"><compiler angle="radian"/><worldbody><body name="trunk" pos="0 0 0.4">FREE
      <geom name="trunk" type="box" size="0.2 0.1 0.05" mass="4"/>{"".join(LEG.format(*leg) for leg in LEGS)}</body></worldbody>
  <actuator>{"".join(f'<position joint="{leg[0]}" kp="60"/>' for leg in LEGS)}</actuator></mujoco>"""
FREE = "<freejoint name='free'/>"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "table.xml").write_text(TABLE)


@pytest.fixture
def beast(tmp_path):
    (tmp_path / "beast.xml").write_text(BEAST.replace("FREE", FREE))


def test_a_robot_pushes_what_its_file_brings(deft, table):
    made = deft.json("new", "table.xml", "--out", "t.deft.yaml", "--goal", "move 0.1 0 0")
    assert (made["joints"], made["objects"], made["steps"]) == (2, 1, "Solved")
    assert deft.json("check", "t.deft.yaml") == {"errors": [], "warnings": []}
    start = deft.json("info", "t.deft.yaml")
    assert next(b for b in start["bodies"] if b["name"] == "table/die")["position"] == pytest.approx([0, 0, 0.05])
    found = deft.json("plan", "t.deft.yaml", "--seed", 1, "--out", "plan")
    assert found["success"] and found["goal_error"]["position_m"] < 0.01
    played = deft.json("replay", "plan", "--plant", "mujoco", "--out", "played")
    assert played["status"] == "Completed" and played["final_error"]["position_m"] < 0.01
    deft.run("export", "t.deft.yaml", "--to", "mjcf", "--out", "exported")
    again = deft.json("info", "exported/table.xml")
    assert {b["name"] for b in again["bodies"]} >= {"table/table/die", "table/table/finger"}


def test_drives_go_where_a_format_does_not_hold_them(deft, tmp_path):
    (tmp_path / "table.xml").write_text(TABLE.replace(DIE, ""))
    deft.json("new", "table.xml", "--out", "t.deft.yaml")
    deft.run("export", "t.deft.yaml", "--to", "urdf", "--out", "urdf")
    overlay = next((tmp_path / "urdf").glob("*.deft.yaml"))
    assert "stiffness: [500, 500]" in overlay.read_text()
    assert deft.json("check", overlay)["errors"] == []


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("table/dice: {position: [0, 0, 0]}", "there is no model 'table/dice'; did you mean 'table/die'?"),
        ("table/die: {w: 1}", "w"),
        ("table: {position: [0, 0, 0]}", "'table' is not a free body"),
    ],
)
def test_free_bodies_are_named_apart(deft, table, tmp_path, key, error):
    scene = """deft: 1
directives: [{{add_model: {{name: table, file: table.xml}}}}]
robots: [{{name: table}}]
configurations: {{start: {{{0}}}}}
initial: start
gravity: [0, 0, -9.81]
step: {{h: 0.1}}
"""
    (tmp_path / "t.deft.yaml").write_text(scene.format("table/die: {x: 0.3, position: [0, 0, 1]}"))
    q = deft.json("sim", "t.deft.yaml", "--steps", 1, "--out", "run")["q"]
    assert q["table/die/x"] == pytest.approx(0.3) and q["table/die/z"] == pytest.approx(1 - 9.81 * 0.01)
    (tmp_path / "t.deft.yaml").write_text(scene.format(key))
    assert error in deft.run("check", "t.deft.yaml", code=2).stdout + deft.run("sim", "t.deft.yaml", code=2).stderr


def test_a_robot_that_floats_stands_on_its_legs(deft, beast):
    made = deft.json("new", "beast.xml", "--out", "b.deft.yaml")
    assert (made["joints"], made["objects"], made["steps"], made["warnings"]) == (4, 0, "Solved", 0)
    assert deft.json("check", "b.deft.yaml") == {"errors": [], "warnings": []}
    run = deft.json("sim", "b.deft.yaml", "--duration", 2, "--out", "run")
    assert run["q"]["beast/z"] == pytest.approx(0.22, abs=1e-4) and run["q"]["beast/qw"] == pytest.approx(1, abs=1e-6)
    played = deft.json("replay", "run", "--plant", "mujoco", "--out", "played")
    assert played["status"] == "Completed" and played["final_error"]["position_m"] < 1e-3


def test_names_are_quoted_where_yaml_asks_for_it(deft, table, tmp_path):
    (tmp_path / "table.xml").write_text(TABLE.replace('name="die" pos', 'name="red die #1" pos'))
    assert deft.json("new", "table.xml", "--out", "t.deft.yaml", "--goal", "lift 0.1")["steps"] == "Solved"
    assert '"table/red die #1": {position' in (tmp_path / "t.deft.yaml").read_text()


def test_goals_are_about_objects(deft, beast, tmp_path):
    deft.json("new", "beast.xml", "--out", "b.deft.yaml")
    with (tmp_path / "b.deft.yaml").open("a") as file:
        file.write("goals: {there: {beast: {position: [1, 0, 0.2]}}}\n")
    assert "'beast' is not an object" in deft.run("plan", "b.deft.yaml", code=2).stderr


def test_a_base_is_fixed_or_floats_as_one_likes(deft, beast, table, tmp_path):
    deft.json("new", "beast.xml", "--base", "fixed", "--out", "b.deft.yaml")
    assert "add_weld" in (tmp_path / "b.deft.yaml").read_text()
    assert set(deft.json("sim", "b.deft.yaml", "--steps", 2, "--out", "run")["q"]) == {f"beast/{leg[0]}" for leg in LEGS}
    (tmp_path / "fixed.xml").write_text(BEAST.replace("FREE", ""))
    assert "cannot float" not in deft.run("new", "fixed.xml", "--base", "fixed", "--out", "f.deft.yaml").stderr
    assert "fixed to the world by its file" in deft.run("new", "table.xml", "--base", "floating", "--out", "c.deft.yaml", code=2).stderr
    assert deft.json("new", "allegro", "--base", "floating", "--out", "hand.deft.yaml")["hand"]
    assert "floating" in deft.run("new", "beast.xml", "--base", "loose", "--out", "c.deft.yaml", code=2).stderr


def test_legs_that_bend_lower_a_robot_that_floats(deft, beast, tmp_path):
    """All four hips turn by 0.3 rad: the feet slide back under the trunk, which sinks by what the legs lose."""
    deft.json("new", "beast.xml", "--out", "b.deft.yaml")
    text = (tmp_path / "b.deft.yaml").read_text()
    knots = ", ".join(f"{leg[0]}: {0.3 if leg[1] > 0 else -0.3}" for leg in LEGS)
    (tmp_path / "b.deft.yaml").write_text(
        text + f"commands: {{interpolation: linear, knots: [{{t: 0, beast: 0}}, {{t: 2, beast: {{{knots}}}}}]}}\n"
    )
    run = deft.json("sim", "b.deft.yaml", "--duration", 3, "--out", "run")
    hip = abs(run["q"]["beast/fl"])
    assert hip > 0.2
    assert run["q"]["beast/z"] == pytest.approx(0.02 + 0.2 * math.cos(hip), abs=1e-4)
