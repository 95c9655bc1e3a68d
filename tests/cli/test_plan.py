"""deft plan: keys, exit codes, a plan that holds when it is simulated, and the run folder with its tree."""

import signal
import time

import h5py
import numpy as np
import pytest
from conftest import parse

KEYS = {"status", "success", "goal_error", "nodes", "time_s", "first_solution_s", "segments", "regrasps", "cost", "files"}


@pytest.fixture
def pushing(root):
    return root / "scenes" / "planning" / "planar_pushing.deft.yaml"


def test_a_plan_reaches_its_goal_and_says_so(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--seed", 2, "--out", "plan")
    assert KEYS <= set(summary)
    assert summary["status"] == "Solved" and summary["success"] is True
    assert summary["goal_error"]["position_m"] <= 0.01 and summary["goal_error"]["rotation_rad"] <= 0.05
    assert 0 < summary["first_solution_s"] <= summary["time_s"]


def test_the_plan_reaches_the_goal_again_in_a_simulation(deft, pushing):
    deft.json("plan", pushing, "--first", "--seed", 2, "--out", "plan")
    end = deft.json("sim", pushing, "--with", "plan/plan.yaml", "--out", "sim")
    assert end["status"] == "Completed"
    assert np.hypot(end["q"]["box/y"], end["q"]["box/z"] + 0.5) <= 0.01
    assert abs(np.remainder(end["q"]["box/theta"] + np.pi, 2 * np.pi) - np.pi) <= 0.05


def test_the_run_folder_holds_tree_and_plan(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--seed", 2, "--out", "plan")
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        tree, nodes = run["tree"], summary["nodes"]
        assert tree["q"].shape == (nodes, 5) and tree["u"].shape == (nodes, 2)
        parent, kind, offset = tree["parent"][:], tree["kind"][:], tree["commands_offset"][:]
        assert parent[0] == -1 and all(0 <= parent[i] < i for i in range(1, nodes))
        assert kind[0] == 0 and set(kind[1:]) <= {1, 2}
        assert offset[-1] == tree["commands"].shape[0]
        segments = run["plan/segments"][:]
        assert segments[0, 0] == 0 and segments[-1, 1] == run["u"].shape[0] and segments.shape[1] == 4
        assert run["plan"].attrs["goal"] == "down" and float(run["plan"].attrs["h"]) == 0.1
        # What the page shows ends at the goal.
        q = dict(zip(run.attrs["names_q"], run["q"][-1]))
        assert np.hypot(q["box/y"], q["box/z"] + 0.5) <= 0.01


def test_the_run_folder_holds_what_the_next_command_reaches(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--seed", 2, "--out", "plan")
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        places, ellipsoids, frames = run["reachable/places"][:], run["reachable/ellipsoids"][:], len(run["t"])
        assert places[:frames, 0].tolist() == list(range(frames)) and (places[:frames, 1] == -1).all()
        assert (places[frames:, 0] == -1).all() and len(places) == frames + min(500, summary["nodes"])
        assert ellipsoids.shape == (len(places), 1, 8, 3)
        assert [run.attrs["names_bodies"][b] for b in run["reachable/bodies"]] == ["box"]
        assert float(run["reachable"].attrs["radius"]) > 0
        # The box moves in the plane yz, where it is and turning about x.
        X_WB = run["X_WB"][:, run["reachable/bodies"][0]]
        assert np.abs(ellipsoids[:frames, 0, 0] - X_WB[:, 4:]).max() < 1e-6
        assert np.abs(ellipsoids[:, 0, 2:5, 0]).max() < 1e-6 and np.abs(ellipsoids[:, 0, 5:, 1:]).max() < 1e-6
        assert np.abs(ellipsoids[:, 0, 2]).max() > 1e-2
    page = (deft.folder / "plan" / "run.html").read_text()
    assert '"reachable_ellipsoids"' in page


def test_without_a_plan_the_exit_code_is_1_and_the_nearest_way_is_kept(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--nodes", 2, "--out", "plan", code=1)
    assert summary["status"] == "NodeLimit" and summary["success"] is False and summary["first_solution_s"] is None
    assert (deft.folder / "plan" / "run.html").exists()


def test_seeds_give_statistics(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--seeds", 3, "--out", "plan")
    table = summary["statistics"]
    assert table["seeds"] == 3 and len(summary["runs"]) == 3
    low, high = table["wilson_95"]
    assert 0 <= low < table["success_rate"] <= high <= 1 + 1e-12
    assert table["failures"] == {}
    hopeless = deft.json("plan", pushing, "--first", "--seeds", 2, "--nodes", 1, "--out", "hopeless", code=1)["statistics"]
    assert (hopeless["successes"], hopeless["failures"]) == (0, {"NodeLimit": 2})


def test_the_same_seed_gives_the_same_plan(deft, pushing):
    plans = []
    for threads in (1, 2):
        deft.json("plan", pushing, "--first", "--seed", 5, "--threads", threads, "--out", f"plan{threads}")
        plans.append((deft.folder / f"plan{threads}" / "plan.yaml").read_text())
    assert plans[0] == plans[1]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("--goal", "up"), ["up", "down, aside"]),
        (("--set", "goals.down.hand={y: 1}"), ["'hand' is not an object", "box"]),
        (("--set", "plan.kappa=-1"), ["plan.kappa", "> 0", "-1"]),
        (("--set", "plan.greedy=1"), ["greedy", "greed"]),
        (("--nodes", "0"), ["--nodes"]),
    ],
)
def test_bad_input_is_named_with_what_is_valid(deft, pushing, arguments, words):
    done = deft.run("plan", pushing, *arguments, "--out", "plan", code=2)
    for word in words:
        assert word in done.stderr, done.stderr
    assert not (deft.folder / "plan").exists()


def test_the_plan_brings_the_step_that_it_was_checked_with(deft, pushing):
    smooth = ["--set", "step.kappa=100", "--set", "step.h=0.05"]
    summary = deft.json("plan", pushing, "--first", *smooth, "--seed", 1, "--out", "plan")
    assert summary["success"]
    end = deft.json("sim", pushing, "--with", "plan/plan.yaml", "--out", "sim")
    assert np.hypot(end["q"]["box/y"], end["q"]["box/z"] + 0.5) <= 0.01


@pytest.mark.parametrize("scene", ["planar_pushing", "push_on_table"])
def test_plans_are_made_under_coulombs_law(deft, root, scene):
    """Which opens no gap where contacts slide, unlike the associated law of the same command."""
    opened = {}
    for law in ("coulomb", "associated"):
        settings = ["--set", f"step.friction_law={law}", "--seed", 1]
        plan = root / f"scenes/planning/{scene}.deft.yaml"
        assert deft.json("plan", plan, "--first", *settings, "--out", law)["success"]
        with h5py.File(deft.folder / law / "run.h5") as run:
            opened[law] = run["contacts/boundary_gap"][:].max()
    assert opened["coulomb"] == 0 and opened["associated"] > 1e-3


@pytest.mark.parametrize(
    "setting, words",
    [
        ("step.model=convex-second-order", "first order"),
        ("wrenches=[{body: box, force_W: [0, 1, 0], from: 0, to: 1}]", "wrenches"),
        ("robots=[]", "needs a robot"),
    ],
)
def test_what_cannot_be_planned_for_is_refused_before_a_folder_is_made(deft, pushing, setting, words):
    done = deft.run("plan", pushing, "--set", setting, "--out", "plan", code=2)
    assert words in done.stderr and not (deft.folder / "plan").exists()


def test_joints_that_start_outside_their_limits_are_named(deft, root):
    hand = root / "scenes" / "planning" / "planar_hand.deft.yaml"
    done = deft.run("plan", hand, "--set", "configurations.start.left=[0.5, -1]", "--out", "plan", code=2)
    for words in ("configurations.start.left.joint_1", "-1.5708 to 0 rad", "0.5"):
        assert words in done.stderr, done.stderr
    assert not (deft.folder / "plan").exists()


def test_plans_keep_to_stated_limits(deft, pushing):
    robots = "robots=[{name: hand, stiffness: 100, velocity_limit: 0.2, effort_limit: 8}]"
    near = "goals.down.box.z=0.3"
    printed = deft.json("plan", pushing, "--first", "--seed", 3, "--set", robots, "--set", near, "--out", "plan")
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        u, q = run["u"][:], run["q"][:]
    assert abs(np.diff(u, axis=0)).max() < 0.02 + 1e-9
    assert printed["effort_share"] == pytest.approx(100 * abs(u - q[1:, :2]).max() / 8) and printed["effort_share"] < 1.001
    assert printed["velocity_share"] == pytest.approx(abs(np.diff(q[:, :2], axis=0)).max() / 0.02) and printed["velocity_share"] < 1.001
    weak = "robots=[{name: hand, stiffness: 100, effort_limit: 0.5}]"
    done = deft.run("plan", pushing, "--set", weak, "--set", "gravity=[0, 0, -9.81]", "--out", "weak", code=2)
    assert "cannot carry the robot's own weight" in done.stderr


def test_a_scene_without_goals_says_how_to_add_them(deft, root):
    done = deft.run("plan", root / "scenes" / "box_pushing" / "scene.deft.yaml", code=2)
    assert "goals:" in done.stderr


def test_an_improved_plan_goes_through_nodes_of_the_tree(deft, pushing):
    deft.json("plan", pushing, "--first", "--seed", 2, "--set", "plan.improve_s=1", "--out", "plan")
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        tree, segments = run["tree"], run["plan/segments"][:]
        parent, offset, commands = tree["parent"][:], tree["commands_offset"][:], tree["commands"][:]
        # The commands of the nodes on the way to the last segment's node are the plan's.
        chain = [segments[-1, 3]]
        while parent[chain[-1]] >= 0:
            chain.append(parent[chain[-1]])
        chain.reverse()
        assert chain[0] == 0 and set(segments[:, 3]) <= set(chain)
        assert np.array_equal(np.concatenate([commands[offset[n] : offset[n + 1]] for n in chain]), run["u"][:])
        cost = tree["cost"][:]
        assert all(cost[n] > cost[parent[n]] for n in chain[1:])
        X_WB = tree["X_WB"][:]
        assert X_WB.shape == (len(parent), len(run.attrs["names_bodies"]), 7)
        np.testing.assert_allclose(X_WB[0], run["X_WB"][0], atol=1e-6)
        np.testing.assert_allclose(X_WB[chain[-1]], run["X_WB"][-1], atol=1e-5)


ENDLESS = ["--set", "goals.down.tolerance={position: 1e-12, rotation: 1e-12}", "--nodes", 1_000_000, "--time-limit", 600]


def tree_of(folder):
    with h5py.File(folder / "run.h5") as run:
        assert run["t"].shape == (1,) and "success" not in run["plan"].attrs
        return len(run["tree/parent"]), float(run["tree/time"][-1])


def test_a_killed_search_keeps_its_tree_but_for_the_last_second(deft, pushing, tmp_path):
    process = deft.start("plan", pushing, "--first", *ENDLESS, "--out", "plan")
    end = time.monotonic() + 60
    while not (tmp_path / "plan" / "run.h5").exists() or tree_of(tmp_path / "plan")[0] < 20:
        assert time.monotonic() < end, "no tree was published"
        time.sleep(0.05)
    # From here on the file is followed: never older than a second.
    begin, (nodes, grown_s) = time.monotonic(), tree_of(tmp_path / "plan")
    while time.monotonic() < begin + 2.5:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    killed_s = time.monotonic() - begin
    process.communicate()
    more, until_s = tree_of(tmp_path / "plan")
    assert more > nodes and until_s - grown_s > killed_s - 2.0
    assert not (tmp_path / "plan" / "summary.json").exists()
    (page,) = deft.json("view", "plan", "--no-open")["files"]
    assert '"tree_X_WB"' in (tmp_path / page).read_text()


def test_ctrl_c_ends_a_search_with_the_nearest_way(deft, pushing, tmp_path):
    process = deft.start("plan", pushing, "--first", *ENDLESS, "--out", "plan", "--json")
    while not (tmp_path / "plan" / "run.h5").exists():
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    summary = parse(stdout)
    assert summary["status"] == "Interrupted" and summary["nodes"] > 1
    assert all((tmp_path / file).exists() for file in summary["files"])


def test_a_refined_plan_reaches_the_goal_with_every_step_that_it_names(deft, pushing):
    summary = deft.json("plan", pushing, "--set", "plan.refine=[2, 5]", "--seeds", 2, "--time-limit", 600, "--out", "plan")
    assert summary["status"] == "Solved" and [finer["h"] for finer in summary["finer"]] == pytest.approx([0.05, 0.02])
    assert [row["holding"] for row in summary["statistics"]["finer"]] == [2, 2]
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        assert list(run["plan"].attrs["finer"]) == [2, 5] and list(run["plan"].attrs["finer_success"]) == [1, 1]
    for h, checked in [(0.1, summary)] + [(finer["h"], finer) for finer in summary["finer"]]:
        end = deft.json("sim", pushing, "--with", "plan/plan.yaml", "--h", h, "--out", f"sim{h}")["q"]
        position = np.hypot(end["box/y"], end["box/z"] + 0.5)
        rotation = abs(np.remainder(end["box/theta"] + np.pi, 2 * np.pi) - np.pi)
        assert checked["success"] and position <= 0.01 and rotation <= 0.05
        assert position == pytest.approx(checked["goal_error"]["position_m"], abs=1e-6)
        assert rotation == pytest.approx(checked["goal_error"]["rotation_rad"], abs=1e-6)


def test_a_plan_that_does_not_hold_with_finer_steps_says_so(deft, pushing):
    summary = deft.json("plan", pushing, "--set", "plan.refine=[2]", "--seed", 10, "--nodes", 60, "--out", "plan", code=1)
    (finer,) = summary["finer"]
    assert summary["success"] is False and summary["status"] == "NotHolding" and finer["success"] is False
    assert "does not hold with --h 0.05" in (deft.folder / "plan" / "plan.yaml").read_text()


@pytest.mark.parametrize("value", ["[1]", "[2.5]", "[0]", "fine"])
def test_refinement_takes_whole_numbers_from_two(deft, pushing, value):
    done = deft.run("plan", pushing, "--set", f"plan.refine={value}", "--out", "plan", code=2)
    assert "plan.refine" in done.stderr and not (deft.folder / "plan").exists()


NEAR = ["--set", "goals.down.box.z=0.2", "--time-limit", 600, "--nodes", 2000]


def test_the_default_plan_holds_before_every_judge(deft, pushing):
    summary = deft.json("plan", pushing, *NEAR, "--seed", 1, "--out", "plan")
    assert summary["status"] == "Solved" and summary["success"] is True
    holds = {row["judge"]: row for row in summary["holds"]}
    assert list(holds) == ["h", "h/2", "h/5", "second-order", "worlds"]
    assert all(row["success"] and {"goal_error", "time_s"} <= set(row) for row in holds.values())
    assert 0.8 <= holds["worlds"]["share"] <= 1
    assert summary["first_solution_s"] <= summary["first_holding_s"] <= summary["time_s"]
    with h5py.File(deft.folder / "plan" / "run.h5") as run:
        u, t = run["u"][:], run["t"][:]
        assert summary["duration_s"] == pytest.approx(t[-1]) and np.abs(np.diff(u, axis=0)).max() <= 0.05 + 1e-9
    for h in (0.1, 0.05, 0.02):
        end = deft.json("sim", pushing, "--with", "plan/plan.yaml", "--h", h, "--out", f"sim{h}")["q"]
        assert np.hypot(end["box/y"], end["box/z"] - 0.2) <= 0.01
    # Another plant, at its own pace and step.
    tracked = deft.json("track", "plan", "--plant", "convex-second-order", "--controller", "open-loop", "--out", "track")
    assert tracked["status"] == "Completed"


def test_a_plan_that_holds_nowhere_else_is_kept_and_said_so(deft, pushing):
    tight = ["--set", "goals.down.tolerance={position: 0.001, rotation: 0.003}", "--nodes", 44, "--seed", 1]
    summary = deft.json("plan", pushing, *tight, "--out", "plan", code=1)
    assert summary["status"] == "NotHolding" and summary["success"] is False and summary["first_holding_s"] is None
    assert summary["holds"][0] == {**summary["holds"][0], "judge": "h", "success": True}
    assert not all(row["success"] for row in summary["holds"])
    assert all((deft.folder / file).exists() for file in summary["files"])
    first = deft.json("plan", pushing, *tight, "--first", "--out", "first")
    assert first["status"] == "Solved" and first["success"] is True
    assert [row["judge"] for row in first["holds"]] == ["h"]
    texts = [(deft.folder / folder / "plan.yaml").read_text() for folder in ("first", "plan")]
    assert "does not hold before the judge second-order" in texts[1] and "judge" not in texts[0]
    commands = ["\n".join(line for line in text.splitlines() if not line.startswith("#")) for text in texts]
    assert commands[0] == commands[1]


@pytest.mark.parametrize(
    "value, words",
    [
        ("[h, h/1]", ["h/1", "h/2", "second-order", "worlds"]),
        ("[h, drake]", ["drake"]),
        ("[h/2]", ["'h' is missing"]),
        ("[h, h/2, h/2]", ["twice"]),
        ("worlds", ["a list"]),
        ("[h, h/2x]", ["h/2x"]),
    ],
)
def test_judges_are_words_of_a_list(deft, pushing, value, words):
    done = deft.run("plan", pushing, "--set", f"plan.judges={value}", "--out", "plan", code=2)
    for word in ["plan.judges", *words]:
        assert word in done.stderr, done.stderr
    assert not (deft.folder / "plan").exists()


def test_a_plan_that_fails_says_why(deft, root):
    hand = root / "scenes" / "planning" / "planar_hand.deft.yaml"
    far = ["--set", "configurations.start.ball={y: 0, z: 0.85, theta: 0}", "--set", "goals.half_turn.ball={y: 0, z: 0.85, theta: 3.14}"]
    summary = deft.json("plan", hand, *far, "--nodes", 40, "--explain", "--out", "plan", code=1)
    reasons = summary["reasons"]
    assert reasons[0]["reason"] == "no grasp" and reasons[0]["count"] > 20 and "m away" in reasons[0]["detail"]
    assert all({"reason", "count", "weight", "detail"} <= set(row) for row in reasons)
    assert [row["weight"] for row in reasons] == sorted((row["weight"] for row in reasons), reverse=True)
    assert sum(summary["tries"].values()) == summary["rollouts"]
    explained = parse((deft.folder / "plan" / "explain.json").read_text())
    assert explained["reasons"] == reasons and any(file.endswith("explain.json") for file in summary["files"])
    # A few failed tries, each of a reason, as the page draws them; the page can be written again from the folder.
    assert 1 <= len(explained["failed"]) <= 18 and {row["reason"] for row in explained["failed"]} <= {row["reason"] for row in reasons}
    for row in explained["failed"]:
        assert len(row["q"]) == 7 and all(len(pose) == 7 for pose in row["X_WB"])
    page = deft.folder / "plan" / "run.html"
    assert '"explanation":' in page.read_text()
    page.unlink()
    deft.json("view", "plan", "--no-open")
    assert '"explanation":' in page.read_text()


def test_an_impossible_goal_is_no_search(deft, root):
    hand = root / "scenes" / "planning" / "planar_hand.deft.yaml"
    summary = deft.json("plan", hand, "--set", "goals.half_turn.ball={y: 0, z: 3, theta: 3.14}", "--explain", "--out", "plan", code=1)
    assert summary["status"] == "Impossible" and not summary["success"] and summary["step_solves"] == 0 and summary["steps"] == 0
    (reason,) = summary["reasons"]
    assert (
        reason["reason"] == "impossible"
        and "no link can touch ball at the goal" in reason["detail"]
        and "goals.half_turn.ball" in reason["setting"]
    )
    assert (deft.folder / "plan" / "run.html").exists() and parse((deft.folder / "plan" / "explain.json").read_text())[
        "status"
    ] == "Impossible"


def test_regrasps_cost_what_the_scene_says(deft, pushing):
    commands = []
    for price in (2, 30):
        summary = deft.json("plan", pushing, "--first", "--seed", 2, "--set", f"plan.regrasp_cost_s={price}", "--out", f"plan{price}")
        assert summary["success"] and summary["regrasps"] > 1
        with h5py.File(deft.folder / f"plan{price}" / "run.h5") as run:
            tree, segments = run["tree"], run["plan/segments"][:]
            commands.append(run["u"][:])
            h = float(run["plan"].attrs["h"])
            assert segments[:, 2].sum() == summary["regrasps"]
            assert summary["cost"] == pytest.approx(h * len(commands[-1]) + price * summary["regrasps"])
            # The same at every node on the way.
            assert tree["cost"][:][segments[:, 3]] == pytest.approx(h * segments[:, 1] + price * np.cumsum(segments[:, 2]))
    # A first plan is the same whatever it costs.
    assert np.array_equal(*commands)


def test_a_plan_that_succeeds_has_no_reasons(deft, pushing):
    assert deft.json("plan", pushing, "--first", "--seed", 2, "--out", "plan")["reasons"] == []


def test_the_problems_of_a_plan_can_be_solved_again(deft, pushing):
    summary = deft.json("plan", pushing, "--first", "--seed", 2, "--dump-problems", "problems", "--out", "plan")
    files = sorted((deft.folder / "problems").glob("*.json.gz"))
    assert len(files) == summary["steps"]
    solved = deft.json("solve", files[0], files[len(files) // 2])
    assert [row["status"] for row in solved["results"]] == ["Solved", "Solved"]
