"""deft export: files of each format, what stays out of them, folders that are not ours."""

import pytest

FIRST = {"mjcf": "push.xml", "sdf": "push.deft.yaml", "directives": "push.dmd.yaml", "urdf": "push.deft.yaml"}


@pytest.fixture
def scene(root):
    return root / "scenes/planning/push_on_table.deft.yaml"


@pytest.mark.parametrize("to", FIRST)
def test_every_format_says_what_it_wrote(deft, scene, tmp_path, to):
    found = deft.json("export", scene, "--to", to, "--out", "out", "--set", "name=push")
    assert list(found) == ["files", "notes"]
    assert found["files"][0] == f"out/{FIRST[to]}" and all((tmp_path / file).is_file() for file in found["files"])
    left_out = [note for note in found["notes"] if "push.deft.yaml" in note]
    assert len(left_out) == (0 if to == "mjcf" else 1)
    if to != "mjcf":
        assert deft.json("check", "out/push.deft.yaml")["errors"] == []


def test_it_prints_notes_and_the_file_to_open(deft, scene):
    done = deft.run("export", scene, "--to", "urdf", "--out", "out")
    assert "wrote out/" in done.stdout and "note: URDF has no half-spaces" in done.stderr
    assert "note" not in deft.run("export", scene, "--to", "urdf", "--out", "quiet", "--quiet").stderr


def test_a_folder_that_is_not_empty_is_kept(deft, scene, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    assert "--force" in deft.run("export", scene, "--to", "mjcf", "--out", "mine", code=2).stderr
    deft.run("export", scene, "--to", "mjcf", "--out", "mine", "--force")
    assert (tmp_path / "mine/notes.txt").read_text() == "mine"
    assert "mjcf" in deft.run("export", scene, "--to", "usd", "--out", "other", code=2).stderr
    assert not (tmp_path / "other").exists()


def test_what_urdf_cannot_hold_is_refused_by_name(deft, tmp_path):
    (tmp_path / "balls.xml").write_text(
        '<mujoco model="balls"><worldbody><body name="post"><geom size="0.1"/><body name="head" pos="0 0 0.2"><joint name="neck" type="ball"/>'
        '<geom size="0.1"/></body></body></worldbody></mujoco>'
    )
    refused = deft.run("export", "balls.xml", "--to", "urdf", "--out", "out", code=2).stderr
    assert "ball joint 'neck'" in refused and "mjcf" in refused
