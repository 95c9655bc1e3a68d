"""Every bundled scene runs its commands to the end, certified, and its robots do what the scene's README says."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pytest
from scene_runs import run_scene, scene_names, table_text

RESIDUAL_MAX = 1e-8  # scaled, as certified


@dataclass
class Expected:
    """What a run must show. Every robot makes contact and, if `broke`, lets go again (some published commands end in contact)."""

    moved_m: float = 0.005
    moved_deg: float = 5.0
    gap_min_m: float = -1e-4  # least true gap; below zero by the curvature of the motion within one step
    broke: bool = True
    untouched: tuple[str, ...] = ()  # robots that carry others and are not to touch anything


SCENES = {
    "allegro_ball": Expected(broke=False),
    "allegro_ball_tilted": Expected(),
    "allegro_door": Expected(),
    "allegro_pen": Expected(),
    "allegro_plate": Expected(),
    "ball_grazing": Expected(broke=False),
    "bimanual_box": Expected(),
    "box_pivoting": Expected(broke=False),
    "box_pushing": Expected(broke=False),
    "gripper_carrots": Expected(),
    "gripper_cube": Expected(moved_m=0, moved_deg=0, broke=False),
    "pick_and_place": Expected(gap_min_m=-2e-4, untouched=("iiwa",)),
    "planar_bimanual_cylinder": Expected(),
    "planar_hand_ball": Expected(),
    "plate_pickup": Expected(),
    "rope_pushing": Expected(gap_min_m=-5e-4, broke=False),
    "three_link_arm_box": Expected(),
    "three_link_arm_box_3d": Expected(),
    "two_spheres_xyz": Expected(broke=False),
    "two_spheres_y": Expected(broke=False),
    "two_spheres_yz": Expected(),
}


@pytest.fixture(scope="module")
def simulate(deft, tmp_path_factory):
    """Runs a scene once."""
    return lru_cache(maxsize=None)(lambda name: run_scene(deft, name, tmp_path_factory.mktemp("runs") / name))


def test_every_scene_is_listed():
    assert set(scene_names()) == set(SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_scene_completes_certified_and_moves_its_objects(name, simulate):
    run, expected = simulate(name), SCENES[name]
    assert run.summary["status"] == "Completed"
    assert run.summary["residual_max"] <= RESIDUAL_MAX
    assert run.summary["gap_min"] >= expected.gap_min_m
    metres, radians = run.largest_excursion()
    assert metres >= expected.moved_m or np.degrees(radians) >= expected.moved_deg
    for robot in run.info["robots"]:
        made, broken = run.makes_and_breaks(robot["name"])
        if robot["name"] in expected.untouched:
            assert not made
            continue
        assert made, f"{robot['name']} comes into contact with nothing"
        assert broken or not expected.broke, f"{robot['name']} lets go of nothing"


@pytest.mark.parametrize("name", SCENES)
def test_scene_says_what_it_is(name, root):
    text = (root / "scenes" / name / "README.md").read_text()
    assert f"deft sim scenes/{name}/scene.deft.yaml" in text


def test_table_of_scenes(simulate, capsys):
    rows = [simulate(name).row() for name in SCENES]
    with capsys.disabled():
        print("\n" + table_text(rows))
    assert all(row["steps"] > 0 and row["contacts"] > 0 for row in rows)
