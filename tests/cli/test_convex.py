"""Concave meshes: convex parts from `deft model convex`, from scenes and from SDFormat; a ball lies in a trough that a hull would fill."""

import json
from pathlib import Path

import h5py
import pytest

# A trough 0.2 long (x), 0.1 high (z), with a slot from x = 0.05 to 0.15 down to z = 0.03, from y = 0 to 0.1.
PROFILE = [(0, 0), (0.2, 0), (0.2, 0.1), (0.15, 0.1), (0.15, 0.03), (0.05, 0.03), (0.05, 0.1), (0, 0.1)]
INSIDE = [(1, 2, 3), (1, 3, 4), (0, 1, 4), (0, 4, 5), (0, 5, 6), (0, 6, 7)]
VOLUME = (0.2 * 0.1 - 0.1 * 0.07) * 0.1


def trough() -> str:
    n = len(PROFILE)
    lines = [f"v {x} {y} {z}" for y in (0.1, 0) for x, z in PROFILE]
    faces = [face for a, b, c in INSIDE for face in ((a, c, b), (n + a, n + b, n + c))]
    for i in range(n):
        j = (i + 1) % n
        faces += [(i, j, n + j), (i, n + j, n + i)]
    return "\n".join(lines + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces]) + "\n"


SCENE = """
deft: 1
name: trough
bodies:
  trough: {TROUGH}
  ball: {shape: {sphere: {radius: 0.02}}, mass: 0.1, joint: {translation: z}, pose: {translation: [0.1, 0.05, 0.08]}, mu: 0.5}
gravity: [0, 0, -10]
step: {h: 0.05}
"""
FROM_SDF = """<sdf version="1.11"><model name="trough"><static>1</static><link name="trough"><collision name="c"><geometry>
<mesh optimization="convex_decomposition"><uri>trough.obj</uri><convex_decomposition><max_convex_hulls>8</max_convex_hulls></convex_decomposition></mesh>
</geometry></collision></link></model></sdf>"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("DEFT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "trough.obj").write_text(trough())
    return tmp_path


def lowest(deft, folder: Path, scene: str) -> float:
    """Height of the ball's middle after two seconds."""
    (folder / "scene.deft.yaml").write_text(scene)
    assert deft.json("sim", "scene.deft.yaml", "--duration", 2, "--out", "run", "--force")["status"] == "Completed"
    with h5py.File(folder / "run/run.h5") as run:
        return 0.08 + float(run["q"][-1, list(run.attrs["names_q"]).index("ball/z")])


def test_a_ball_falls_into_a_decomposed_trough(deft, folder):
    body = "{shape: {mesh: {file: trough.obj, decompose: true}}, joint: fixed, mu: 0.5}"
    assert lowest(deft, folder, SCENE.replace("{TROUGH}", body)) == pytest.approx(0.05, abs=1e-3)
    assert lowest(deft, folder, SCENE.replace("{TROUGH}", body.replace(", decompose: true", ""))) > 0.1  # pushed out of the hull


def test_a_model_file_may_ask_for_parts(deft, folder):
    (folder / "trough.sdf").write_text(FROM_SDF)
    scene = SCENE.replace("bodies:\n  trough: {TROUGH}", "directives: [{add_model: {name: trough, file: trough.sdf}}]\nbodies:")
    assert lowest(deft, folder, scene) == pytest.approx(0.05, abs=1e-3)


def test_the_command_makes_an_object_and_a_picture(deft, folder):
    made = deft.json("model", "convex", "trough.obj", "--out", "parts", "--density", 500)
    assert 3 <= made["parts"] <= 5
    assert made["mesh_volume_m3"] == pytest.approx(VOLUME, rel=1e-5)
    assert made["parts_volume_m3"] == pytest.approx(VOLUME, rel=1e-3)
    assert made["hull_volume_m3"] == pytest.approx(0.2 * 0.1 * 0.1, rel=1e-5)
    assert made["hausdorff_m"] < 1e-4
    assert all((folder / file).is_file() for file in made["files"])
    assert "trough_002.obj" in (folder / "parts/trough.sdf").read_text()
    info = deft.json("info", "parts/trough.sdf")
    body = next(b for b in info["bodies"] if b["name"] == "trough/trough")
    assert body["mass"] == pytest.approx(500 * VOLUME, rel=1e-3)
    assert body["com_B"][:2] == pytest.approx([0.1, 0.05], abs=1e-4)
    assert "trough_002" in (folder / "parts/trough.deft.yaml").read_text()
    assert (folder / "parts/trough.html").stat().st_size > 100_000  # the page with the meshes inside
    again = deft.run("model", "convex", "trough.obj", "--out", "parts", code=2)
    assert "the folder is not empty" in again.stderr


def test_a_folder_of_other_things_keeps_them(deft, folder):
    (folder / "config.yaml").write_text("mine")
    made = deft.json("model", "convex", "trough.obj", "--out", ".", "--force")
    assert (folder / "config.yaml").read_text() == "mine" and made["parts"] > 1
    (folder / "a, b&c.obj").write_text(trough())
    deft.json("model", "convex", "a, b&c.obj", "--out", "odd")
    assert (folder / "odd/a__b_c.sdf").is_file()
    assert deft.json("check", "odd/a__b_c.sdf")["errors"] == []


def test_the_number_of_parts_is_bounded(deft, folder):
    assert deft.json("model", "convex", "trough.obj", "--parts", 2, "--out", "parts")["parts"] <= 2


def test_a_mesh_has_the_inertia_of_what_it_encloses(deft, folder):
    scene = "deft: 1\nbodies: {trough: {shape: {mesh: {file: trough.obj}}, mass: 2, joint: free, mu: 0.5}}\n"
    (folder / "scene.deft.yaml").write_text(scene)
    body = next(b for b in deft.json("info", "scene.deft.yaml")["bodies"] if b["name"] == "trough")
    # Two blocks: the whole, and the slot taken away.
    density = 2 / VOLUME
    whole, slot = density * 0.2 * 0.1 * 0.1, density * 0.1 * 0.07 * 0.1
    z = (whole * 0.05 - slot * 0.065) / 2
    Iyy = whole * ((0.2**2 + 0.1**2) / 12 + (0.05 - z) ** 2) - slot * ((0.1**2 + 0.07**2) / 12 + (0.065 - z) ** 2)
    assert body["mass"] == pytest.approx(2, rel=1e-9)
    assert body["com_B"] == pytest.approx([0.1, 0.05, z], abs=1e-6)
    assert body["inertia_B"][1] == pytest.approx(Iyy, rel=1e-5)


@pytest.mark.parametrize(
    ("decompose", "message"),
    [
        ("{parts: 0}", "mesh decompose parts"),
        ("{concavity: 2}", "a number from 0.01 to 1"),
        ("{pieces: 3}", "parts"),
        ("maybe", "mesh decompose"),
    ],
)
def test_bad_settings_are_refused(deft, folder, decompose, message):
    body = f"{{shape: {{mesh: {{file: trough.obj, decompose: {decompose}}}}}, joint: fixed, mu: 0.5}}"
    (folder / "scene.deft.yaml").write_text(SCENE.replace("{TROUGH}", body))
    done = deft.run("check", "scene.deft.yaml", "--json", code=2)
    errors = json.loads(done.stdout)["errors"]
    assert len(errors) == 1 and message in errors[0]["message"] and errors[0]["line"] == 5


def test_without_coacd_the_error_says_how_to_get_it(deft, folder, monkeypatch):
    monkeypatch.setenv("DEFT_COACD_PYTHON", str(folder / "nothing"))
    done = deft.run("model", "convex", "trough.obj", "--out", "parts", code=2)
    assert "python -m pip install coacd==" in done.stderr
    assert not (folder / "parts").exists()


def test_what_is_no_mesh_is_refused_by_name(deft, folder):
    (folder / "text.obj").write_text("nothing\n")
    done = deft.run("model", "convex", "text.obj", "--out", "parts", code=2)
    assert "text.obj" in done.stderr and not (folder / "parts").exists()
