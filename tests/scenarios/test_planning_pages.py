"""The pages about planning: what they conclude, from small versions of what they run."""

import json
import subprocess

import numpy as np
import pytest
from reproductions import first_plans, single_step_search, thirty_degrees, trajectories
from reproductions.experiment import ROOT, Laboratory
from scene_runs import SCENES, deft_json


@pytest.fixture
def lab(deft, tmp_path) -> Laboratory:
    return Laboratory(deft, tmp_path)


def test_trajectories_fall_to_the_cost_of_the_page(lab):
    """The smoothed gradient brings the cost down, below the baseline's where the page says so; the exact one is stuck where nothing touches."""
    measured = trajectories.measure(lab, ("analytic", "exact"), ("PlanarHand",))
    smoothed, exact = (measured.rows["PlanarHand", gradient] for gradient in ("analytic", "exact"))
    assert all(b <= a * (1 + 1e-12) for a, b in zip(smoothed["costs"], smoothed["costs"][1:], strict=False))
    assert smoothed["costs"][-1] < 0.5 * smoothed["costs"][0]
    assert smoothed["cost"] < smoothed["loop_cost"] and smoothed["cost_coordinates"] < smoothed["table_cost"]
    assert smoothed["cost"] <= exact["cost"]


def test_the_turned_ball_depends_on_its_start_and_on_the_step(lab):
    folder = lab.folder / "plan"
    plan = lab.plan(thirty_degrees.SCENE, folder, "--goal", "sixth", "--seed", "0")
    assert plan["status"] == "Solved"
    commands = ("--with", str(folder / "plan.yaml"))
    planned = thirty_degrees.turn_of(lab.simulate(thirty_degrees.SCENE, *commands))
    assert abs(planned.yaw[-1] - thirty_degrees.GOAL_DEG) < np.degrees(thirty_degrees.GOAL_RAD)
    assert planned.distance[-1] < thirty_degrees.GOAL_M
    changes = []
    for direction in thirty_degrees.DIRECTIONS.values():
        start = (thirty_degrees.START + thirty_degrees.OFF * np.array([*direction, 0])).tolist()
        off = lab.simulate(thirty_degrees.SCENE, *commands, "--set", f"configurations.start.ball.position={start}")
        changes.append(abs(thirty_degrees.turn_of(off).yaw[-1] - planned.yaw[-1]))
    assert max(changes) >= 2
    finer = thirty_degrees.turn_of(lab.simulate(thirty_degrees.SCENE, *commands, "--h", "0.01"))
    assert finer.yaw[-1] < planned.yaw[-1]


def test_smoothing_and_the_local_metric_bring_the_baseline_search_nearer(lab):
    runs: dict[str, list[float]] = {}
    for run in lab.program("single_step_ablation", "--seeds", "3", "--nodes", "300", "--without-samples", "planar_pushing"):
        runs.setdefault(run["variant"], []).append(run["closest"][-1])
    mean = {name: np.mean(closest) for name, closest in runs.items()}
    assert set(mean) == set(single_step_search.COMPARED) | {"published", "smoothed steps"}
    for without in ("no smoothing", "global metric", "no contact sampling"):
        assert mean["published"] < mean[without], without


def test_first_plans_are_found_and_few_hold(deft, tmp_path):
    """First plans arrive at the step that they were made with and seldom elsewhere; what holds is found, too, and holds."""
    scene = SCENES / "planning/planar_pushing.deft.yaml"
    first = deft_json(deft, "plan", scene, "--seeds", "3", "--first", "--threads", "2", "--out", tmp_path / "first")
    assert first["statistics"]["successes"] == 3 and first["first_solution_s"] is not None
    run = tmp_path / "first"
    finer = deft_json(deft, "replay", run, "--plant", "convex-second-order", "--out", tmp_path / "replay")
    assert finer["status"] == "Completed" and not finer["success"]


def test_later_versions_of_a_study_stand_in_the_table_and_the_earlier_below_it():
    def row(seed: int, times: list) -> dict:
        runs = [{"success": time is not None, "first_solution_s": time} for time in times]
        return {"robot": "hand", "object": "mug", "goal": "turn z 90", "first": True, "first_seed": seed, "runs": runs}

    systems = {"hand mug --first 7": row(7, [1.0, None]), "hand mug --first 90": row(90, [3.0, 4.0])}
    sources = [
        {"date": day, "commit": commit, "machine": {"processor": "p", "cores": 2}}
        for day, commit in (("2026-01-01", "aaaa"), ("2026-02-02", "bbbb"))
    ]
    text = first_plans.new_text(systems, sources, 60)
    main, below = text.split("Versions of the planner before")
    assert "| hand | mug | `turn z 90` | 2/2" in main and "bbbb" in main and "aaaa" not in main and "seeds from 90." in main
    assert "| hand | mug | first | 7 | 1/2" in below and "aaaa" in below
    assert "Versions" not in first_plans.new_text({"x": row(7, [1.0])}, sources[:1], 60)


def test_optimisation_makes_a_first_plan_hold_and_never_costs_more(deft, tmp_path):
    deft_json(deft, "plan", SCENES / "planning/planar_hand.deft.yaml", "--seed", "1002", "--first", "--out", tmp_path / "first")
    after = deft_json(deft, "optimize", tmp_path / "first", "--time-limit", "60", "--out", tmp_path / "after")
    assert after["cost"] is None or after["cost"] <= after["cost_before"] or after["success"]
    assert after["success"] and not after["held_before"]


def test_worlds_of_second_order_are_compared_from_identical_states(deft, tmp_path):
    """At the first step all worlds start from one state; each step's rows name the pair, and how far apart its two worlds end."""
    deft_json(deft, "plan", SCENES / "planning/planar_pushing.deft.yaml", "--seed", "1", "--first", "--out", tmp_path / "plan")
    program = deft.parent / "benchmarks" / "world_comparison"
    done = subprocess.run(
        [program, tmp_path / "plan", "--worlds", "convex,coulomb,mujoco", "--steps", "3", "--settle", "0"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["count"] >= 3 and found["steps"]
    assert all(pair["t"] > 0 for pair in found["free"] if pair.get("t") is not None)
