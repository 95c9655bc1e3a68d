"""Roll-outs, plans and run folders."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import ROOT

import deft


@pytest.fixture(scope="module")
def plan(hand):
    return deft.plan(hand, seed=1, first=True)


def test_a_plan_leads_to_its_goal(hand, plan):
    assert plan.success and plan.status == "Solved" and plan.goal == "half_turn"
    assert plan.q.shape == (len(plan.u) + 1, hand.n_q) and plan.error.position_m < 0.01
    assert plan.segments[0]["first"] == 0 and plan.segments[-1]["last"] == len(plan.u)
    assert plan.holds[0]["judge"] == "h" and plan.holds[0]["success"] and 0 <= plan.first_solution_s <= plan.time_s
    again = deft.plan(hand, seed=1, first=True, threads=1)
    np.testing.assert_array_equal(again.u, plan.u)


def test_a_roll_out_of_a_plan_is_the_plan(hand, plan):
    run = deft.simulate(hand, commands=plan.u)
    np.testing.assert_allclose(run.q, plan.q, atol=1e-9)
    assert run.status == "Completed" and len(run) == len(plan.u) and run.t[-1] == pytest.approx(len(plan.u) * plan.h)
    called = deft.simulate(hand, commands=lambda t, q: plan.u[round(t / plan.h)], steps=30)
    np.testing.assert_array_equal(called.q, run.q[:31])


def test_run_folders_are_read_back(hand, plan, tmp_path):
    run = deft.simulate(hand, commands=plan.u[:20])
    run.save(tmp_path / "run")
    stored = deft.Run.open(tmp_path / "run")
    np.testing.assert_array_equal(stored.q, run.q)
    np.testing.assert_array_equal(stored.u, run.u)
    for t in (run.t[1], run.t[20]):
        one, other = run.contacts(t), stored.contacts(t)
        assert one.bodies == other.bodies
        np.testing.assert_array_equal(one.force, other.force)
    with pytest.raises(ValueError, match="t: 99 s is not within the run"):
        run.contacts(99.0)
    with pytest.raises(deft.InputError):
        run.save(tmp_path / "run")
    with pytest.raises(deft.InputError):
        deft.Run.open(tmp_path)


def test_runs_without_steps_have_shapes(hand, tmp_path):
    run = deft.simulate(hand, steps=0)
    assert run.u.shape == (0, 4) and run.q.shape == (1, 7) and len(run.contacts(0.0)) == 0
    assert run.summary == {"status": "Completed", "reason": "", "steps": 0, "t_end": 0.0}
    run.save(tmp_path / "run")
    assert deft.Run.open(tmp_path / "run").status == "Completed" and deft.Run.open(tmp_path / "run").u.shape == (0, 4)
    with pytest.raises(ValueError, match="steps: -1; valid: 0 or more"):
        deft.simulate(hand, steps=-1)
    moved = hand.with_(overlays=[{"commands": {"knots": [{"t": 0, "left": [-0.7, -0.7]}, {"t": 0.45, "left": [-0.6, -0.7]}]}}])
    assert len(deft.simulate(moved)) == 5  # as long as its commands last, in steps of 0.1 s


def test_folders_of_the_program_are_runs(tmp_path):
    binary = os.path.join(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release"), "deft")
    subprocess.run(
        [binary, "sim", deft.scene_path("planning/planar_hand"), "--steps", "5", "--out", tmp_path / "run", "--quiet"],
        check=True,
        capture_output=True,
    )
    run = deft.Run.open(tmp_path / "run")
    assert len(run) == 5 and run.status == "Completed" and run.summary["steps"] == 5 and run.name == "planar_hand"


def test_callbacks_see_steps_and_their_exceptions_propagate(hand):
    seen = []

    def watch(k, r):
        seen.append((k, np.array(r.q)))
        assert r.contacts.jacobian.shape == (len(r.contacts), 3, hand.n_v) and r.forces.shape == (len(r.contacts), 3)
        return k < 3

    run = deft.simulate(hand, commands=np.tile(hand.u() + 0.1, (10, 1)), on_step=watch)
    assert [k for k, _ in seen] == [0, 1, 2, 3] and run.status == "Interrupted" and len(run) == 4
    np.testing.assert_array_equal([q for _, q in seen], run.q[1:])
    with pytest.raises(ZeroDivisionError):
        deft.simulate(hand, steps=5, on_step=lambda k, r: 1 / 0)
    with pytest.raises(ValueError, match=r"commands\(t, q\): expected shape \(4,\)"):
        deft.simulate(hand, steps=5, commands=lambda t, q: [0.0])
    with pytest.raises(ValueError, match="steps: 11, but commands has 10 rows"):
        deft.simulate(hand, steps=11, commands=np.tile(hand.u(), (10, 1)))
    with pytest.raises(ValueError, match="steps: expected a number"):
        deft.simulate(hand)


def test_progress_ends_a_search(touching):
    calls = []
    plan = deft.plan(
        touching, seed=2, goal=touching.goals[0], first=True, on_progress=lambda *now: calls.append(now) or len(calls) < 2, improve_s=0
    )
    assert calls and len(calls[0]) == 3 and (plan.status == "Interrupted" or plan.success)
    with pytest.raises(ZeroDivisionError):
        deft.plan(touching, seed=2, first=True, on_progress=lambda *now: 1 / 0)
    with pytest.raises(deft.InputError, match="goal: there is no 'x'"):
        deft.plan(touching, goal="x")
    with pytest.raises(deft.InputError, match="did you mean 'nodes'"):
        deft.plan(touching, ndes=3)


def test_plans_are_saved_and_shown(hand, plan, tmp_path, monkeypatch):
    plan.save(tmp_path / "plan")
    stored = deft.Run.open(tmp_path / "plan")
    np.testing.assert_allclose(stored.q, plan.q, atol=1e-9)
    assert stored.summary["success"] and stored.status == "Solved" and (tmp_path / "plan/plan.yaml").is_file()
    assert deft.main(["replay", str(tmp_path / "plan"), "--out", str(tmp_path / "again"), "--quiet"]) in (
        0,
        1,
    )  # a first plan need not hold on a plant
    opened = deft.Plan.open(tmp_path / "plan")
    np.testing.assert_array_equal(opened.u, plan.u)
    assert opened.success == plan.success and opened.goal == plan.goal and opened.scene.name == hand.name
    html = deft.page(plan)
    assert html.lower().startswith("<!doctype html>")
    assert "half_turn" in html and len(deft.page(stored, beside=deft.simulate(hand, commands=plan.u))) > len(html) / 2
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    place = deft.show(stored, path=tmp_path / "page.html")
    assert opened == [place.as_uri()] and "half_turn" in place.read_text()
    other = deft.load(deft.scene_path("planning/push_on_table"))
    with pytest.raises(deft.InputError, match="beside: this run has other bodies"):
        deft.page(stored, beside=deft.simulate(other, steps=1))


def test_statistics(hand):
    table = deft.plan_statistics(hand, seeds=range(2), first=True)
    assert table.success_rate == sum(plan.success for plan in table.plans) / 2 and len(table.plans) == 2


def test_plans_are_optimised_and_tracked(hand, plan, tmp_path):
    better = deft.optimize(plan, time_limit_s=120)
    assert better.success and better.cost_after <= better.cost_before and {"h", "h/2", "worlds"} <= {row["judge"] for row in better.holds}
    assert plan.cost_before is None
    plan.save(tmp_path / "plan")
    again = deft.optimize(deft.Run.open(tmp_path / "plan"), time_limit_s=120)
    np.testing.assert_array_equal(again.u, better.u)
    simulated = deft.optimize(deft.simulate(hand, commands=better.u), time_limit_s=1)
    assert simulated.goal == "half_turn" and len(simulated.u) > 0
    run = deft.track(better, plant="convex-second-order", max_duration=0.05)
    assert not run.arrived and run.reason and run.errors.shape == (len(run), 2) and run.period_s.shape == (len(run),)
    again = deft.track(better, plant="convex-second-order", max_duration=0.05)
    np.testing.assert_array_equal(again.q, run.q)
    wrong = deft.track(better, plant="convex-second-order", max_duration=0.05, disturb={"offset_m": 0.003}, seed=3)
    assert not np.array_equal(wrong.q, run.q)
    with pytest.raises(deft.InputError, match="plant: there is no 'bullet'; valid: quasidynamic"):
        deft.track(better, plant="bullet")
    with pytest.raises(TypeError, match="plan_or_scene: expected"):
        deft.track("plan")


class Falling(deft.Plant):
    """A plant whose ball is where it was, and whose joints are where they should be."""

    def __init__(self, scene, fails_at=np.inf, with_what=None):
        self.scene, self.fails_at, self.with_what = scene, fails_at, with_what

    def reset(self, q, v, u, seed):
        self.q, self.v, self.time, self.seed = q, v, 0.0, seed

    def step(self, u, dt):
        self.time += dt
        q = self.q.copy()
        q[:4] = u
        self.v, self.q = self.scene.difference(self.q, q) / dt, q
        if self.time > self.fails_at:
            if self.with_what is not None:
                raise self.with_what
            self.q = q * np.nan


class Held(deft.Policy):
    def __init__(self, fails_at=np.inf):
        self.fails_at, self.asked = fails_at, []

    def reset(self, scene, goal, q, seed):
        self.u, self.told = scene.u(), (scene.name, goal, seed)

    def command(self, t, q, v):
        self.asked.append((t, q, v))
        if t > self.fails_at:
            raise KeyError("lost")
        return self.u + min(t, 0.05)


def test_plants_and_policies_may_be_python(hand, plan):
    world, policy = Falling(hand), Held()
    run = deft.track(plan, plant=world, controller=policy, max_duration=0.2, seed=4)
    assert policy.told == ("planar_hand", "half_turn", 4) and world.seed == 4 and not run.arrived and run.reason
    times = np.array([t for t, _, _ in policy.asked])
    np.testing.assert_allclose(np.diff(times), run.t[1] - run.t[0], atol=1e-12)
    np.testing.assert_allclose(run.q[-1][:4], hand.u() + 0.05, atol=1e-12)
    np.testing.assert_array_equal(policy.asked[0][2], 0)
    np.testing.assert_allclose(policy.asked[3][2][:4], 1, atol=1e-9)  # the ramp, 1 rad/s

    lost = deft.track(plan, plant=Falling(hand, fails_at=0.05), controller=Held(), max_duration=0.2)
    assert lost.status == "PlantFailure" and np.isfinite(lost.q).all() and not lost.arrived
    for arguments in (
        {"plant": Falling(hand, 0.05, ZeroDivisionError("x")), "controller": "open-loop"},
        {"plant": Falling(hand), "controller": Held(0.05)},
    ):
        with pytest.raises((ZeroDivisionError, KeyError)) as caught:
            deft.track(plan, max_duration=0.2, **arguments)
        assert 5 < len(caught.value.run) < 20  # what was run is kept
    with pytest.raises(TypeError, match=r"plant: expected a name or a deft.Plant, int has no method 'reset'"):
        deft.track(plan, plant=3)
    with pytest.raises(ValueError, match=r"policy.command: expected shape \(4,\)"):
        bad = Held()
        bad.command = lambda t, q, v: [1.0]
        deft.track(plan, plant=Falling(hand), controller=bad, max_duration=0.1)
    with pytest.raises(deft.InputError, match="goal: the plan leads to 'half_turn', not to 'x'"):
        deft.track(plan, goal="x")
    with pytest.raises(ValueError, match="max_duration: -1; valid: above 0"):
        deft.track(plan, max_duration=-1)
    used, said = deft.MujocoPlant(hand), []

    def work():
        try:
            deft.track(plan, plant=used, controller="open-loop", max_duration=2.0)
        except RuntimeError as error:
            said.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said and all("another thread" in text for text in said)


def test_plants_of_the_library_are_objects(hand, plan):
    own = deft.track(plan, plant=deft.MujocoPlant(hand), controller="open-loop", max_duration=0.3)
    named = deft.track(plan, plant="mujoco", controller="open-loop", max_duration=0.3)
    np.testing.assert_array_equal(own.q, named.q)
    model = deft.StepModel(hand)
    stepped = deft.track(plan, plant=deft.StepPlant(model), controller="open-loop", max_duration=0.3)
    assert len(stepped) == len(named) and np.isfinite(stepped.q).all()
    world = deft.MujocoPlant(hand)
    assert isinstance(world, deft.Plant)
    world.reset(hand.q(), u=hand.u())
    world.step(hand.u() + 0.01, 0.01)
    assert world.time == pytest.approx(0.01) and np.abs(world.v).max() > 0
    with pytest.raises(ValueError, match="dt: expected"):
        world.step(hand.u(), 0)


def test_a_controller_is_driven_step_by_step(hand, plan):
    """The commands are those of the loop on the same plant."""
    better = deft.optimize(plan, time_limit_s=120)
    loop = deft.track(better, plant=deft.MujocoPlant(hand), max_duration=0.4, seed=5)
    world, controller = deft.MujocoPlant(hand), deft.Controller(better, seed=5)
    assert controller.period_s == pytest.approx(loop.t[1]) and controller.duration_s > 1 and controller.status is None
    world.reset(hand.q(), u=better.u[0] * 0 + hand.u())
    commands, q = [], []
    for k in range(len(loop)):
        u = controller.update(k * controller.period_s, world.q)
        np.testing.assert_array_equal(controller.update((k + 0.5) * controller.period_s, world.q), u)  # not yet due
        commands.append(u)
        world.step(u, controller.period_s)
        q.append(world.q)
    np.testing.assert_allclose(commands, loop.u, atol=1e-12)
    np.testing.assert_allclose(q, loop.q[1:], atol=1e-12)
    with pytest.raises(ValueError, match="t: 0 s lies before an earlier update"):
        controller.update(0, world.q)
    with pytest.raises(ValueError, match=r"q_measured: expected shape \(7,\), got \(2,\)"):
        controller.update(9, [0, 0])


def test_a_controller_takes_poses_and_ends():
    scene = deft.load(deft.scene_path("planning/push_on_table"), set={"track.settle": 0.01})
    plan = deft.plan(scene, seed=1, first=True)
    controller = deft.Controller(plan, controller="open-loop")
    X = np.eye(4)
    X[:3, :3] = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
    np.testing.assert_allclose(
        controller._placed(scene.q(), {"box": X})[scene.slice("box")], [np.sqrt(0.5), 0, 0, np.sqrt(0.5), 0, 0, 0], atol=1e-12
    )
    first = controller.update(10.0, scene.q(), poses={"box": scene.body_pose(scene.q(), "box")})
    assert first.shape == (3,)
    last = controller.update(10.0 + controller.duration_s + 1, scene.q())
    np.testing.assert_allclose(last, plan.u[-1], atol=1e-9)
    assert controller.status == "OffPlan"  # the box was never moved
    with pytest.raises(ValueError, match="poses: 'table' is no free body"):
        controller.update(99.0, scene.q(), poses={"table": X})


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, {path!r})
signal.signal(signal.SIGINT, signal.default_int_handler)  # a parent in the background may have made it ignored
import deft
scene = deft.load(deft.scene_path("planning/allegro_door"))
model = deft.StepModel(scene)
def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        "deft.plan(scene, seed=1, time_limit=1000, nodes=1000000)",
        "deft.simulate(scene, steps=10**7)",
        "deft.Batch(model).step([scene.q()] * 200000, scene.u())",
    ],
    ids=["plan", "simulate", "batch"],
)
def test_control_c_ends_long_calls(call):
    source = INTERRUPTED.format(path=os.path.dirname(os.path.dirname(deft.__file__)), call=call)
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["interrupted"], done.stderr


def test_the_command_line_runs_in_the_process(capfd):
    before = signal.getsignal(signal.SIGINT)
    assert deft.main(["info", str(deft.scene_path("planning/planar_hand")), "--json"]) == 0
    assert '"nq"' in capfd.readouterr().out
    assert deft.main(["info", "nowhere.yaml"]) == 2 and "scene not found" in capfd.readouterr().err
    assert deft.doctor() and "libpinocchio" in capfd.readouterr().out
    assert signal.getsignal(signal.SIGINT) is before


def test_problems_are_solved():
    problem = deft.Problem.load(ROOT / "benchmarks/data/problems/allegro_cone/000.json.gz")
    solved = deft.solve(problem, tolerance=1e-9)
    assert problem["kind"] == "contact" and deft.Status[solved["status"]] == deft.Status.Solved
    with pytest.raises(deft.InputError, match="field 'contacts"):
        deft.solve({**problem, "contacts": 3})
    with pytest.raises(deft.InputError, match=r"nowhere.json"):
        deft.Problem.load("nowhere.json")
    assert deft.check(deft.scene_path("planning/planar_hand")) == []
    assert [finding["severity"] for finding in deft.check("nowhere.yaml")] == ["error"]


def test_limit_surfaces():
    surface = deft.LimitSurface([1, 4, 100])
    V = np.array([[1, 0, 0], [0.3, -0.2, 2], [0, 0, 0]])
    F = surface.wrench(V)
    np.testing.assert_allclose(np.einsum("bi,i,bi->b", F, [1, 4, 100], F), [1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(F[0], [1, 0, 0], atol=1e-12)
    turned = surface.twist(F[1])
    np.testing.assert_allclose(turned / np.linalg.norm(turned), V[1] / np.linalg.norm(V[1]), atol=1e-12)
    square = deft.LimitSurface.from_pressure([[-1, -1], [1, -1], [1, 1], [-1, 1]], 2.0)
    np.testing.assert_allclose(square.wrench([1, 1, 0]), np.array([1, 1, 0]) * np.sqrt(2), atol=1e-9)
    # Turning about the middle: 2 N times the mean distance of a square of side 2, (√2 + asinh 1)/3.
    np.testing.assert_allclose(square.wrench([0, 0, 5.0]), [0, 0, 2 * (np.sqrt(2) + np.arcsinh(1)) / 3], atol=1e-9)
    with pytest.raises(ValueError, match="A: expected a symmetric positive definite form"):
        deft.LimitSurface([1, -1, 1])
    with pytest.raises(ValueError, match=r"twist: expected shape \(3,\) or \(batch, 3\)"):
        surface.wrench([1, 2])


def matrix(entry):
    return np.reshape(entry["data"], (entry["rows"], entry["cols"]))


def test_control_through_contact_is_proven_optimal():
    problem = deft.Problem.load(ROOT / "scenes/control/corner_n5.json")
    told = deft.solve(problem)["solution"]
    system = {name: matrix(problem[name]) for name in "ABCDE"}
    control = deft.ContactControl(**system, alpha=problem["alpha"])
    weights = [matrix(problem[name]) for name in ("Q", "R", "Qf")]
    bounds = {name: problem[name] for name in ("x_min", "x_max", "u_min", "u_max")}
    best = control.solve(problem["x0"], 5, *weights, x_goal=problem["x_goal"], **bounds)
    assert best.status == "Solved" and best.u.shape == (5, 2) and best.x.shape == (6, 4) and best.cost == pytest.approx(told["cost"])
    assert best.bound <= best.cost + 1e-9 and best.gap < 1e-3
    for k in range(5):  # it is a motion of the system
        gamma = best.gamma[k]
        x = system["A"] @ best.x[k] + system["B"] @ best.u[k] + system["C"] @ gamma
        np.testing.assert_allclose(best.x[k + 1], x, atol=1e-6)
        slack = system["D"] @ x + system["E"] @ gamma + problem["alpha"]
        assert gamma.min() > -1e-6 and slack.min() > -1e-6 and np.abs(gamma * slack).max() < 1e-5
    with pytest.raises(TypeError, match="solve: 'u_mx' is unknown; valid: x_min"):
        control.solve(problem["x0"], 5, *weights, u_mx=1)


def test_patches_are_problems_too():
    ground = {"shape": {"half_space": {"normal": [0, 0, 1], "offset": 0}}}
    box = {"shape": {"box": {"size": [0.2, 0.2, 0.1]}}, "mass": 1, "q": [1, 0, 0, 0, 0, 0, 0.05], "nu": np.array([0, 0, 0, 0.4, 0.3, 0])}
    found = deft.PatchProblem([ground, box], [{"a": 1, "b": 0, "mu": 0.5}], h=0.01, gravity=[0, 0, -10]).solve()
    assert found.status in ("Solved", "NotUnique") and found.pairs[0]["kind"] == "surface" and found.q.shape == (2, 7)
    speed = 0.5 - 0.5 * 10 * 0.01  # μ g h less
    np.testing.assert_allclose(found.nu[1], [0, 0, 0, 0.8 * speed, 0.6 * speed, 0], atol=1e-6)
