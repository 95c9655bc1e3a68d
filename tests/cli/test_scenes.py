"""deft info and deft check: the tables to the letter."""

import os
import shutil
import subprocess

import pytest
from conftest import parse

INFO_KEYS = ["name", "nq", "nv", "nu", "q", "nq_u", "nq_a", "bodies", "joints", "robots", "objects", "settings", "contacts"]
SETTINGS_KEYS = ["gravity", "h", "model", "dynamics", "cone", "rays", "kappa", "contact_margin", "unactuated_mass_scale", "friction_law"]


def test_info_of_a_scene(deft, pushed_ball):
    info = deft.json("info", pushed_ball)
    assert list(info) == INFO_KEYS
    assert (info["name"], info["nq"], info["nv"], info["nu"], info["nq_u"], info["nq_a"]) == ("pushed_ball", 10, 9, 3, 7, 3)
    names = ["ball/qw", "ball/qx", "ball/qy", "ball/qz", "ball/x", "ball/y", "ball/z", "hand/x", "hand/y", "hand/z"]
    assert [q["name"] for q in info["q"]] == names
    assert [q["index"] for q in info["q"]] == list(range(10))
    assert info["q"][9] == {"index": 9, "name": "hand/z", "unit": "m", "lower": "-inf", "upper": "inf"}
    assert info["robots"] == [{"name": "hand", "joints": ["hand/x", "hand/y", "hand/z"], "stiffness": [500, 500, 500]}]
    assert info["objects"] == [{"name": "ball", "nq": 7, "nv": 6, "mass": 1}]
    assert [body["name"] for body in info["bodies"]] == ["world", "table", "ball", "hand"]
    ball = info["bodies"][2]
    assert (ball["mass"], ball["parent"], ball["fixed"]) == (1, None, False)
    assert ball["com_B"] == [0, 0, 0] and ball["inertia_B"][3:] == [0, 0, 0] and ball["inertia_B"][0] > 0
    assert info["bodies"][1]["fixed"] and info["bodies"][1]["parent"] == "world"
    slide = info["joints"][-1]
    assert (slide["name"], slide["type"], slide["child"], slide["axis"]) == ("hand/z", "prismatic", "hand", [0, 0, 1])
    assert [g["kind"] for g in info["bodies"][2]["geometries"]] == ["sphere"]
    assert info["bodies"][2]["geometries"][0]["mu"] == 0.5
    assert list(info["settings"]) == SETTINGS_KEYS
    assert info["settings"] == {
        "gravity": [0, 0, -9.81],
        "h": 0.1,
        "model": "convex",
        "dynamics": "quasidynamic",
        "cone": "pyramid",
        "rays": 4,
        "kappa": None,
        "contact_margin": 0.025,
        "unactuated_mass_scale": None,
        "friction_law": "associated",
    }
    (contact,) = info["contacts"]
    assert {contact["a"], contact["b"]} == {"table", "ball"}
    assert abs(contact["gap"]) < 1e-12 and contact["mu"] == 0.5
    # The normal points from b to a.
    assert contact["normal"] == pytest.approx([0, 0, 1 if contact["a"] == "ball" else -1], abs=1e-12)
    assert contact["point"] == pytest.approx([0, 0, 0], abs=1e-12)


def test_info_shows_limits_of_joints_where_some_are_stated(deft, pushed_ball):
    robots = "robots=[{name: hand, stiffness: 500, velocity_limit: {x: 0.2}, effort_limit: 30}]"
    (hand,) = deft.json("info", pushed_ball, "--set", robots)["robots"]
    assert hand["velocity_limit"] == [0.2, "inf", "inf"] and hand["effort_limit"] == [30, 30, 30]
    for value in ("0", "-1", ".nan", "fast", "[1, 2]"):
        done = deft.run("info", pushed_ball, "--set", f"robots=[{{name: hand, stiffness: 500, velocity_limit: {value}}}]", code=2)
        assert "velocity_limit of 'hand'" in done.stderr, done.stderr


def test_options_override_the_scene_and_the_last_one_wins(deft, pushed_ball, tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("step: {h: 0.3, kappa: 50, rays: 8}\n")
    arguments = ["info", pushed_ball, "--with", overlay]
    settings = deft.json(*arguments)["settings"]
    assert (settings["h"], settings["kappa"], settings["rays"]) == (0.3, 50, 8)
    settings = deft.json(*arguments, "--set", "step.h=0.2", "--set", "step.kappa=.inf")["settings"]
    assert (settings["h"], settings["kappa"]) == (0.2, None)
    settings = deft.json(*arguments, "--set", "step.h=0.2", "--h", 0.05, "--kappa", 1e3)["settings"]
    assert (settings["h"], settings["kappa"]) == (0.05, 1000)
    assert deft.json("info", pushed_ball, "--kappa", "inf", "--set", "step.contact_margin=.inf")["settings"]["contact_margin"] == "inf"


def test_absent_settings_are_null(deft, falling_ball):
    falling_ball.write_text(falling_ball.read_text().replace("step: {h: 0.1}", ""))
    info = deft.json("info", falling_ball)
    assert info["settings"]["h"] is None
    assert info["robots"] == [] and info["contacts"] == []


def test_info_for_people_names_what_there_is(deft, pushed_ball):
    text = deft.run("info", pushed_ball).stdout
    for word in ["pushed_ball", "hand/x", "ball/qw", "table", "contact_margin", "contacts at the start (1)"]:
        assert word in text


def test_settings_are_listed_with_unit_range_and_default(deft):
    text = deft.run("info", "--settings").stdout
    for word in ["step.h", "step.kappa", "[s]", "default", "range"]:
        assert word in text
    assert "step.rays" in deft.json("info", "--settings")["settings"]


def test_every_bundled_scene_loads(deft, scenes):
    files = sorted(scenes.glob("*/scene.deft.yaml"))
    assert len(files) >= 15
    assert deft.json("check", *files)["errors"] == []
    for file in files:
        info = deft.json("info", file)
        assert info["nq"] == len(info["q"]) == info["nq_u"] + info["nq_a"]
        assert info["nu"] == sum(len(robot["joints"]) for robot in info["robots"])


def test_check_reports_all_errors_at_their_places(deft, pushed_ball):
    text = pushed_ball.read_text().replace("radius: 0.1", "radius: -1") + "grvity: [0, 0, 0]\n"
    pushed_ball.write_text(text)
    lines = text.splitlines()
    found = deft.json("check", pushed_ball, code=2)
    assert list(found) == ["errors", "warnings"]
    assert {error["line"] for error in found["errors"]} == {len(lines), 1 + next(i for i, line in enumerate(lines) if "radius: -1" in line)}
    for error in found["errors"]:
        assert list(error) == ["file", "line", "column", "message", "kind", "severity", "cure"]
        assert (error["kind"], error["severity"]) == ("file", "error")
        assert error["file"] == str(pushed_ball) and error["column"] >= 1
    people = deft.run("check", pushed_ball, code=2).stdout
    assert f"{pushed_ball}:{len(lines)}:1: error: " in people and "2 errors" in people


def test_check_passes_warnings_unless_strict(deft, pushed_ball):
    pushed_ball.write_text(pushed_ball.read_text().replace("joint: free, mu: 0.5", "joint: free"))
    found = deft.json("check", pushed_ball)
    assert found["errors"] == [] and len(found["warnings"]) == 1
    assert "0.5" in found["warnings"][0]["message"]
    strict = deft.json("check", pushed_ball, "--strict", code=2)
    assert strict["warnings"] == [] and strict["errors"] == [{**found["warnings"][0], "severity": "error"}]


def test_check_takes_several_files_and_goes_on_after_a_bad_one(deft, pushed_ball, tmp_path):
    (tmp_path / "bad.yaml").write_text("deft: 1\nbodies: [\n")
    found = deft.json("check", tmp_path / "none.yaml", tmp_path / "bad.yaml", pushed_ball, code=2)
    assert {error["file"].rsplit("/")[-1] for error in found["errors"]} == {"none.yaml", "bad.yaml"}


def test_doctor_finds_the_libraries_once(deft):
    found = deft.json("doctor")
    assert list(found)[:5] == ["version", "prefix", "libraries", "isa", "ok"]
    assert found["ok"] is True and found["problems"] == []
    assert found["version"] and found["isa"] in ("baseline", "avx2", "avx512")
    by_name = {library["name"]: library for library in found["libraries"]}
    for name in ["libpinocchio_default", "libcoal", "libdeft"]:
        assert list(by_name[name]) == ["name", "path", "version"]
        assert by_name[name]["path"].startswith("/")
    assert by_name["libpinocchio_default"]["path"].startswith(found["prefix"])
    assert deft.run("doctor").stdout.endswith("ok\n")


def test_doctor_lists_the_simulators_that_plants_are_made_of(deft, monkeypatch):
    monkeypatch.setenv("DEFT_DRAKE_PYTHON", "/bin/false")
    monkeypatch.setenv("DEFT_MUJOCO_LIBRARY", "/nowhere/libmujoco.so.4.0.0")
    found = {entry["name"]: entry for entry in deft.json("doctor")["simulators"]}
    assert list(found) == ["mujoco", "drake"]
    for name, line in (("mujoco", "pip install mujoco-core"), ("drake", "pip install drake")):
        assert list(found[name]) == ["name", "version", "place", "missing"]
        assert found[name]["version"] is None and found[name]["place"] is None and line in found[name]["missing"]


def test_doctor_sees_a_library_that_shadows_the_prefix(deft, tmp_path):
    library = next(library for library in deft.json("doctor")["libraries"] if library["name"] == "libtinyxml2")
    copy = tmp_path / library["path"].rsplit("/")[-1]
    shutil.copy(library["path"], copy)
    done = subprocess.run([deft.binary, "doctor", "--json"], env={**os.environ, "LD_PRELOAD": str(copy)}, capture_output=True, text=True)
    found = parse(done.stdout)
    assert done.returncode == 1 and found["ok"] is False
    assert f"{copy} shadows {library['path']}" in found["problems"]


def test_packages_are_looked_up_in_folders_that_are_named(deft):
    """`package://` of a model file; the folder of a package is named on the command line or not known."""
    meshes, model = deft.folder / "elsewhere/wedges/meshes", deft.folder / "wedge.urdf"
    meshes.mkdir(parents=True)
    corners = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\n"
    (meshes / "wedge.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    model.write_text("""<robot name="wedge"><link name="wedge"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="package://wedges/meshes/wedge.obj"/></geometry></collision></link></robot>""")
    missing = deft.run("check", model, code=2)
    assert "wedges" in missing.stdout + missing.stderr
    assert "0 errors" in deft.run("check", model, "--package-path", deft.folder / "elsewhere").stdout
    assert "0 errors" in deft.run("check", model, "--package-path", deft.folder, "--package-path", "elsewhere").stdout


@pytest.mark.parametrize("name, text", [("scene.deft.yaml", "deft: 1\nname: G\u00e4nger\n"), ("model.urdf", '<robot name="x">\n<link name="G\u00e4nger"/></robot>'),
                                        ("model.sdf", '<sdf version="1.7">\n<model name="G\u00e4nger"/></sdf>')])  # fmt: skip
def test_text_that_is_not_utf8_is_refused_at_its_place(deft, name, text):
    file = deft.folder / name
    file.write_bytes(text.encode("latin-1"))
    done = deft.run("check", file, code=2)
    column = text.splitlines()[1].index("\u00e4") + 1
    assert f"{name}:2:{column}: error: is not text in UTF-8 (byte 0xE4)" in done.stdout + done.stderr
