"""The oracle of patch contact by itself: closed forms, the published numbers, and that its check tells wrong steps from right ones."""

import numpy as np
import pytest
from reproductions.patch_reference import State, advance, check_step
from reproductions.patch_runs import SCENES, world_of, wrenches_of
from reproductions.patch_shapes import Box, Cylinder

CUBE = Box((1.0, 1.0, 1.0))
FLAT = np.array([1.0, 0, 0, 0])


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def state(x, quat=FLAT, omega=(0, 0, 0), v=(0, 0, 0)):
    return State(np.array(x, float), np.array(quat, float), np.array(omega, float), np.array(v, float))


def simulate(world, start, steps, wrench=None):
    found = [start]
    for k in range(steps):
        found.append(advance(world, found[-1], *(wrench(k, found[-1]) if wrench else ())))
    return found


def test_a_sliding_cube_loses_mu_g_and_its_point_runs_ahead():
    world = world_of(CUBE, 1, 0.12)
    states = simulate(world, state((0, 0, 0.5), v=(4, 3, 0)), 427)
    assert states[400].x == pytest.approx((8.454784, 6.341088, 0.5), abs=1e-6)
    assert (states[425].point - states[425].x)[:2] == pytest.approx((0.048, 0.036), abs=1e-9)
    assert (states[426].point - states[426].x)[:2] == pytest.approx((0.008163, 0.006122), abs=1e-6)
    assert [s.mode for s in states[425:427]] == ["surface slip", "surface stick"]
    assert states[427].x == pytest.approx((8.483408, 6.362556, 0.5), abs=1e-6)


@pytest.mark.parametrize("torsion", [0.05, 0.4])
def test_a_spinning_cylinder_is_slowed_by_its_torsional_friction(torsion):
    """I dω_z/dt = −μ m g e_r, for an upright cylinder that only spins."""
    world = world_of(Cylinder(0.2, 0.5), 3, 0.3, 0.005, (1, 1, torsion))
    states = simulate(world, state((0, 0, 0.25), omega=(0, 0, 2.0)), 10)
    loss = world.mu * world.mass * world.gravity * torsion * world.h / world.inertia[2]
    for k, s in enumerate(states):
        assert s.omega[2] == pytest.approx(max(0.0, 2.0 - k * loss), abs=1e-9)
        assert np.abs(s.v).max() < 1e-12


def test_a_cylinder_rolls_without_slipping_at_two_thirds_of_its_speed():
    world = world_of(Cylinder(0.1, 0.4), 2, 0.5)
    lying = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    last = simulate(world, state((0, 0, 0.1), lying, v=(0, 3, 0)), 60)[-1]
    assert last.mode == "line stick"
    assert last.v[1] == pytest.approx(2.0, abs=1e-9) and last.omega[0] == pytest.approx(-20.0, abs=1e-8)


def test_a_cube_on_a_corner_falls_on_an_edge_and_rests():
    world = world_of(CUBE, 1, 0.2)
    angle, a, b = np.arctan(np.sqrt(2)), np.sqrt(0.5), np.sqrt(6) / 4
    s = np.sin(angle / 2) * a
    states = simulate(world, state((0, 0, np.sqrt(3) / 2), (np.cos(angle / 2), s, -s, 0), (a, -a, 0), (-b, -b, 0)), 100)
    assert {x.patch[0] for x in states[1:44]} == {"point"} and {x.patch[0] for x in states[44:]} == {"line"}
    assert states[-1].x == pytest.approx((-0.516707, -0.516707, 0.707107), abs=1e-6)
    for before, after in zip(states, states[1:]):
        assert max(check_step(world, before, np.concatenate([after.omega, after.v])).values()) < 1e-10


def test_the_check_finds_what_is_wrong():
    world = world_of(CUBE, 1, 0.2)
    start = state((0, 0, 0.5), v=(1, 0, 0))
    end = advance(world, start)
    right = np.concatenate([end.omega, end.v])
    assert max(check_step(world, start, right).values()) < 1e-12
    for index, change, law in (
        (5, -1e-5, "depth"),
        (5, 1e-5, "distance"),
        (3, 1e-5, "dissipation"),
        (3, -1e-5, "cone"),
        (4, 1e-5, "dissipation"),
        (1, 1e-5, "depth"),
    ):
        wrong = right.copy()
        wrong[index] += change
        assert check_step(world, start, wrong)[law] > 1e-9, (index, law)
    # In the air nothing may act.
    high = state((0, 0, 2.0))
    assert check_step(world, high, [0, 0, 0, 0, 0, 0.1])["distance"] > 1e-3
    assert check_step(world, high, [0, 0, 0, 0, 0, -0.2])["pull"] > 0.5
    assert check_step(world, high, [0, 0, 0, 0, 0, -0.098]) == pytest.approx({"depth": 0, "pull": 0, "free": 0}, abs=1e-12)


def test_wrenches_are_read_from_scenes():
    tumbles = wrenches_of(SCENES / "cube_tumbles.deft.yaml")
    assert [(w.begin, w.end) for w in tumbles] == [(1.0, -1.0), (1.8, -1.0)]
    assert tumbles[0].angular == pytest.approx((0.5, 0.5, 0)) and tumbles[1].linear == pytest.approx((10, -10, 0))
    (kick,) = wrenches_of(SCENES / "cylinder_rolls.deft.yaml")
    assert kick.begin == -1 and kick.angular[2] == 3


def test_the_manipulation_scene_holds_what_its_designer_prints():
    from reproductions import patch_manipulation

    designed, _ = patch_manipulation.design()
    read = wrenches_of(SCENES / "cylinder_manipulation.deft.yaml")
    assert [(begin, end) for begin, end, _ in designed] == [(w.begin, w.end) for w in read]
    assert np.array([torque for _, _, torque in designed]) == pytest.approx(np.array([w.angular for w in read]), abs=2e-3)
