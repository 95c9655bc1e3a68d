"""The household objects of scenes/objects: up to date, loaded without a word, and at rest where they stand or lie."""

import subprocess
import sys

import pytest

NAMES = ["ball", "banana", "bottle", "bowl", "box", "clamp", "cylinder", "drill", "hammer", "mug", "scissors", "screwdriver", "toy_plane"]
SCENE = """
deft: 1
directives: [{add_model: {name: thing, file: "package://deft_scenes/objects/NAME.sdf"}}]
bodies: {ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}}
gravity: [0, 0, -9.81]
step: {h: 0.05}
configurations: {start: {thing: {position: [0, 0, 0.15]}}}
initial: start
"""


def test_files_are_those_of_the_generator(root):
    done = subprocess.run([sys.executable, root / "tools/make_objects.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert sorted(f.stem for f in (root / "scenes/objects").glob("*.sdf")) == NAMES
    assert sum(f.stat().st_size for f in (root / "scenes/objects").rglob("*") if f.is_file()) < 1e6


@pytest.mark.parametrize("name", NAMES)
def test_an_object_falls_and_comes_to_rest(deft, tmp_path, name):
    (tmp_path / "scene.deft.yaml").write_text(SCENE.replace("NAME", name))
    assert deft.json("check", "scene.deft.yaml") == {"errors": [], "warnings": []}
    early = deft.json("sim", "scene.deft.yaml", "--duration", 3, "--out", "early")["q"]
    late = deft.json("sim", "scene.deft.yaml", "--duration", 4, "--out", "late")["q"]
    assert 0.001 < late["thing/z"] < 0.15
    assert all(abs(late[f"thing/{axis}"] - early[f"thing/{axis}"]) < 1e-3 for axis in "xyz")


def test_a_mug_has_a_hollow_and_a_handle(deft, tmp_path):
    """A small ball put into the mug stays at its bottom; a rod through the handle carries it."""
    bodies = SCENE.replace("NAME", "mug").replace(
        "joint: fixed, mu: 0.5}}",
        "joint: fixed, mu: 0.5}, pea: {shape: {sphere: {radius: 0.01}}, mass: 0.01, joint: free, mu: 0.5}}",
    )
    (tmp_path / "scene.deft.yaml").write_text(bodies.replace("0.15]}}}", "0.05]}, pea: {position: [-0.02, 0, 0.09]}}}"))
    q = deft.json("sim", "scene.deft.yaml", "--duration", 2, "--out", "run")["q"]
    assert q["pea/z"] == pytest.approx(0.006 + 0.01, abs=2e-3)  # on the floor of the mug, 6 mm thick

    rod = SCENE.replace("NAME", "mug").replace("half_space: {normal: [0, 0, 1], offset: 0}", "capsule: {radius: 0.004, length: 0.3}")
    rod = rod.replace(
        "joint: fixed, mu: 0.5", "joint: fixed, mu: 1, pose: {translation: [0.035, 0, 0.15], rotation: !Rpy {deg: [90, 0, 0]}}"
    )
    (tmp_path / "rod.deft.yaml").write_text(rod)
    q = deft.json("sim", "rod.deft.yaml", "--duration", 5, "--out", "rod")["q"]
    assert 0 < q["thing/z"] < 0.15  # it hangs; without the rod it would be metres below
