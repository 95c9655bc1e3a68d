"""deft track and deft replay: what they print, write and refuse."""

import json
import signal
import time

import h5py
import pytest
import yaml

KEYS = {"status", "success", "final_error", "max_error", "period_us", "files"}
PUSHER = """
deft: 1
name: pusher
bodies:
  hand: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {translation: xy}, mu: 0.5}
  disc: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {planar: xy}, mu: 0.5}
robots: [{name: hand, stiffness: 100}]
plane: xy
gravity: [0, 0, 0]
step: {h: 0.1, rays: 2, contact_margin: .inf}
configurations: {start: {hand: {x: -0.21, y: 0}, disc: {x: 0, y: 0, theta: 0}}}
initial: start
commands: {knots: [{t: 0, hand: [-0.21, 0]}, {t: 1, hand: [0, 0]}, {t: 2, hand: [0, 0]}]}
track: {settle: 0.2, speed: 0.1}
"""


@pytest.fixture
def plan(deft, tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(PUSHER)
    deft.run("sim", scene, "--out", tmp_path / "plan", "--quiet")
    return tmp_path / "plan"


def tracked(deft, plan, out, command, *arguments):
    return deft.json(command, plan, *arguments, "--out", out, "--quiet")


@pytest.mark.parametrize("plant", ["quasidynamic", "convex-second-order", "stewart-trinkle"])
@pytest.mark.parametrize("controller", ["open-loop", "mpc"])
def test_a_straight_push_arrives(deft, plan, tmp_path, plant, controller):
    printed = tracked(deft, plan, tmp_path / "run", "track", "--plant", plant, "--controller", controller)
    assert KEYS <= set(printed)
    assert printed["status"] == "Completed" and printed["success"] is True
    assert set(printed["final_error"]) == {"position_m", "rotation_rad"}
    assert set(printed["period_us"]) == {"p50", "p99"}
    assert printed["final_error"]["position_m"] < 0.01
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        steps = len(run["/t"]) - 1
        assert run["/track/reference_q"].shape == run["/q"].shape
        assert len(run["/track/knot"]) == steps
        assert ("/v" in run) == (plant != "quasidynamic")
        assert run["/track/position_error"][-1] == pytest.approx(printed["final_error"]["position_m"], abs=1e-9)
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == printed
    assert (tmp_path / "run" / "run.html").stat().st_size > 10000
    lines = (tmp_path / "run" / "deft.log").read_text().splitlines()
    assert f"on the plant {plant}, controller {controller}" in lines[0] and "seed 0: Completed, arrived" in lines[-1]
    assert yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())["name"] == "pusher"


def test_replay_in_the_plans_own_world_repeats_it(deft, plan, tmp_path):
    printed = tracked(
        deft, plan, tmp_path / "run", "replay", "--plant", "quasidynamic", "--set", "track.period=0.1", "--set", "track.plant_step=0.1"
    )
    assert printed["final_error"]["position_m"] < 1e-8
    assert printed["max_error"]["position_m"] < 1e-8
    assert printed["t_end"] == pytest.approx(2), "nothing is added at the end, whatever track.settle is in the scene"


def test_replay_that_does_not_arrive_says_how_far_off_it_is(deft, plan, tmp_path):
    """Pushed with momentum and nothing to resist it, the disc glides on."""
    arguments = ("--plant", "convex-second-order", "--set", "track.object_damping=0", "--out", tmp_path / "run", "--quiet")
    printed = deft.run("replay", plan, *arguments, code=1).stdout
    assert "Completed  not arrived: objects are 0.18" in printed


def recorded(deft, folder, text, **replaced):
    """The folder of a `deft sim` run of the scene in which keys are replaced."""
    scene = yaml.safe_load(text) | replaced
    (folder / "other.yaml").write_text(yaml.safe_dump(scene, sort_keys=False))
    deft.run("sim", folder / "other.yaml", "--out", folder / "other", "--quiet")
    return folder / "other"


SECOND_ORDER = {"h": 0.002, "rays": 2, "contact_margin": float("inf"), "model": "convex-second-order"}


def test_replay_of_a_run_of_second_order_repeats_it(deft, tmp_path):
    """The hand stops and the disc glides on, which nothing resists: not even as plans of first order would have it."""
    run = recorded(deft, tmp_path, PUSHER, step=SECOND_ORDER,
                   commands={"knots": [{"t": 0, "hand": [-0.21, 0]}, {"t": 0.2, "hand": [-0.15, 0]}, {"t": 0.6, "hand": [-0.15, 0]}]})  # fmt: skip
    printed = tracked(deft, run, tmp_path / "run", "replay", "--plant", "convex-second-order", "--set", "track.damping_ratio=0",
                      "--set", "track.joint_lag=0", "--set", "track.plant_step=0.002")  # fmt: skip
    assert printed["max_error"]["position_m"] < 1e-9
    with h5py.File(tmp_path / "run" / "run.h5") as again, h5py.File(run / "run.h5") as first:
        assert first["q"][-1, 2] > 0.05, "the disc was pushed"
        assert again["q"].shape == first["q"].shape, "periods no longer than the run's steps: every command"
        assert abs(again["q"][:] - first["q"][:]).max() < 1e-9


TWO_PUSHERS = """
deft: 1
name: two pushers
bodies:
  hand: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {translation: xy}, mu: 0.5}
  hand2: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {translation: xy}, mu: 0.5}
  disc: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {planar: xy}, mu: 0.5}
  disc2: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {planar: xy}, mu: 0.5}
  wall: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {planar: xy}, mu: 0.5}
  door: {shape: {box: {size: [0.4, 0.02, 0.2]}}, mass: 1, joint: {revolute: [0, 0, 1]}, pose: {translation: [2, 2, 0]}, mu: 0.5}
robots: [{name: hand, stiffness: 100}, {name: hand2, stiffness: 50}]
objects: [{name: wall, frozen: true}]
plane: xy
gravity: [0, 0, 0]
step: {h: 0.07, rays: 2, contact_margin: .inf}
configurations: {start: {hand: {x: -0.21, y: 0}, disc: {x: 0, y: 0, theta: 0}, hand2: {x: 0, y: 1}, disc2: {x: 0, y: 1.21}, wall: {x: 3, y: 3}}}
initial: start
commands: {knots: [{t: 0, hand: [-0.21, 0], hand2: [0, 1]}, {t: 1, hand: [0, 0], hand2: [0, 1.1]}, {t: 2, hand: [0, 0]}]}
track: {settle: 0.2, speed: 10, replan: false}
"""


def test_steps_of_a_millisecond_are_certified(deft, tmp_path):
    """Some of their points solve the rows to 1e-9 and are too rough for the contacts: they are solved again."""
    plan = recorded(deft, tmp_path, TWO_PUSHERS)
    printed = tracked(deft, plan, tmp_path / "run", "track", "--plant", "stewart-trinkle")
    assert printed["status"] == "Completed"


def test_replay_repeats_forces_and_track_refuses_them(deft, tmp_path):
    run = recorded(deft, tmp_path, PUSHER, step=SECOND_ORDER, robots=[{"name": "hand", "drive": "force"}],
                   commands={"interpolation": "hold", "knots": [{"t": 0, "hand": [1, 0]}, {"t": 0.4, "hand": [1, 0]}]})  # fmt: skip
    tracked(deft, run, tmp_path / "run", "replay", "--plant", "convex-second-order", "--set", "track.plant_step=0.002")
    with h5py.File(tmp_path / "run" / "run.h5") as again, h5py.File(run / "run.h5") as first:
        assert abs(first["q"][-1] - first["q"][0]).max() > 0.03
        assert abs(again["q"][:] - first["q"][:]).max() < 1e-9
    for controller in ("open-loop", "mpc"):
        stderr = deft.run("track", run, "--controller", controller, "--out", tmp_path / "no", code=2).stderr
        assert "'hand' has drive: force" in stderr and "deft replay" in stderr
    assert not (tmp_path / "no").exists()


def test_what_the_controller_cannot_predict_is_refused_before_anything_is_written(deft, plan, tmp_path):
    second = recorded(deft, tmp_path, PUSHER, step=SECOND_ORDER)
    for run, arguments, words in ((second, (), ("step.model", "convex-second-order", "--model convex")),
                                  (plan, ("--h", 0.05), ("step.h", "0.05", "valid: 0.1")),
                                  (plan, ("--set", "step.friction_law=coulomb"), ("friction_law", "coulomb", "associated")),
                                  (plan, ("--disturb", tmp_path), ("cannot be read as a file",))):  # fmt: skip
        stderr = deft.run("track", run, *arguments, "--out", tmp_path / "no", code=2).stderr
        for word in words:
            assert word in stderr
    assert not (tmp_path / "no").exists()


def test_a_start_that_does_not_fit_is_the_failure_of_its_seed(deft, tmp_path):
    """A disc between two walls that touch it: where it grows nothing can be done, where it shrinks it is as before."""
    walls = {
        f"wall{k}": {"shape": {"box": {"size": [1, 0.2, 1]}}, "pose": {"translation": [0, 0.2 * k, 0]}, "joint": "fixed", "mu": 0.5}
        for k in (-1, 1)
    }
    plan = recorded(deft, tmp_path, PUSHER, bodies=yaml.safe_load(PUSHER)["bodies"] | walls)
    (tmp_path / "size.yaml").write_text("size: 0.02\n")
    done = deft.run(
        "track", plan, "--disturb", "size.yaml", "--seeds", 6, "--out", "run", "--quiet", "--json", "--set", "track.replan=false", code=None
    )
    runs = json.loads(done.stdout)["runs"]
    assert done.returncode == 3 and json.loads(done.stdout)["arrived_share"] == sum(run["arrived"] for run in runs) / 6
    assert {run["status"] for run in runs} == {"StartFailed", "Completed"}
    for run in runs:
        assert run["success"] == (run["status"] == "Completed"), run
    assert (tmp_path / "run" / "run.html").stat().st_size > 10000


def test_a_run_that_is_cut_says_so(deft, plan, tmp_path):
    for option, value, status in (("--max-duration", 0.05, "DurationLimit"), ("--time-limit", 0.001, "TimeLimit")):
        summary = deft.json("track", plan, option, value, "--out", "cut", "--force", code=1)
        assert summary["status"] == status and not summary["arrived"] and "time are over" in summary["reason"]
        assert summary["duration_s"] < summary["plan_duration_s"] and summary["held_s"] == 0 and summary["new_plans"] == 0


def test_seeds_give_statistics_and_the_same_numbers_again(deft, plan, tmp_path):
    disturb = tmp_path / "disturb.yaml"
    disturb.write_text("offset_m: 0.003\nfriction: 0.2\nnoise_m: 0.001\ndelay_s: 0.05\nlag_periods: 1\n")
    arguments = ("--disturb", disturb, "--seeds", 3, "--seed", 5, "--set", "track.replan=false")
    codes = {True: 0, False: 1}
    runs = []
    for name in ("a", "b"):
        result = deft.run("track", plan, *arguments, "--out", tmp_path / name, "--json", "--quiet", code=None)
        printed = json.loads(result.stdout)
        assert result.returncode == codes[printed["success"]]
        assert [run["seed"] for run in printed["runs"]] == [5, 6, 7]
        assert printed["statistics"]["seeds"] == 3
        runs.append([(run["final_error"], run["max_error"]) for run in printed["runs"]])
    assert runs[0] == runs[1]
    assert runs[0][0] != runs[0][1]


def test_a_run_of_many_is_that_of_its_own_seed(deft, plan, tmp_path):
    disturb = tmp_path / "disturb.yaml"
    disturb.write_text("offset_m: 0.015\n")
    numbers = []
    for name, seeds in (("many", ("--seeds", 2, "--seed", 5)), ("alone", ("--seed", 6))):
        result = deft.run(
            "track",
            plan,
            "--plant",
            "convex-second-order",
            "--disturb",
            disturb,
            *seeds,
            "--out",
            tmp_path / name,
            "--json",
            "--quiet",
            code=None,
        )
        printed = json.loads(result.stdout)
        numbers.append({key: printed.get("runs", [printed])[-1][key] for key in ("seed", "final_error", "max_error", "replans", "t_end")})
    assert numbers[0]["replans"] > 0  # new plans too are drawn from the run's seed
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_seeds_that_are_finished_are_kept(deft, plan, tmp_path, how, code):
    disturb = tmp_path / "disturb.yaml"
    disturb.write_text("offset_m: 0.003\n")
    process = deft.start("track", plan, "--disturb", disturb, "--seeds", 100_000, "--set", "track.replan=false", "--out", "run", "--quiet")
    summary = tmp_path / "run" / "summary.json"
    end = time.monotonic() + 60
    while not (summary.exists() and json.loads(summary.read_text())["statistics"]["seeds"] > 2):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode == code
    kept = json.loads(summary.read_text())
    ended = [run for run in kept["runs"] if run["status"] == "Completed"]
    assert len(kept["runs"]) - len(ended) <= 1
    assert kept["statistics"]["seeds"] == len(ended) > 2, "a run that was cut short is no failure"
    assert kept["statistics"]["successes"] == sum(run["success"] for run in ended)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("friction: 1.5\n", ("friction", "1.5", "below 1")),
        ("offset_m: -1\n", ("offset_m", "-1")),
        ("ofset_m: 1\n", ("ofset_m", "offset_m")),
        ("lag_periods: 0.5\n", ("lag_periods", "0.5")),
        ("delay_s: .nan\n", ("delay_s",)),
    ],
)
def test_bad_disturbances_are_named(deft, plan, tmp_path, text, words):
    disturb = tmp_path / "disturb.yaml"
    disturb.write_text(text)
    result = deft.run("track", plan, "--disturb", disturb, "--out", tmp_path / "run", code=2)
    assert "disturb.yaml" in result.stderr
    for word in words:
        assert word in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["track", "replay"])
def test_without_mujoco_it_says_what_is_missing_and_how_to_install_it(deft, plan, tmp_path, monkeypatch, command):
    monkeypatch.setenv("DEFT_MUJOCO_LIBRARY", str(tmp_path / "libmujoco.so.4.0.0"))
    result = deft.run(command, plan, "--plant", "mujoco", "--out", tmp_path / "run", code=2)
    assert "mujoco" in result.stderr and "pip install mujoco-core" in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command", ["track", "replay"])
def test_without_drake_it_says_what_is_missing_and_how_to_install_it(deft, plan, tmp_path, monkeypatch, command):
    monkeypatch.setenv("DEFT_DRAKE_PYTHON", "/bin/false")
    result = deft.run(command, plan, "--plant", "drake", "--out", tmp_path / "run", code=2)
    assert "plant drake" in result.stderr and "pip install drake" in result.stderr and "/bin/false" in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("plant", ["quasidynamic", "convex-second-order", "stewart-trinkle"])
def test_the_problems_of_a_plants_steps_are_solved_again(deft, plan, tmp_path, plant):
    printed = deft.json("track", plan, "--plant", plant, "--set", "track.settle=0", "--set", "track.plant_step=0.1",
                        "--set", "track.period=0.1", "--set", "track.replan=false", "--dump-problems", tmp_path / "dump",
                        "--out", tmp_path / "run", "--quiet", code=None)  # fmt: skip
    assert str(tmp_path / "dump") in printed["files"]
    files = sorted((tmp_path / "dump").iterdir())
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert len(files) == len(run["/t"]) - 1
    for file in (files[0], files[len(files) // 2], files[-1]):
        assert deft.json("solve", file)["status"] in ("Solved", "NotUnique")


def test_mujoco_takes_short_steps_unless_told_otherwise(deft, plan, tmp_path):
    for number, (settings, step) in enumerate(
        (([], "0.00025"), (["track.mujoco_step=0.002"], "0.001"), (["track.mujoco_step=0.002", "track.plant_step=0.004"], "0.002"))
    ):
        arguments = [argument for setting in settings for argument in ("--set", setting)]
        done = deft.json("replay", plan, "--plant", "mujoco", *arguments, "--out", tmp_path / str(number), "--quiet", code=None)
        assert f"inner step: {step} s at most" in done["plant"]["settings"][0]


def test_a_plan_arrives_in_mujoco_under_all_disturbances(deft, scenes, tmp_path):
    """From the search to the other simulator, with new plans where the disturbances need them; open loop does not arrive."""
    scene, disturbances = scenes / "planning" / "planar_pushing.deft.yaml", scenes / "planning" / "disturb" / "all.yaml"
    deft.run("plan", scene, "--seed", "3", "--first", "--out", tmp_path / "plan", "--quiet")
    arguments = (tmp_path / "plan", "--plant", "mujoco", "--disturb", disturbances, "--seeds", "2", "--quiet")
    done = deft.json("track", *arguments, "--out", tmp_path / "run")
    assert done["statistics"]["successes"] == 2 and done["plant"]["name"] == "mujoco"
    assert done["new_plans"] >= 1 and done["held_s"] < 1
    assert done["final_error"]["position_m"] < 0.005 and done["final_error"]["rotation_rad"] < 0.05
    alone = deft.json("track", *arguments, "--controller", "open-loop", "--out", tmp_path / "open", code=1)
    assert alone["statistics"]["successes"] < 2
    assert alone["final_error"]["position_m"] > done["final_error"]["position_m"]


@pytest.mark.parametrize("plant", ["mujoco", "drake"])
def test_what_solves_no_problem_of_ours_dumps_none(deft, plan, tmp_path, plant):
    done = deft.run("track", plan, "--plant", plant, "--dump-problems", tmp_path / "dump", "--out", tmp_path / "run", code=2)
    assert "--dump-problems" in done.stderr and "quasidynamic" in done.stderr
    assert not (tmp_path / "dump").exists()


def test_bad_arguments_are_named(deft, plan, tmp_path):
    for arguments, words in (
        (("--plant", "bullet"), ("bullet", "drake", "mujoco", "quasidynamic")),
        (("--controller", "pid"), ("pid", "open-loop", "mpc")),
        (("--set", "track.period=0"), ("track.period", "0")),
    ):
        result = deft.run("track", plan, *arguments, "--out", tmp_path / "run", code=2)
        for word in words:
            assert word in result.stderr
    assert "nothing" in deft.run("track", tmp_path / "nothing", "--out", tmp_path / "run", code=2).stderr


def test_settings_list_what_may_go_wrong(deft, scenes):
    listed = deft.run("info", "--settings").stdout
    for key in [*yaml.safe_load((scenes / "planning" / "disturb" / "all.yaml").read_text()), "dropout", "backlash_m"]:
        assert f"--disturb: {key} " in listed
