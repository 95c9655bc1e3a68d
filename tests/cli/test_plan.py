"""deft plan: keys, exit codes, a plan that holds when it is simulated, and the run folder with its tree."""
import h5py
import numpy as np
import pytest

KEYS = {"status", "success", "goal_error", "nodes", "time_s", "first_solution_s", "segments", "regrasps", "cost", "files"}


@pytest.fixture
def pushing(root):
    return root / "scenes" / "planning" / "planar_pushing.deft.yaml"


def test_a_plan_reaches_its_goal_and_says_so(deft, pushing):
    summary = deft.json("plan", pushing, "--seed", 2, "--out", "plan")
    assert KEYS <= set(summary)
    assert summary["status"] == "Solved" and summary["success"] is True
    assert summary["goal_error"]["position_m"] <= 0.01 and summary["goal_error"]["rotation_rad"] <= 0.05
    assert 0 < summary["first_solution_s"] <= summary["time_s"]


def test_the_plan_reaches_the_goal_again_in_a_simulation(deft, pushing):
    deft.json("plan", pushing, "--seed", 2, "--out", "plan")
    end = deft.json("sim", pushing, "--with", "plan/plan.yaml", "--out", "sim")
    assert end["status"] == "Completed"
    assert np.hypot(end["q"]["box/y"], end["q"]["box/z"] + 0.5) <= 0.01
    assert abs(np.remainder(end["q"]["box/theta"] + np.pi, 2 * np.pi) - np.pi) <= 0.05


def test_the_run_folder_holds_tree_and_plan(deft, pushing):
    summary = deft.json("plan", pushing, "--seed", 2, "--out", "plan")
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        tree, nodes = run["tree"], summary["nodes"]
        assert tree["q"].shape == (nodes, 5) and tree["u"].shape == (nodes, 2)
        parent, kind, offset = tree["parent"][:], tree["kind"][:], tree["commands_offset"][:]
        assert parent[0] == -1 and all(0 <= parent[i] < i for i in range(1, nodes))
        assert kind[0] == 0 and set(kind[1:]) <= {1, 2}
        assert offset[-1] == tree["commands"].shape[0]
        segments = run["plan/segments"][:]
        assert segments[0, 0] == 0 and segments[-1, 1] == run["u"].shape[0]
        assert run["plan"].attrs["goal"] == "down" and float(run["plan"].attrs["h"]) == 0.1
        # What the page shows ends at the goal.
        q = dict(zip(run.attrs["names_q"], run["q"][-1]))
        assert np.hypot(q["box/y"], q["box/z"] + 0.5) <= 0.01


def test_without_a_plan_the_exit_code_is_1_and_the_nearest_way_is_kept(deft, pushing):
    summary = deft.json("plan", pushing, "--nodes", 2, "--out", "plan", code=1)
    assert summary["status"] == "NodeLimit" and summary["success"] is False and summary["first_solution_s"] is None
    assert (deft.folder / "plan" / "run.html").exists()


def test_seeds_give_statistics(deft, pushing):
    summary = deft.json("plan", pushing, "--seeds", 3, "--out", "plan")
    table = summary["statistics"]
    assert table["seeds"] == 3 and len(summary["runs"]) == 3
    low, high = table["wilson_95"]
    assert 0 <= low < table["success_rate"] <= high <= 1 + 1e-12


def test_the_same_seed_gives_the_same_plan(deft, pushing):
    plans = []
    for threads in (1, 2):
        deft.json("plan", pushing, "--seed", 5, "--threads", threads, "--out", f"plan{threads}")
        plans.append((deft.folder / f"plan{threads}" / "plan.yaml").read_text())
    assert plans[0] == plans[1]


@pytest.mark.parametrize("arguments, words", [
    (("--goal", "up"), ["up", "down, aside"]),
    (("--set", "goals.down.hand={y: 1}"), ["'hand' is not an object", "box"]),
    (("--set", "plan.kappa=-1"), ["plan.kappa", "> 0", "-1"]),
    (("--set", "plan.greedy=1"), ["greedy", "greed"]),
    (("--nodes", "0"), ["--nodes"]),
])
def test_bad_input_is_named_with_what_is_valid(deft, pushing, arguments, words):
    done = deft.run("plan", pushing, *arguments, "--out", "plan", code=2)
    for word in words:
        assert word in done.stderr, done.stderr
    assert not (deft.folder / "plan").exists()


def test_a_scene_without_goals_says_how_to_add_them(deft, root):
    done = deft.run("plan", root / "scenes" / "box_pushing" / "scene.deft.yaml", code=2)
    assert "goals:" in done.stderr
