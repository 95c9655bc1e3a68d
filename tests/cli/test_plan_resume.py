"""deft plan --resume: a search that is killed again and again ends with the tree of one that never was."""

import json
import random
import re
import shlex
import signal
import time

import h5py
import numpy as np
import pytest

OUT_OF_REACH = ["--set", "goals.down.tolerance={position: 1e-12, rotation: 1e-12}", "--time-limit", 600]
# A search to a number of roll-outs, one whose plan is improved to a number of roll-outs, and the single-step tree.
JOBS = {
    "rollout": [*OUT_OF_REACH, "--nodes", 4000],
    "improved": ["--seed", 4, "--set", "plan.improve_s=600", "--time-limit", 600, "--nodes", 1500],
    "single_step": ["--set", "plan.search=single-step", *OUT_OF_REACH, "--nodes", 8000, "--set", "plan.goal_bias=0.3"],
}


@pytest.fixture
def planning(root):
    return root / "scenes" / "planning"


def arguments_of(planning, name):
    return ["plan", planning / "planar_pushing.deft.yaml", "--first", *JOBS[name]]


def result_of(folder):
    """Everything that a run leaves but wall times."""
    columns: dict[str, bytes] = {}
    with h5py.File(folder / "run.h5") as run:
        run["tree"].visititems(lambda name, data: columns.__setitem__(name, data[()].tobytes()))
        columns["segments"], columns["q"], columns["u"] = (run[name][()].tobytes() for name in ("plan/segments", "q", "u"))
    del columns["time"]
    columns["plan.yaml"] = (folder / "plan.yaml").read_text()
    summary = json.loads((folder / "summary.json").read_text())
    return columns | {
        key: summary[key] for key in ("status", "nodes", "rollouts", "step_solves", "cost", "goal_error", "segments", "regrasps")
    }


def expect_equal(resumed, whole):
    assert resumed.keys() == whole.keys()
    assert [key for key in whole if resumed[key] != whole[key]] == []


def published(folder):
    """Nodes in run.h5, which is always a whole file."""
    if not (folder / "run.h5").exists():
        return 0
    with h5py.File(folder / "run.h5") as run:
        return len(run["tree/parent"])


def kept(folder):
    """Bytes of whole and torn batches."""
    journal = folder / "search.journal"
    return journal.stat().st_size if journal.exists() else 0


@pytest.mark.parametrize("name, kills", [("rollout", 20), ("improved", 8), ("single_step", 8)])
def test_killed_at_random_times_and_resumed_it_ends_with_the_same_tree(deft, planning, tmp_path, name, kills):
    arguments = arguments_of(planning, name)
    whole = deft.run(*arguments, "--out", "whole", code=0 if name == "improved" else 1)
    draw = random.Random(f"kills {name}")
    folder, nodes, began_s = tmp_path / "killed", 0, time.monotonic()
    for kill in range(kills):
        before = kept(folder)
        process = deft.start(*arguments, *(["--resume", "killed"] if before else ["--out", "killed"]), "--quiet")
        # Every second one dies wherever it is then, perhaps while it repeats the earlier ones; the others after they
        # have kept something new.
        while kill % 2 == 0 and kept(folder) <= before + 2000:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.06))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "the job is too short for so many kills"
        assert kept(folder) >= before - 5000, "a kill took more than a torn batch away"
        assert not (folder / "summary.json").exists()
        assert published(folder) >= nodes, "the page of a killed run lost nodes"
        nodes = published(folder)
    deft.run(*arguments, "--resume", "killed", code=whole.returncode)
    expect_equal(result_of(folder), result_of(tmp_path / "whole"))
    log = (folder / "deft.log").read_text()
    assert 2 <= log.count(" plan ") <= kills + 1 and log.splitlines()[-1].count("seed ") == 1, "each part of the run, and how it ended"
    with h5py.File(folder / "run.h5") as run:
        times = run["tree/time"][:]
        assert (np.diff(times) >= 0).all() and times[-1] < time.monotonic() - began_s
    # Now it is finished, and says so.
    again = deft.run(*arguments, "--resume", "killed", code=whole.returncode)
    assert "finished" in again.stderr and again.stdout.splitlines()[0].startswith(whole.stdout.split()[0])


def cut_short(deft, planning, tmp_path, *more):
    """A folder whose run was killed after some batches, and its arguments."""
    arguments = [*arguments_of(planning, "rollout"), *more]
    process = deft.start(*arguments, "--out", "killed")
    while kept(tmp_path / "killed") < 100_000:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return arguments


@pytest.mark.parametrize(
    "change, words",
    [
        (["--seed", 5], ["seed: 0 there, 5 here"]),
        (["--seeds", 3], ["seeds: 1 there, 3 here"]),
        (["--goal", "aside"], ["goal: down there, aside here"]),
        (["--nodes", 1000], ["plan.nodes: 4000 there, 1000 here"]),
        (["--set", "plan.search=single-step"], ["plan.search: nothing there, single-step here"]),
        (["--set", "bodies.box.mass=6", "--h", 0.05], ["bodies.box.mass: 5 there, 6 here", "step.h: 0.1 there, 0.05 here"]),
        (["--out", "other"], ["--resume", "--out"]),
    ],
)
def test_what_differs_from_the_run_is_named(deft, planning, tmp_path, change, words):
    arguments = cut_short(deft, planning, tmp_path)
    if "--nodes" in change:
        arguments[arguments.index("--nodes") + 1] = change[1]
        change = []
    before = (tmp_path / "killed" / "search.journal").read_bytes()
    done = deft.run(*arguments, *change, "--resume", "killed", code=2)
    for word in words:
        assert word in done.stderr, done.stderr
    assert (tmp_path / "killed" / "search.journal").read_bytes() == before


def test_folders_that_are_no_run_of_a_planner_are_refused(deft, planning, pushed_ball, tmp_path):
    arguments = arguments_of(planning, "rollout")
    assert "no such run folder" in deft.run(*arguments, "--resume", "nowhere", code=2).stderr
    deft.run("sim", pushed_ball, "--out", "sim")
    assert "not a run of deft plan" in deft.run(*arguments, "--resume", "sim", code=2).stderr
    (tmp_path / "sim" / "search.journal").write_text("something else that is long enough")
    assert "not a journal" in deft.run(*arguments, "--resume", "sim", code=2).stderr


def test_a_run_that_still_goes_on_is_left_alone(deft, planning, tmp_path):
    arguments = arguments_of(planning, "rollout")
    process = deft.start(*arguments, "--out", "busy")
    while kept(tmp_path / "busy") < 20_000:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGSTOP)
    assert "another deft plan is writing" in deft.run(*arguments, "--resume", "busy", code=2).stderr
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_ctrl_c_says_how_to_go_on_and_the_command_does(deft, planning, tmp_path):
    arguments = [*arguments_of(planning, "rollout"), "--seed", 3]
    process = deft.start(*arguments, "--out", "stopped", "--json")
    while kept(tmp_path / "stopped") < 100_000:
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    (hint,) = [line for line in stderr.splitlines() if line.startswith("resume with: deft plan ")]
    assert hint.endswith("--resume stopped")
    summary = deft.json(*arguments, "--resume", "stopped", code=1)
    assert summary["status"] == "NodeLimit" and summary["seed"] == 3
    deft.run(*arguments, "--out", "whole", code=1)
    expect_equal(result_of(tmp_path / "stopped"), result_of(tmp_path / "whole"))


@pytest.mark.parametrize("option", [[], ["--first"]])
def test_the_command_that_a_run_prints_is_accepted(deft, planning, tmp_path, option):
    # No `plan:` in the scene: the limit of time alone makes one.
    text = (planning / "planar_hand.deft.yaml").read_text()
    assert "\nplan:" not in text
    impossible = ["--set", "goals.half_turn.tolerance={position: 1e-12, rotation: 1e-12}"]
    done = deft.run("plan", planning / "planar_hand.deft.yaml", *option, *impossible, "--time-limit", 0.3, "--out", "run", code=1)
    (hint,) = [line for line in done.stderr.splitlines() if line.startswith("resume with: deft plan ")]
    words = shlex.split(hint.removeprefix("resume with: deft ").replace("SECONDS", "0.4"))
    assert deft.json(*words, code=1)["status"] in {"TimeLimit", "NotHolding"}


def test_a_search_out_of_time_goes_on_with_more(deft, planning, tmp_path):
    arguments = arguments_of(planning, "rollout")
    limit = arguments.index("--time-limit") + 1
    short = [*arguments[:limit], 0.3, *arguments[limit + 1 :]]
    summary = deft.json(*short, "--out", "short", code=1)
    assert summary["status"] == "TimeLimit"
    # The time of the first run counts: nothing is left of it.
    assert deft.json(*short, "--resume", "short", code=1)["rollouts"] <= summary["rollouts"] + 8
    assert deft.json(*arguments, "--resume", "short", code=1)["status"] == "NodeLimit"
    deft.run(*arguments, "--out", "whole", code=1)
    expect_equal(result_of(tmp_path / "short"), result_of(tmp_path / "whole"))


def test_seeds_that_have_ended_are_not_searched_again(deft, planning, tmp_path):
    arguments = ["plan", planning / "planar_pushing.deft.yaml", "--first", "--seeds", 15, "--set", "plan.improve_s=0.05"]
    process = deft.start(*arguments, "--out", "killed")
    while (
        not (tmp_path / "killed" / "search.journal").exists()
        or (tmp_path / "killed" / "search.journal").read_bytes().count(b'"rollouts"') < 5
    ):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    ended = (tmp_path / "killed" / "search.journal").read_bytes()
    summary = deft.json(*arguments, "--resume", "killed")
    assert summary["statistics"]["seeds"] == 15 and [run["seed"] for run in summary["runs"]] == list(range(15))
    rows = [json.loads(row) for row in re.findall(rb'\{"status".*?"seed":\d+\}', ended)]  # as numbers: digits may differ
    assert all(run in rows for run in summary["runs"][:5])
    assert summary["seed"] == next(run["seed"] for run in summary["runs"] if run["success"])
