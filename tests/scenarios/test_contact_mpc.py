"""Scenes under the mixed-integer controller. What the run file says of each plan is rebuilt here from the scene's own equations, with matrices
written down by hand: dynamics, complementarity, cost, bounds, and that the plant did what the plan said."""

import json
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

SCENES = "scenes/contact_mpc"
H, MU, RADIUS = 0.1, 0.8, 0.6
GOAL = np.array([3.0, -5.0, 0, 0])
# Outward normals and offsets of bevel, floor and wall: gap = n·q − offset − radius.
SURFACES = {"bevel": (np.array([1, -1]) / np.sqrt(2), 0.0), "floor": (np.array([0.0, 1]), -5.0), "wall": (np.array([-1.0, 0]), -5.0)}
NORMAL, FRICTION, SLIP = range(3)


def simulate(deft, root, folder, scene, *arguments, code=0):
    done = subprocess.run(
        [
            deft,
            "sim",
            root / SCENES / f"{scene}.deft.yaml",
            "--controller",
            "mixed-integer",
            "--out",
            folder,
            "--json",
            *map(str, arguments),
        ],
        capture_output=True,
        text=True,
        cwd=root,
        timeout=600,
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if done.stdout else done.stderr


@pytest.fixture(scope="module")
def disc(deft, root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mpc") / "disc"
    return simulate(deft, root, folder, "disc", "--steps", 95), folder


def gap(name, q):
    normal, offset = SURFACES[name]
    return normal @ q - offset - RADIUS


def recheck(run, k, N):
    """Residuals of plan k of the disc: dynamics, complementarity (and signs), and its cost."""
    names = list(run.attrs["names_bodies"])
    x, u = run["mpc/x"][k], run["mpc/u"][k]
    first, end = run["mpc/offset"][k], run["mpc/offset"][k + 1]
    pairs, gamma, slack = run["mpc/pairs"][first:end], run["mpc/gamma"][first:end], run["mpc/slack"][first:end]
    dynamics = complementarity = 0.0
    for stage in range(N):
        push, i = np.zeros(2), 0
        q, v = x[stage + 1, :2], x[stage + 1, 2:]
        slacks = np.zeros(len(pairs))
        while i < len(pairs):
            assert [p[0] for p in pairs[i : i + 4]] == [NORMAL, FRICTION, FRICTION, SLIP]
            other = next(names[b] for b in pairs[i][1:3] if names[b] != "disc")
            n = SURFACES[other][0]
            c, b1, b2, slip = gamma[i : i + 4, stage]
            # The two rays are opposite tangents; which is which follows from the slacks, and both must agree with one choice.
            candidates = []
            for sign in (1, -1):
                t = sign * np.array([n[1], -n[0]])
                candidates.append((np.array([gap(other, q), slip + t @ v, slip - t @ v, MU * c - b1 - b2]), c * n + (b1 - b2) * t))
            best = min(candidates, key=lambda s: abs(s[0] - slack[i : i + 4, stage]).max())
            slacks[i : i + 4] = best[0]
            push += best[1]
            i += 4
        v_next = x[stage, 2:] + H * u[stage] + push
        expected = np.concatenate([x[stage, :2] + H * v_next, v_next])
        dynamics = max(dynamics, abs(x[stage + 1] - expected).max())
        if len(pairs):
            complementarity = max(complementarity, abs(np.minimum(gamma[:, stage], slacks)).max(), abs(slacks - slack[:, stage]).max())
    cost = sum((x[s] - GOAL) @ (x[s] - GOAL) for s in range(N + 1)) + 10 * (u**2).sum()
    return dynamics, complementarity, cost


def test_the_disc_touches_the_floor_near_step_81(disc):
    summary, folder = disc
    assert summary["status"] == "Completed"
    with h5py.File(folder / "run.h5") as run:
        heights = run["q"][:, 1] - (-5 + RADIUS)
        touch = int(np.argmax(heights < 1e-7))
        assert 76 <= touch <= 86, touch
        assert heights.min() > -1e-8


def test_every_plan_is_optimal_feasible_and_followed(disc):
    summary, folder = disc
    control = summary["control"]
    assert control["periods"] == control["proven"] == 95 and control["fallbacks"] == 0
    assert control["gap_max"] <= 1e-7 * (1 + 1e-6)  # the bound is a difference of costs: rounding
    assert control["time_s"]["p50"] <= control["time_s"]["p95"] <= control["time_s"]["max"]
    loaded = 0
    with h5py.File(folder / "run.h5") as run:
        N = int(run.attrs["horizon"][0])
        assert N == 5 and list(run.attrs["names_x"]) == ["disc/x", "disc/y", "disc/x rate", "disc/y rate"]
        words = list(run.attrs["status_words"])
        assert {words[s] for s in run["mpc/status"]} == {"Solved"}
        for k in range(95):
            dynamics, complementarity, cost = recheck(run, k, N)
            assert max(dynamics, complementarity) <= 1e-8, k
            assert cost == pytest.approx(run["mpc/cost"][k], rel=1e-9)
            x, u = run["mpc/x"][k], run["mpc/u"][k]
            assert abs(u).max() <= 1 + 1e-8 and abs(x[1:, 2:]).max() <= 1 + 1e-8 and abs(x[1:, :2]).max() <= 5 + 1e-8
            assert np.allclose(x[0], [*run["q"][k], *run["v"][k]], atol=0) and np.array_equal(run["u"][k], u[0])
            assert abs(x[1] - [*run["q"][k + 1], *run["v"][k + 1]]).max() <= 1e-7
            first, end = run["mpc/offset"][k : k + 2]
            loaded += bool(end > first and run["mpc/gamma"][first:end].max() > 1e-6)
        assert run["mpc/X_WB"].shape == (95, N + 1, len(run.attrs["names_bodies"]), 7)
    assert loaded > 5  # contact was planned for, not only free motion


def test_a_longer_horizon_sees_further_and_costs_less(disc, deft, root, tmp_path):
    """N = 20 goes for the floor at once and slides along it, braked by friction, long before N = 5 is there."""
    summary = simulate(deft, root, tmp_path / "run", "disc_long", "--steps", 60)
    assert summary["status"] == "Completed" and summary["control"]["fallbacks"] == 0
    with h5py.File(disc[1] / "run.h5") as short, h5py.File(tmp_path / "run" / "run.h5") as long:

        def cost(run, steps):
            x = np.hstack([run["q"][:steps], run["v"][:steps]]) - GOAL
            return (x**2).sum() + 10 * (run["u"][:steps] ** 2).sum()

        assert cost(long, 60) < 0.8 * cost(short, 60)
        touch = [int(np.argmax(run["q"][:, 1] < -4.4 + 1e-7)) for run in (short, long)]
        assert 0 < touch[1] < touch[0] / 2
        for k in range(0, 60, 7):
            dynamics, complementarity, value = recheck(long, k, 20)
            assert max(dynamics, complementarity) <= 1e-8
            assert value == pytest.approx(long["mpc/cost"][k], rel=1e-8)


def test_a_path_along_the_surfaces_is_tracked(deft, root, tmp_path):
    summary = simulate(deft, root, tmp_path / "run", "disc_path", "--set", "control.N=5")
    assert summary["status"] == "Completed" and summary["steps"] == 200 and summary["control"]["fallbacks"] == 0
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        q = run["q"][:]
        touched = {name: min(abs(gap(name, at)) for at in q) for name in SURFACES}
        assert max(touched.values()) < 1e-6, touched  # bevel, floor and wall
        knots = np.array([[0, -1, -1.707], [6, -3.793, -4.5], [16, 4.5, -4.5], [20, 4.5, -1.5]])
        reference = np.column_stack([np.interp(run["t"][:], knots[:, 0], knots[:, i]) for i in (1, 2)])
        error = np.linalg.norm(q - reference, axis=1)
        assert error[20:].max() < 0.6 and np.median(error) < 0.25  # it runs 0.1 m inside of where the disc can be


def test_the_cart_pole_comes_up_with_the_help_of_a_wall(deft, root, tmp_path):
    summary = simulate(deft, root, tmp_path / "run", "cart_pole", "--steps", 300)
    assert summary["status"] == "Completed" and summary["control"]["fallbacks"] == 0
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        q = run["q"][:]
        assert list(run.attrs["names_u"]) == ["cart/slide"]
        force = np.linalg.norm(run["contacts/force_W"][:], axis=1).max()
        assert force > 0.5  # a wall was leant on: 100 N/m
        assert abs(q[-1]).max() < 0.1, q[-1]


def test_the_pusher_moves_the_box_to_its_goal(deft, root, tmp_path):
    summary = simulate(deft, root, tmp_path / "run", "pusher_slider", "--steps", 60)
    assert summary["status"] == "Completed"
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        names = list(run.attrs["names_q"])
        x = run["q"][:, names.index("box/x")]
        assert abs(x[-1] - 0.5) < 0.05, x[-1]
        assert abs(run["q"][-1, names.index("box/theta")]) < 0.05


def test_dumped_plans_solve_to_the_same_cost(deft, root, tmp_path):
    simulate(deft, root, tmp_path / "run", "cart_pole", "--steps", 4, "--dump-problems", tmp_path / "dump")
    plans = sorted((tmp_path / "dump").glob("*_plan_*.json.gz"))
    assert len(plans) == 4
    solved = subprocess.run([deft, "solve", *plans, "--json"], capture_output=True, text=True, check=True)
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        for result, cost in zip(json.loads(solved.stdout)["results"], run["mpc/cost"][:], strict=True):
            assert result["status"] == "Solved" and result["solution"]["cost"] == pytest.approx(cost, rel=3e-7)


def test_bounds_that_cannot_be_kept_give_the_safe_command(deft, root, tmp_path):
    fast = ["--set", "configurations.start.disc={x: 0, y: -3, velocity: [3, 0]}", "--steps", 3]
    summary = simulate(deft, root, tmp_path / "hard", "disc", *fast)
    assert summary["status"] == "Completed" and summary["control"]["fallbacks"] == 3 and summary["control"]["statuses"] == {"Infeasible": 3}
    assert "has no plan (Infeasible)" in (tmp_path / "hard" / "deft.log").read_text()
    with h5py.File(tmp_path / "hard" / "run.h5") as run:
        assert (run["u"][:] == 0).all() and np.isnan(run["mpc/x"][:]).all() and (run["mpc/fallback"][:] == 1).all()
    summary = simulate(deft, root, tmp_path / "soft", "disc", *fast, "--set", "control.x_price={disc: {velocity: 1000}}")
    assert summary["control"]["fallbacks"] == 0
    subprocess.run([deft, "view", tmp_path / "hard", "--no-open"], check=True, capture_output=True)


def test_a_killed_run_keeps_its_plans(deft, root, tmp_path):
    process = subprocess.Popen(
        [deft, "sim", root / SCENES / "disc.deft.yaml", "--controller", "mixed-integer", "--out", tmp_path / "run", "--steps", "100000"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 30
    while not (tmp_path / "run" / "run.h5").exists() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(1.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        steps = len(run["t"]) - 1
        assert steps > 0 and len(run["mpc/x"]) == len(run["mpc/cost"]) == len(run["mpc/offset"]) - 1 == steps
        assert run["mpc/offset"][-1] == len(run["mpc/gamma"]) == len(run["mpc/pairs"])
    subprocess.run([deft, "view", tmp_path / "run", "--no-open"], check=True, capture_output=True)


@pytest.mark.parametrize("setting, message", [
    ("control=null", "has no 'control:'"),
    ("control.horizon=3", "'horizon'"),
    ("control.N=0", "control.N"),
    ("control.Q=[[1, 2, 0, 0], [2, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]", "Q"),
    ("control.goal={disk: {x: 1}}", "did you mean 'disc'?"),
    ("control.u_max={disc: {z: 1}}", "control.u_max disc: there is no 'z'; valid: x, y"),
    ("control.fallback=brake", "zero"),
    ("step.model=convex", "valid: stewart-trinkle, convex-second-order"),
    ("step.model=convex-second-order", "valid: stewart-trinkle"),
])  # fmt: skip
def test_bad_settings_are_refused_by_name(deft, root, tmp_path, setting, message):
    assert message in simulate(deft, root, tmp_path / "run", "disc", "--steps", 1, "--set", setting, code=2)
