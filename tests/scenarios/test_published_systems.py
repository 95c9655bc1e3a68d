"""Systems written in the style of the published q_sys files load, and `deft info` agrees with the published table."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml
from scene_runs import deft_json, scene_file

TABLE = yaml.safe_load(Path(__file__).with_name("published_systems.yaml").read_text())
GHOST_MASS_KG = 1e-5  # bodies between stacked slides weigh 1e-6 kg each


def number(value):
    """A number of deft's JSON, where infinity is a string."""
    return float(value) if isinstance(value, str) else value


def test_the_table_names_every_file(root):
    files = {path.stem for path in (root / "scenes" / "published" / "q_sys").glob("*.yml")}
    assert files == set(TABLE)


@pytest.mark.parametrize("name", TABLE)
def test_info_agrees_with_the_table(name, root, deft):
    expected = TABLE[name]
    done = subprocess.run([deft, "info", "--json", root / "scenes" / "published" / "q_sys" / f"{name}.yml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    info = json.loads(done.stdout)
    assert [info["nq_u"], info["nq_a"]] == expected["n"]
    assert info["nu"] == info["nq_a"] and info["nq"] == sum(expected["n"])
    stiffness = [
        [Kp] * len(robot["joints"]) if isinstance(Kp, int) else Kp for robot, Kp in zip(info["robots"], expected["Kp"], strict=True)
    ]
    assert [robot["stiffness"] for robot in info["robots"]] == stiffness
    assert [body["mass"] for body in info["objects"]] == pytest.approx(expected["mass"], abs=GHOST_MASS_KG)
    settings = info["settings"]
    assert settings["gravity"] == pytest.approx([0, 0, expected["gravity_z"]])
    assert settings["dynamics"] == "quasidynamic"
    assert settings["h"] is None
    assert settings["rays"] == expected["rays"]
    assert number(settings["contact_margin"]) == expected["margin"]
    assert settings["unactuated_mass_scale"] == expected["scale"]
    assert settings["kappa"] is None


def test_a_system_with_an_overlay_moves_as_the_bundled_scene(root, deft, tmp_path):
    published = root / "scenes" / "published"
    overlaid = [published / "q_sys" / "ball_grazing_2d.yml", "--with", published / "overlays" / "ball_grazing_2d.yaml"]
    ends = [
        deft_json(deft, "sim", *scene, "--out", tmp_path / name)["q"]
        for name, scene in (("scene", [scene_file("ball_grazing")]), ("system", overlaid))
    ]
    assert ends[1] == pytest.approx(ends[0], abs=1e-12)
    assert ends[0]["box/y"] > 0.04
