"""The study of plans that hold: a small one from end to end, what it keeps and runs again, its seeds, how it judges an arrival, and its page."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from reproductions import plans_that_hold as page
from reproductions.experiment import Laboratory
from reproductions.holding_study import verdict, wilson

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks/peers"))
from suites import holding_cells as kept  # noqa: E402
from suites import plans_that_hold as study  # noqa: E402
from suites import recording  # noqa: E402
from suites.goal_errors import goal_errors, quaternion_of  # noqa: E402
from suites.programs import Failed  # noqa: E402

# A fingertip in a plane pushes a block on a rail, weightless: every judge agrees within a second.
SCENE = """
deft: 1
name: nudge
bodies:
  finger: {shape: {sphere: {radius: 0.02}}, joint: {translation: xy}, mass: 0.1, mu: 0.5}
  block: {shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 1, joint: {prismatic: [1, 0, 0]}, mu: 0.5}
robots:
  - {name: finger, stiffness: 500}
gravity: [0, 0, 0]
step: {h: 0.1, cone: pyramid, rays: 4, contact_margin: 0.05}
configurations:
  start: {finger: {x: -0.1}}
initial: start
goals:
  along: {block: {s: 0.04}, tolerance: {joint: 0.01}}
"""
SMALL = {
    "seeds": {"count": 2, "block": 1, "pilot": [1], "least": 1000, "below": 1000000},
    "plants": {
        "quasidynamic": {"plant": "quasidynamic", "seeds": 2, "weightless_damping": 1.0, "bar": True},
        "second-order": {"plant": "convex-second-order", "seeds": 1, "weightless_damping": 1.0, "bar": True},
        "followed": {
            "plant": "convex-second-order",
            "seeds": 1,
            "weightless_damping": 1.0,
            "controller": "mpc",
            "set": ["track.horizon=2"],
            "disturb": "scenes/planning/disturb/all.yaml",
            "variants": ["default"],
        },
    },
    "systems": {"nudge": {"scene": "nudge", "goals": ["along"], "group": "planar", "weightless": True}},
    "variants": {"default": {"what": "as it is"}, "first": {"what": "the first plan", "options": ["--first"], "seeds": 1}},
}


@pytest.fixture
def laboratory(tmp_path, monkeypatch):
    """Settings of a small study, and what makes a Study of them that counts its commands."""
    values = json.loads((kept.FOLDER / "settings.json").read_text()) | SMALL
    values["plan"]["threads"] = 1
    (tmp_path / "settings.json").write_text(json.dumps(values))
    (tmp_path / "nudge.deft.yaml").write_text(SCENE)
    calls = []

    def make(work="work", **changes):
        (tmp_path / "settings.json").write_text(json.dumps(values | changes))
        settings = kept.Settings.read(tmp_path / "settings.json")
        build = Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build" / "release"))
        made = study.Study(build, settings, [1001, 1002], kept.CellStore(tmp_path / "cells", "abc"), tmp_path / work, tmp_path)
        call = made.call

        def counted(folder, command, *words):
            calls.append(command)
            return call(folder, command, *words)

        monkeypatch.setattr(made, "call", counted)
        return made

    return SimpleNamespace(make=make, calls=calls, folder=tmp_path, values=values)


def test_a_small_study_is_made_kept_and_shown(laboratory):
    made = laboratory.make()
    made.run(["nudge"], ["default", "first"])
    assert made.absent == {}
    assert laboratory.calls.count("plan") == 3 and laboratory.calls.count("replay") == 2 + 1 + 2 and laboratory.calls.count("track") == 1
    names = sorted(path.name for path in (laboratory.folder / "cells").iterdir())
    assert names == sorted(f"nudge.{cell}.json" for cell in ("default.followed.0", "default.plan.0", "default.plan.1", "default.quasidynamic.0", "default.quasidynamic.1",
                                                             "default.second-order.0", "first.plan.0", "first.quasidynamic.0", "first.second-order.0"))  # fmt: skip
    plans = json.loads((laboratory.folder / "cells/nudge.default.plan.1.json").read_text())
    assert plans["commit"] == "abc" and plans["rows"][0]["seed"] == 1002 and plans["rows"][0]["status"] == "Solved"
    assert set(plans["rows"][0]["holds"]) == {"h", "h/2", "h/5", "second-order", "worlds"}
    # Made to half of the tolerance of an arrival, which the plant of the plan's own steps keeps.
    assert plans["rows"][0]["holds"]["h"]["joint"] <= 0.005
    played = json.loads((laboratory.folder / "cells/nudge.default.quasidynamic.1.json").read_text())["rows"]
    assert played == [
        {"seed": 1002, "goal": "along", "status": "Completed", "arrived": True, **{k: played[0][k] for k in study.errors_of(played[0])}}
    ]
    assert played[0]["joint"] <= 0.01
    followed = json.loads((laboratory.folder / "cells/nudge.default.followed.0.json").read_text())["rows"][0]
    assert followed["status"] == "Completed" and followed["arrived"] and followed["new_plans"] == 0 and followed["held_s"] == 0
    assert followed["duration_s"] == pytest.approx(followed["plan_duration_s"] + 1, abs=0.02) and followed["period_p99_us"] > 0
    # A fresh clone: the cells are there, the plans are not. Nothing is run again.
    laboratory.calls.clear()
    laboratory.make("elsewhere").run(["nudge"], ["default", "first"])
    assert laboratory.calls == []
    text = page.text(page.measure(Laboratory(Path("nowhere"), laboratory.folder), laboratory.folder))
    assert "| nudge | along | 2/2 (34 … 100 %) |" in text and "1/1 (21 … 100 %)" in text and "None did." in text
    assert "| nudge | followed | 1/1 (21 … 100 %) |" in text and "All arrive." in text


def test_what_changes_is_run_again_and_nothing_else(laboratory):
    laboratory.make().run(["nudge"], ["default"])
    laboratory.calls.clear()
    # A lost cell of a plant: its plan is still here.
    (laboratory.folder / "cells/nudge.default.quasidynamic.0.json").unlink()
    laboratory.make().run(["nudge"], ["default"])
    assert laboratory.calls == ["replay"]
    laboratory.calls.clear()
    # Elsewhere it is made first; the search is the same, and so is its cell.
    (laboratory.folder / "cells/nudge.default.quasidynamic.0.json").unlink()
    before = (laboratory.folder / "cells/nudge.default.plan.0.json").read_text()
    laboratory.make("elsewhere").run(["nudge"], ["default"])
    assert laboratory.calls == ["plan", "replay"]
    assert (laboratory.folder / "cells/nudge.default.plan.0.json").read_text() == before
    laboratory.calls.clear()
    # Another way to judge an arrival: plants are played again, plans are not made again.
    arrived = laboratory.values["arrived"] | {"settle_s": 0.5}
    laboratory.make(arrived=arrived).run(["nudge"], ["default"])
    assert sorted(laboratory.calls) == ["replay"] * 3 + ["track"]
    laboratory.calls.clear()
    made = laboratory.make(arrived=arrived, plan=laboratory.values["plan"] | {"made_to": 0.4})
    made.run(["nudge"], ["default"])
    assert laboratory.calls.count("plan") == 2 and laboratory.calls.count("replay") == 3
    # Words and bars change no number.
    laboratory.calls.clear()
    laboratory.make(arrived=arrived, plan=laboratory.values["plan"] | {"made_to": 0.4}, bars={}, definitions={}).run(["nudge"], ["default"])
    assert laboratory.calls == []


def test_keys_depend_on_sources_models_and_compiler(tmp_path):
    (tmp_path / "src/deft/viewer").mkdir(parents=True)
    (tmp_path / "src/deft/step.cpp").write_text("int a;")
    first = kept.sources_digest(tmp_path)
    (tmp_path / "src/deft/README.md").write_text("words")
    (tmp_path / "src/deft/viewer/page.cpp").write_text("int b;")
    assert kept.sources_digest(tmp_path) == first
    (tmp_path / "src/deft/step.cpp").write_text("int c;")
    assert kept.sources_digest(tmp_path) != first
    scene = tmp_path / "scene.yaml"
    scene.write_text('{file: "package://deft_scenes/models/hand.sdf"}')
    (tmp_path / "models").mkdir()
    (tmp_path / "models/hand.sdf").write_text("1")
    first = kept.scene_digest(scene, tmp_path)
    (tmp_path / "models/hand.sdf").write_text("2")
    assert kept.scene_digest(scene, tmp_path) != first
    (tmp_path / "CMakeFiles/3").mkdir(parents=True)
    (tmp_path / "CMakeFiles/3/CMakeCXXCompiler.cmake").write_text(
        'set(CMAKE_CXX_COMPILER_ID "GNU")\nset(CMAKE_CXX_COMPILER_VERSION "12.2.0")\n'
    )
    (tmp_path / "CMakeCache.txt").write_text("CMAKE_BUILD_TYPE:STRING=Release\n")
    assert recording.compiler_of(tmp_path) == "GNU 12.2.0 Release"
    with pytest.raises(Failed, match="no build folder"):
        recording.compiler_of(tmp_path / "models")


def git(folder, *words):
    subprocess.run(["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True)


def test_the_program_of_a_study_is_that_of_its_commit(laboratory):
    root, work = laboratory.folder / "root", laboratory.folder / "trees"
    for name, text in {"src/deft/step.cpp": "int a;", "scenes/planning/a.deft.yaml": "a"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "run").write_text('[ "$*" = "build deft" ] && mkdir -p build/release && cp src/deft/step.cpp build/release/deft\n')
    git(root, "init")
    git(root, "add", ".")
    git(root, "commit", "-m", "frozen")
    commit = recording.commit_of(root)
    # Words and further scenes do not matter.
    (root / "src/deft/README.md").write_text("words")
    (root / "scenes/planning/b.deft.yaml").write_text("b")
    assert kept.tree_of(commit, work, root) == root
    (root / "scenes/planning/a.deft.yaml").write_text("c")
    assert kept.tree_of(commit, work, root) == work / f"tree-{commit[:16]}"
    (root / "scenes/planning/a.deft.yaml").write_text("a")
    (root / "src/deft/step.cpp").write_text("int b;")
    tree = kept.tree_of(commit, work, root)
    assert (tree / "src/deft/step.cpp").read_text() == "int a;"
    with pytest.raises(Failed, match="0123456789012345678901234567890123456789, which is not in this clone"):
        kept.tree_of("0123456789012345678901234567890123456789", work, root)
    # It is built when it is needed, and not before.
    usual = laboratory.make()
    made = study.Study(usual.build, usual.settings, usual.seeds, usual.store, work, tree=tree)
    assert made.depends != usual.depends and made.scenes == tree / "scenes/planning" and not (tree / "build").exists()
    assert made.deft.read_text() == "int a;"
    (tree / "build/release/deft").unlink()
    (tree / "run").write_text("exit 3\n")
    with pytest.raises(Failed, match="cannot be built"):
        study.Study(usual.build, usual.settings, usual.seeds, usual.store, work, tree=tree).built()


def test_seeds_are_drawn_once_from_the_commit_that_froze_the_settings(tmp_path):
    git(tmp_path, "init")
    (tmp_path / "settings.json").write_text((kept.FOLDER / "settings.json").read_text())
    with pytest.raises(Failed, match="freeze"):
        kept.read_seeds(tmp_path)
    with pytest.raises(Failed, match="commit it first"):
        kept.write_seeds(tmp_path, tmp_path)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "frozen")
    file = kept.write_seeds(tmp_path, tmp_path)
    seeds = kept.read_seeds(tmp_path)
    assert len(set(seeds)) == 50 and min(seeds) >= 1000 and max(seeds) < 1000000 and not set(seeds) & {1, 2, 3}
    with pytest.raises(Failed, match="drawn once"):
        kept.write_seeds(tmp_path, tmp_path)
    drawn = json.loads(file.read_text())
    file.write_text(json.dumps(drawn | {"seeds": [7, *seeds[1:]]}))
    with pytest.raises(Failed, match="not the seeds of the rule"):
        kept.read_seeds(tmp_path)
    (tmp_path / "settings.json").write_text((tmp_path / "settings.json").read_text().replace('"made_to": 0.5', '"made_to": 0.6'))
    with pytest.raises(Failed, match="other settings"):
        kept.read_seeds(tmp_path)
    with pytest.raises(Failed, match="commit it first"):
        kept.write_seeds(tmp_path, tmp_path)


def test_the_settings_name_scenes_goals_and_words_that_there_are():
    values = json.loads((kept.FOLDER / "settings.json").read_text())
    for name, system in values["systems"].items():
        scene = study.Study.read_scene(ROOT / f"scenes/planning/{system['scene']}.deft.yaml")
        assert set(system["goals"]) <= set(scene["goals"]), name
        assert system["weightless"] == (scene["gravity"] == [0, 0, 0]), name
        assert system["group"] in values["bars"]["first_holding_p50_s"]
    assert len(values["systems"]["allegro_cube"]["goals"]) == 23 and "z_up_0" not in values["systems"]["allegro_cube"]["goals"]
    assert not set(values["plan"]["judges"]) & {"mujoco", "drake"}
    assert sum(system["weightless"] for system in values["systems"].values()) == 7
    if (kept.FOLDER / "seeds.json").exists():
        assert len(kept.read_seeds(kept.FOLDER)) == values["seeds"]["count"]


def run_of(names: dict[str, str], goal: dict, objects: list[str], plan: dict | None = None):
    """As much of a run as errors are taken from; names: the unit of each coordinate."""
    names_q = list(names)
    return SimpleNamespace(folder="x", scene={"goals": {"there": goal}, "plan": plan}, names_q=names_q, info={"q": [{"name": n, "unit": u} for n, u in names.items()]},
                           rows_q=lambda model: [i for i, name in enumerate(names_q) if name.startswith(model + "/")])  # fmt: skip


def test_errors_of_a_free_body_count_what_the_goal_names():
    free = {f"box/{name}": "" for name in ("qw", "qx", "qy", "qz")} | {f"box/{name}": "m" for name in "xyz"}
    turned = np.array([np.cos(0.1), 0, 0, np.sin(0.1), 1.0, 2.0, 3.0])
    goal = {"box": {"position": [1.0, 2.3, 3.4], "quat_wxyz": [-2, 0, 0, 0]}, "tolerance": {}}
    assert goal_errors(run_of(free, goal, ["box"]), "there", turned) == pytest.approx({"position_m": 0.5, "rotation_rad": 0.2, "joint": 0})
    assert goal_errors(run_of(free, {"box": {"y": 2.3}}, ["box"]), "there", turned) == pytest.approx(
        {"position_m": 0.3, "rotation_rad": 0, "joint": 0}
    )


def test_errors_of_planar_bodies_and_of_joints():
    planar = {"disc/y": "m", "disc/z": "m", "disc/theta": "rad"}
    goal = {"disc": {"y": 0.3, "z": 0.4, "theta": 6.0}}
    off = goal_errors(run_of(planar, goal, ["disc"]), "there", np.zeros(3))
    assert off == pytest.approx({"position_m": 0.5, "rotation_rad": 6.0, "joint": 0})
    assert goal_errors(run_of(planar, goal, ["disc"], {"wrap_angles": True}), "there", np.zeros(3))["rotation_rad"] == pytest.approx(
        2 * np.pi - 6
    )
    door = {"door/hinge": "rad", "door/knob": "rad"}
    assert goal_errors(run_of(door, {"door": {"hinge": -1.0, "knob": 0.5}}, ["door"]), "there", np.zeros(2)) == pytest.approx(
        {"position_m": 0, "rotation_rad": 0, "joint": 1.0}
    )


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi])
def test_quaternions_of_matrices_turn_the_same_way(angle):
    axis = np.array([1, 2, -2]) / 3
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    quat = quaternion_of(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
    assert abs(quat @ np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "goal"), [("allegro_plate", "published"), ("planar_pushing", "aside"), ("allegro_door", "open"), ("allegro_pen", "turned")]
)
def test_errors_are_those_of_the_planner(deft, tmp_path, name, goal):
    # The nearest way that a short search finds, whatever it is: both say how far it ends from the goal.
    from plant_scene import read_run

    done = subprocess.run([deft, "plan", ROOT / f"scenes/planning/{name}.deft.yaml", "--goal", goal, "--seed", "1", "--nodes", "2", "--first",
                           "--threads", "1", "--out", tmp_path / "run", "--json"], capture_output=True, text=True)  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    run = read_run(tmp_path / "run", deft)
    assert goal_errors(run, goal, run.q[-1]) == pytest.approx(json.loads(done.stdout)["goal_error"], abs=1e-6)


def test_a_plant_that_is_missing_is_named_and_the_rest_is_made(laboratory):
    plants = laboratory.values["plants"] | {"nowhere": {"plant": "nowhere", "seeds": 2, "weightless_damping": 1.0}}
    made = laboratory.make(plants=plants)
    made.run(["nudge"], ["default"])
    assert list(made.absent) == ["nowhere"] and "nowhere" in made.absent["nowhere"]
    assert (laboratory.folder / "cells/nudge.default.second-order.0.json").exists()


def test_unknown_arguments_are_named():
    with pytest.raises(Failed, match=r"planar_foot.*planar_hand.*--pilot"):
        study.bench_plans_that_hold(recording.Request(Path("nowhere"), ["planar_foot"]))


def test_failures_count_by_status_and_heaviest_cause():
    row = {
        "seed": 5,
        "success": False,
        "status": "NotHolding",
        "reasons": [{"reason": "judge", "weight": 1.0, "detail": "worlds: 0.3 m off"}],
    }
    assert page.failure_words(row) == "NotHolding: worlds"
    assert (
        page.failure_words(row | {"status": "TimeLimit", "reasons": [{"reason": "stall", "weight": 0.5, "detail": "nearest"}]})
        == "TimeLimit: stall"
    )
    assert page.failure_words(row | {"reasons": []}) == "NotHolding"


def test_a_plan_that_holds_after_the_time_limit_is_not_found():
    settings = json.loads((kept.FOLDER / "settings.json").read_text())
    limit = settings["plan"]["time_limit_s"]
    row = {"seed": 1, "success": True, "first_solution_s": 0.1, "first_holding_s": limit, "status": "Solved", "reasons": []}
    late, first, lost = (
        row | {"seed": 2, "first_holding_s": limit + 0.1},
        row | {"seed": 3, "first_holding_s": None},
        row | {"success": False},
    )
    played = [{"seed": seed, "arrived": True} for seed in (1, 2)]
    own = page.Study(
        {"settings": settings, "cells": {"planar_hand.default.plan": [row, late, first, lost], "planar_hand.default.mujoco": played}}
    )
    assert own.found("planar_hand") == [row, first]
    assert own.arrivals("planar_hand", "default", "mujoco") == (1, 1)
    assert page.failure_words(late) == "held after the time limit"


def test_shares_found_after_parts_of_the_time_count_all_seeds():
    settings = json.loads((kept.FOLDER / "settings.json").read_text())
    limit = settings["plan"]["time_limit_s"]
    times = [limit / 8, limit / 4 + 0.1, limit, limit + 0.1]  # the last is too late, and a fifth seed has no plan
    rows = [{"success": True, "first_solution_s": 0.1, "first_holding_s": time} for time in times]
    rows.append({"success": False, "first_solution_s": None, "first_holding_s": None})
    own = page.Study({"settings": settings, "cells": {"planar_hand.default.plan": rows}})
    assert page.within_rows(own) == [["planar_hand", "20 %", "20 %", "40 %", "60 %"]]


def test_percentiles_are_values_that_were_measured():
    assert page.percentile([3.0, 1.0, 2.0, 4.0], 0.5) == 2.0
    assert page.percentile([3.0, 1.0, 2.0, 4.0], 0.95) == 4.0
    assert page.spread([None]) == page.spread([]) == "–"
    assert page.spread([2.0, None, 1.0]) == "1, 2"


@pytest.mark.parametrize(("successes", "count"), [(0, 10), (10, 10), (7, 50), (45, 50), (1, 1)])
def test_wilson_bounds_solve_their_equation(successes, count):
    # |p̂ − p| = z √(p(1 − p)/n) at both ends.
    for bound, known in zip(wilson(successes, count), (0.0 if successes == 0 else None, 1.0 if successes == count else None)):
        if known is not None:
            assert bound == pytest.approx(known, abs=1e-12)
        else:
            assert abs(successes / count - bound) == pytest.approx(1.959964 * (bound * (1 - bound) / count) ** 0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("good", "count", "left", "words"),
    [
        (10, 10, 40, "met so far"),
        (9, 10, 40, "**missed** so far"),
        (4, 10, 40, "**missed**"),
        (50, 50, 0, "met"),
        (47, 50, 0, "**missed**"),
        (48, 48, 2, "met"),
    ],
)
def test_a_verdict_says_whether_seeds_that_were_not_run_could_change_it(good, count, left, words):
    assert verdict(good, count, left, 0.95) == words


def test_what_is_asked_for_beside_a_study_leaves_it_as_it_was(tmp_path):
    own: dict[str, dict] = {
        "variants": {"default": {}, "first": {}},
        "plants": {"open": {"plant": "mujoco", "variants": ["default"]}, "mujoco": {"plant": "mujoco"}},
    }
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(own))
    alone = kept.Settings.read(file)
    (tmp_path / "beside.json").write_text(
        json.dumps(
            {"also": {"open": ["first"]}, "variants": {"damped": {}}, "plants": {"gamma": {"plant": "mujoco", "variants": ["damped"]}}}
        )
    )
    joined = kept.Settings.read(file)
    assert alone.values == own and joined.sha256 == alone.sha256
    assert joined.values["plants"]["open"]["variants"] == ["default", "first"]
    assert joined.values["plants"]["mujoco"] == own["plants"]["mujoco"]
    assert set(joined.values["variants"]) == {"default", "first", "damped"} and "gamma" in joined.values["plants"]


def test_the_ball_s_plants_differ_in_damping_and_rolling_friction_alone():
    plants = json.loads((ROOT / "benchmarks/plans_that_hold/beside.json").read_text())["plants"]
    assert [how["object_damping"] for how in plants.values()] == [0, 0.1, 1, 10, 0]
    for how in plants.values():
        how.pop("object_damping")
        how.pop("set", None)
    assert all(how == plants["rolling"] for how in plants.values())


def test_damping_beside_the_study_is_the_plant_s_own(tmp_path, monkeypatch):
    monkeypatch.setattr(study, "compiler_of", lambda build: "none")
    settings = kept.Settings.read(ROOT / "benchmarks/plans_that_hold/settings.json")
    runs = study.Study(tmp_path, settings, [1], kept.CellStore(tmp_path / "cells", "commit"), tmp_path)
    assert runs.damping(kept.Cell("allegro_ball", "damped", "gamma-10", 0), 0.1) == 10
    assert runs.damping(kept.Cell("allegro_ball", "default", "mujoco", 0), 0.1) == 0
    assert runs.damping(kept.Cell("allegro_pen", "default", "mujoco", 0), 0.1) == pytest.approx(10)
