"""deft sim: results, run folder to the letter, options, outcomes."""

import json

import h5py
import numpy as np
import pytest
from conftest import parse

KEYS = ["status", "steps", "t_end", "q", "residual_max", "gap_min", "solve_us", "step_us", "statuses", "files"]
FILES = ["config.yaml", "deft.log", "run.h5", "run.html", "summary.json"]


def test_sim_prints_and_stores_the_same_summary(deft, pushed_ball, tmp_path):
    summary = deft.json("sim", pushed_ball, "--out", "run")
    assert list(summary) == KEYS
    assert parse((tmp_path / "run" / "summary.json").read_text()) == summary
    assert (summary["status"], summary["steps"], summary["statuses"]) == ("Completed", 20, {"Solved": 20})
    assert summary["t_end"] == pytest.approx(2, abs=1e-12)
    assert summary["residual_max"] <= 1e-8 and -2e-4 <= summary["gap_min"] <= 0.025
    assert summary["q"]["ball/x"] == pytest.approx(0.25, abs=0.02)  # pushed by the hand, 0.15 between the centres
    for times in ("solve_us", "step_us"):
        assert list(summary[times]) == ["p50", "p95"] and 0 < summary[times]["p50"] <= summary[times]["p95"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == FILES
    assert sorted(summary["files"]) == [f"run/{name}" for name in FILES]


def test_run_folder_has_the_layout_of_its_page(deft, pushed_ball, tmp_path):
    summary = deft.json("sim", pushed_ball, "--out", "run")
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        T, nq, nu = 20, 10, 3
        names_q, names_u = list(run.attrs["names_q"]), list(run.attrs["names_u"])
        names_bodies, words = list(run.attrs["names_bodies"]), list(run.attrs["status_words"])
        assert names_q == list(summary["q"]) and names_u == ["hand/x", "hand/y", "hand/z"]
        assert names_bodies[0] == "world" and "ball" in names_bodies
        assert "pushed_ball" in run.attrs["scene_yaml"] and deft.run("--version").stdout.split()[1] == run.attrs["version"]
        assert run["t"].shape == (T + 1,) and run["q"].shape == (T + 1, nq) and run["u"].shape == (T, nu)
        assert np.allclose(np.diff(run["t"]), 0.1, atol=1e-12)
        assert dict(zip(names_q, run["q"][-1])) == summary["q"]
        offset = run["contacts/offset"][:]
        assert offset.shape == (T + 1,) and offset[0] == 0 and (np.diff(offset) >= 1).all()
        n = offset[-1]
        shapes = {
            "a": (n,),
            "b": (n,),
            "point_W": (n, 3),
            "normal_W": (n, 3),
            "gap": (n,),
            "force_W": (n, 3),
            "torque_W": (n, 3),
            "mu": (n,),
            "state": (n,),
        }
        for name, shape in shapes.items():
            assert run["contacts"][name].shape == shape, name
        for name in ["status", "residual", "iterations", "solve_us", "energy"]:
            assert run["steps"][name].shape == (T,), name
        assert {words[i] for i in run["steps/status"]} == {"Solved"}
        assert np.allclose(np.linalg.norm(run["contacts/normal_W"], axis=1), 1, atol=1e-12)
        assert set(np.unique(run["contacts/state"])) <= {0, 1, 2}
        assert np.isfinite(run["contacts/force_W"]).all() and (run["contacts/mu"][:] == 0.5).all()

        # In the last steps the table carries the ball's weight: forces act on a, the normal points from b to a.
        last = slice(offset[-2], offset[-1])
        body = run["contacts/a"][last], run["contacts/b"][last]
        ball = names_bodies.index("ball")
        force = sum(
            np.where(body[0] == ball, 1.0, -1.0)[:, None] * run["contacts/force_W"][last] * ((body[0] == ball) | (body[1] == ball))[:, None]
        )
        assert force[2] == pytest.approx(9.81, rel=1e-3)
        assert (np.einsum("ij,ij->i", run["contacts/force_W"], run["contacts/normal_W"]) >= -1e-9).all()


def test_the_merged_configuration_runs_again_to_the_same_end(deft, pushed_ball, tmp_path):
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("friction: {pairs: [{between: [ball, table], mu: 0.3}]}\n")
    first = deft.json("sim", pushed_ball, "--with", overlay, "--set", "gravity=[0, 0, -5]", "--h", 0.05, "--out", "run")
    assert first["steps"] == 40
    before = deft.json("sim", "--with", overlay, "--set", "gravity=[0, 0, -5]", "--h", 0.05, pushed_ball, "--out", "before")
    assert before["q"] == first["q"], "options may stand before the scene"
    (tmp_path / "elsewhere").mkdir()
    deft.folder = tmp_path / "elsewhere"
    again = deft.json("sim", tmp_path / "run" / "config.yaml", "--out", "again")
    assert again["q"] == first["q"]


def test_the_same_command_gives_the_same_run(deft, pushed_ball):
    ends = [deft.json("sim", pushed_ball, "--out", f"run{i}", "--threads", threads, "--seed", 3)["q"] for i, threads in enumerate([1, 4])]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "arguments, steps",
    [
        ([], 20),
        (["--steps", 7], 7),
        (["--steps", 0], 0),
        (["--duration", 1], 10),
        (["--duration", 1.01], 11),
        (["--duration", 0.3], 3),
        (["--h", 0.3], 7),
    ],
)
def test_how_long_it_simulates(deft, pushed_ball, arguments, steps):
    assert deft.json("sim", pushed_ball, "--out", "run", *arguments)["steps"] == steps


def test_no_steps_leave_nothing_to_say_about_steps(deft, pushed_ball):
    summary = deft.json("sim", pushed_ball, "--steps", 0, "--out", "run")
    assert summary["status"] == "Completed" and summary["residual_max"] is None and summary["gap_min"] is None
    assert summary["solve_us"] == {"p50": None, "p95": None}


def test_without_commands_the_length_must_be_given(deft, falling_ball):
    assert "--steps" in deft.run("sim", falling_ball, code=2).stderr
    summary = deft.json("sim", falling_ball, "--steps", 2, "--out", "run")
    # Quasidynamic: no velocity is carried over, each step falls h² g.
    assert summary["q"]["ball/z"] == pytest.approx(-2 * 0.01 * 9.81, rel=1e-12)
    assert summary["gap_min"] == "inf"


def test_without_step_length_it_does_not_start(deft, pushed_ball, tmp_path):
    pushed_ball.write_text(pushed_ball.read_text().replace("step: {h: 0.1}", ""))
    assert "step.h" in deft.run("sim", pushed_ball, "--out", "run", code=2).stderr
    assert not (tmp_path / "run").exists()
    assert deft.json("sim", pushed_ball, "--h", 0.1, "--out", "run")["steps"] == 20


def test_a_model_of_free_bodies_names_the_robot_that_it_does_not_know(deft, pushed_ball):
    said = deft.run("sim", pushed_ball, "--model", "equivalent-contact-point", "--kappa", "inf", code=2).stderr
    assert "equivalent-contact-point moves free bodies only" in said and "is a robot" in said
    said = deft.run("sim", pushed_ball, "--model", "equivalent-contact", code=2).stderr
    assert "equivalent-contact-point" in said and "stewart-trinkle" in said


def test_models_of_second_order_keep_velocities(deft, falling_ball, tmp_path):
    falling_ball.write_text(falling_ball.read_text() + "initial: {ball: {velocity: [0, 0, 1, 2, 0, 3]}}\n")
    summary = deft.json("sim", falling_ball, "--model", "convex-second-order", "--steps", 10, "--out", "run")
    # Semi-implicit: the velocity of a step counts for the whole of it.
    assert summary["q"]["ball/x"] == pytest.approx(2, rel=1e-12)
    assert summary["q"]["ball/z"] == pytest.approx(3 - 9.81 * 0.01 * 55, rel=1e-12)
    assert summary["q"]["ball/qz"] == pytest.approx(np.sin(0.5), rel=1e-12)
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        v, z, energy = run["v"][:], run["q"][:, 6], run["steps/energy"][:]
        assert v.shape == (11, 6) and list(v[0]) == [0, 0, 1, 2, 0, 3]
        assert np.allclose(v[:, 5], 3 - 9.81 * 0.1 * np.arange(11), atol=1e-12)
        kinetic = 0.5 * 2 * (4 + v[1:, 5] ** 2) + 0.5 * (0.4 * 2 * 0.01) * 1
        assert np.allclose(energy, kinetic + 2 * 9.81 * z[1:], atol=1e-9)
    assert deft.json("sim", falling_ball, "--steps", 1, "--out", "first")["status"] == "Completed"
    with h5py.File(tmp_path / "first" / "run.h5") as run:
        assert "v" not in run


def test_what_nothing_carries_is_unbounded(deft, falling_ball):
    summary = deft.json("sim", falling_ball, "--steps", 5, "--set", "step.dynamics=quasistatic", "--out", "run", code=1)
    assert summary["status"] == "Unbounded" and summary["statuses"] == {"Unbounded": 1}


def test_a_folder_in_use_is_kept_unless_forced(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 3)
    before = (tmp_path / "run" / "run.h5").read_bytes()
    assert "--force" in deft.run("sim", pushed_ball, "--out", "run", "--steps", 5, code=2).stderr
    assert (tmp_path / "run" / "run.h5").read_bytes() == before
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 5, "--force")
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert len(run["t"]) == 6


def test_the_default_folder_is_named_by_scene_and_time(deft, pushed_ball, tmp_path):
    text = deft.run("sim", pushed_ball, "--steps", 1).stdout
    (folder,) = (tmp_path / "out").glob("pushed_ball-20??????-??????")
    assert text.splitlines()[-1] == f"open out/{folder.name}/run.html"
    for word in ["Completed", "ball/qw", "p95", "residual", "summary.json"]:
        assert word in text


def test_dumped_problems_solve_to_the_same_motion(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--dump-problems", "dump")
    files = sorted((tmp_path / "dump").iterdir())
    assert [file.name for file in files] == [f"pushed_ball_{k:06}.json.gz" for k in range(20)]
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        q, energy = run["q"][:], run["steps/energy"][:]
        hand = list(run.attrs["names_q"]).index("hand/x")
    result = deft.json("solve", files[12])
    assert result["name"] == "pushed_ball_000012" and result["status"] == "Solved"
    assert result["solution"]["delta"][6] == pytest.approx(q[13, hand] - q[12, hand], abs=1e-9)
    assert result["energy"] == pytest.approx(energy[12], rel=1e-9)


def test_only_failed_problems_are_dumped_when_asked(deft, falling_ball, tmp_path):
    arguments = ["sim", falling_ball, "--steps", 4, "--dump-problems", "dump", "--dump-if", "failed"]
    deft.run(*arguments, "--out", "good")
    assert list((tmp_path / "dump").iterdir()) == []
    deft.run(*arguments, "--out", "bad", "--set", "step.dynamics=quasistatic", code=1)
    (file,) = (tmp_path / "dump").iterdir()
    assert deft.json("solve", file, code=1)["status"] == "Unbounded"


def test_view_writes_the_page_again(deft, pushed_ball, tmp_path):
    deft.run("sim", pushed_ball, "--out", "run", "--steps", 4)
    page = tmp_path / "run" / "run.html"
    first = page.read_text()
    page.unlink()
    assert deft.json("view", "run", "--no-open") == {"files": ["run/run.html"]}
    assert page.read_text() == first
    assert deft.run("view", "run/run.h5", "--no-open").stdout.splitlines()[-1] == "run/run.html"


@pytest.mark.parametrize("content", [None, b"", b"not HDF5"])
def test_view_says_what_is_no_run(deft, tmp_path, content):
    (tmp_path / "run").mkdir()
    if content is not None:
        (tmp_path / "run" / "run.h5").write_bytes(content)
    assert "run" in deft.run("view", "run", "--no-open", code=2).stderr


def test_json_numbers_read_back_to_the_same_double(deft, pushed_ball, tmp_path):
    text = deft.run("sim", pushed_ball, "--out", "run", "--json").stdout
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert list(json.loads(text)["q"].values()) == list(run["q"][-1])


def test_a_simulation_goes_on_from_where_a_run_was(deft, root):
    scene = root / "scenes" / "plants" / "pendulum.deft.yaml"
    second = ["--model", "convex-second-order", "--h", 0.01]
    whole = deft.json("sim", scene, *second, "--duration", 1, "--out", "whole")["q"]
    deft.json("sim", scene, *second, "--duration", 0.5, "--out", "half")
    assert deft.json("sim", scene, *second, "--duration", 0.5, "--from", "half", "--out", "rest")["q"] == pytest.approx(whole, abs=1e-9)
    middle = deft.json("sim", scene, *second, "--duration", 0.6, "--from", "whole@0.4", "--out", "rest4")["q"]
    assert middle == pytest.approx(whole, abs=1e-9)
    start = deft.json("sim", scene, *second, "--steps", 0, "--out", "start")["q"]
    assert deft.json("sim", scene, *second, "--steps", 0, "--from", "whole@0", "--out", "again")["q"] == pytest.approx(start)
    assert start != pytest.approx(whole, abs=1e-3)


@pytest.mark.parametrize(
    "run, words",
    [
        ("nowhere", ["no such run"]),
        ("run@5", ["t = 5 s is not in the run", "0 to 2 s"]),
        ("run@soon", ["'soon' is no time", "RUN@SECONDS"]),
    ],
)
def test_a_run_to_start_from_must_be_there(deft, pushed_ball, tmp_path, run, words):
    deft.json("sim", pushed_ball, "--out", "run")
    done = deft.run("sim", pushed_ball, "--from", run, "--out", "next", code=2)
    assert all(word in done.stderr for word in words), done.stderr
    assert not (tmp_path / "next").exists()


def test_a_run_of_other_coordinates_is_no_start(deft, pushed_ball, root, tmp_path):
    deft.json(
        "sim",
        root / "scenes" / "plants" / "pendulum.deft.yaml",
        "--steps",
        2,
        "--model",
        "convex-second-order",
        "--h",
        0.01,
        "--out",
        "run",
    )
    done = deft.run("sim", pushed_ball, "--from", "run", "--out", "next", code=2)
    assert "has other coordinates than the scene" in done.stderr and not (tmp_path / "next").exists()


def test_every_instruction_set_of_the_processor_ends_in_the_same_place(deft, pushed_ball):
    refused = deft.run("sim", pushed_ball, "--out", "run", code=2, DEFT_ISA="sse9").stderr
    sets = refused.rsplit(": ", 1)[-1].split(", ")
    assert "DEFT_ISA is 'sse9'" in refused and sets[-1].strip() == "baseline"
    usual = deft.json("sim", pushed_ball, "--out", "run")["q"]
    for name in sets:
        found = deft.json("sim", pushed_ball, "--out", name.strip(), DEFT_ISA=name.strip())["q"]
        assert list(found.values()) == pytest.approx(list(usual.values()), abs=1e-9)
