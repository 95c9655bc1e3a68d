"""step.friction_law: Coulomb's law in scenes, end to end."""

import h5py
import numpy as np
import pytest

SCENE = """
deft: 1
name: slide
bodies:
  ground: {{shape: {{half_space: {{normal: [0, 0, 1], offset: 0}}}}, joint: fixed, mu: 0.5}}
  box: {{shape: {{box: {{size: [0.2, 0.2, 0.02]}}}}, mass: 2, inertia: [0.01, 0.01, 0.02], joint: free, mu: 0.5}}
gravity: [8, 0, -10]
step: {{h: 0.1, cone: {cone}, contact_margin: 0.02}}
configurations:
  start: {{box: {{position: [0, 0, 0.01]}}}}
initial: start
"""


@pytest.mark.parametrize("cone", ["pyramid", "cone"])
def test_a_box_slides_down_without_separating(deft, tmp_path, cone):
    """From rest at every step: 16 N along the plane against 10 N of friction, δ = h² · 3 m/s²."""
    (tmp_path / "slide.deft.yaml").write_text(SCENE.format(cone=cone))
    for law, opened in (("coulomb", 0.0), ("associated", 1e-3)):
        summary = deft.json("sim", "slide.deft.yaml", "--steps", 5, "--set", f"step.friction_law={law}", "--out", law)
        assert summary["status"] == "Completed" and summary["residual_max"] <= 1e-8
        with h5py.File(tmp_path / law / "run.h5") as run:
            gaps = run["contacts/boundary_gap"][:]
            force = np.add.reduceat(run["contacts/force_W"][:], run["contacts/offset"][:-1], axis=0)
            q = run["q"][:]
        assert (gaps.max() > opened) == (law == "associated")
        if law == "coulomb":
            assert np.abs(q[:, 6] - 0.01).max() <= 1e-8 and q[-1, 4] == pytest.approx(5 * 0.03, abs=1e-8)
            assert np.abs(np.abs(force) - [10, 0, 20]).max() <= 1e-5


def test_it_is_among_the_settings(deft, tmp_path):
    (tmp_path / "slide.deft.yaml").write_text(SCENE.format(cone="cone"))
    assert deft.json("info", "slide.deft.yaml")["settings"]["friction_law"] == "associated"
    settings = deft.json("info", "slide.deft.yaml", "--set", "step.friction_law=coulomb")["settings"]
    assert settings["friction_law"] == "coulomb"


@pytest.mark.parametrize(
    "command, settings, message",
    [
        ("sim", ["step.friction_law=columb"], "step.friction_law: "),
        (
            "sim",
            ["step.friction_law=coulomb", "step.compliance=1e-6"],
            "step.friction_law: coulomb is for rigid contact, but step.compliance is 1e-06",
        ),
    ],
)
def test_what_it_does_not_go_with_is_refused(deft, tmp_path, command, settings, message):
    (tmp_path / "slide.deft.yaml").write_text(SCENE.format(cone="cone"))
    arguments = [part for setting in settings for part in ("--set", setting)]
    assert message in deft.run(command, "slide.deft.yaml", *arguments, code=2).stderr
