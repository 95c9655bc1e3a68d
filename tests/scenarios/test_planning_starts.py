"""Scenes to plan for whose objects have weight: they lie still at the start, in steps of first and of second order."""

import pytest
from scene_runs import SCENES, SceneRun, deft_json

WEIGHTY = ("push_on_table", "cylinder_on_table", "pen_in_hand", "allegro_ball", "bimanual_box", "book_pivot")


@pytest.mark.parametrize("order", [("--duration", "1"), ("--duration", "1", "--model", "convex-second-order", "--h", "0.01")])
@pytest.mark.parametrize("name", WEIGHTY)
def test_objects_lie_still(deft, tmp_path, name, order):
    scene = SCENES / f"planning/{name}.deft.yaml"
    run = SceneRun(name, deft_json(deft, "info", scene), deft_json(deft, "sim", scene, "--out", tmp_path / "run", *order), tmp_path / "run")
    assert run.summary["status"] == "Completed"
    metres, radians = run.largest_excursion()
    assert metres < 1e-3 and radians < 0.01
