"""The published experiments: numbers of the pages in docs/reproductions against calculations by hand."""

import numpy as np
import pytest
from reproductions import contact_mpc, impedance_robot, pick_and_place, planar_gripper, smoothing, squeezing
from reproductions.experiment import Laboratory

SLIP = planar_gripper.SLIP_BEGINS  # index of the first step that ends after 0.13 s


@pytest.fixture
def lab(deft, tmp_path) -> Laboratory:
    return Laboratory(deft, tmp_path)


@pytest.fixture(scope="module")
def gripper(deft, tmp_path_factory):
    return planar_gripper.measure(Laboratory(deft, tmp_path_factory.mktemp("gripper")))


def test_planar_gripper_squeezes_slips_and_sticks(gripper):
    m = gripper.convex
    assert m.statuses == {"Solved": 40}
    assert m.gap[2:SLIP].max() < 1e-12  # touches at 0.03 s, sticks until 0.13 s
    assert m.gap[SLIP] > 6e-4
    assert np.abs(m.gap - planar_gripper.predicted_gap(len(m.t))).max() < 1e-8
    assert np.abs(m.normal - planar_gripper.predicted_normal(len(m.t))).max() < 1e-5
    assert m.normal[3:8] == pytest.approx([2, 4, 6, 8, 10], abs=1e-8)
    assert m.ground == pytest.approx(planar_gripper.WEIGHT + m.friction, abs=1e-8)


def test_planar_gripper_as_a_complementarity_problem_stays_on_the_disc(gripper):
    m = gripper.lcp
    assert m.statuses == {"Solved": 40} and m.residual <= 1e-8
    assert np.abs(m.gap[2:]).max() < 1e-12
    assert m.normal[3:8] == pytest.approx([2, 4, 6, 8, 10], abs=1e-8)
    assert m.normal[8:] == pytest.approx(10, abs=1e-8)
    assert m.ground[SLIP:] == pytest.approx(20, abs=1e-8)
    assert max(planar_gripper.lcp_errors(m).values()) < 1e-8
    # Sliding plates follow the pull, and stick as soon as it stops.
    y = m.q[:, 0]
    assert np.diff(y)[SLIP : planar_gripper.SLIP_ENDS] == pytest.approx(-2e-3, abs=1e-12)
    assert np.abs(np.diff(y)[planar_gripper.SLIP_ENDS :]).max() < 1e-12
    assert planar_gripper.sticking_difference(gripper) < 1e-10


def test_planar_gripper_with_perfect_tracking_has_no_motion_or_several(gripper):
    assert gripper.squeeze["status"] == "Infeasible" and gripper.squeeze["statuses"] == {"Solved": 3, "Infeasible": 1}
    assert "gripper/left" in gripper.squeeze["reason"] and "gripper/right" in gripper.squeeze["reason"]
    assert gripper.grazing["status"] == "Completed" and gripper.grazing["statuses"] == {"Solved": 3, "NotUnique": 2}
    assert gripper.grazing["uniqueness"] == {"unique": 3, "not_unique": 2, "unknown": 0}
    first, second = gripper.second_height[3]
    assert -1e-9 <= min(first, second) < max(first, second) <= 2e-3 + 1e-9 and abs(first - second) > 1e-4


def test_pick_and_place_paths_of_short_and_long_steps_overlap(lab):
    runs = pick_and_place.measure(lab, (0.1, 0.4))
    metres, radians = pick_and_place.overlap(runs)
    assert metres < 5e-3 and np.degrees(radians) < 2
    assert all(run.statuses == {"Solved": len(run.solve_us)} for run in runs)


def test_a_turning_grip_does_not_creep_where_contacts_are_linearised_again(lab):
    truth = pick_and_place.truth_of(pick_and_place.recorded())
    once, twice = (pick_and_place.measure(lab, (0.4,), (scheme,))[0] for scheme in ("quasistatic, damped joints", "quasistatic, damped joints" + pick_and_place.AGAIN))  # fmt: skip
    assert pick_and_place.errors(truth, once)["end_mm"] > 3
    assert pick_and_place.errors(truth, twice)["end_mm"] < 0.5


def test_pick_and_place_agrees_with_the_converged_simulation_of_second_order(lab):
    record = pick_and_place.recorded()
    truth = pick_and_place.truth_of(record)
    damped, plain = (pick_and_place.measure(lab, (0.02,), (scheme,))[0] for scheme in ("quasistatic, damped joints", "quasistatic"))
    error = pick_and_place.errors(truth, damped)
    assert error["largest_mm"] < 1 and error["largest_deg"] < 0.2
    # Without dampers the arm is ahead by the lag D/K: about 0.1 s times 2.5 cm/s while the cube is carried.
    assert 2 < pick_and_place.errors(truth, plain)["largest_mm"] < 4
    # The recorded errors are those of this page's measure.
    change = pick_and_place.errors(truth, pick_and_place.truth_of(record, "double"))
    assert change["integral_mm_s"] == pytest.approx(record["truth_against_double_step"]["integral_mm_s"], rel=1e-3)


@pytest.fixture(scope="module")
def responses(deft, tmp_path_factory):
    return impedance_robot.measure(Laboratory(deft, tmp_path_factory.mktemp("impedance")), impedance_robot.OWN_PLANTS)


@pytest.mark.parametrize("command", impedance_robot.COMMANDS)
def test_impedance_robot_follows_the_closed_form(responses, command):
    r = responses[command]
    # Semi-implicit Euler: the error is of order h ω.
    assert np.abs(r.second_order - impedance_robot.exact(command, r.t)).max() < 0.5 * impedance_robot.FINE * impedance_robot.OMEGA
    assert r.quasistatic[1:] == pytest.approx(impedance_robot.commanded(command, r.t_quasistatic[1:]), abs=1e-12)
    # On plants too; their commands come one period late at most, which the closed form that they are held against knows.
    assert set(r.plant_errors) == set(impedance_robot.OWN_PLANTS)
    assert max(r.plant_errors.values()) < 0.5 * impedance_robot.FINE * impedance_robot.OMEGA


def test_squeezed_object_carries_the_commanded_penetration_times_stiffness(lab):
    m = squeezing.measure(lab)
    for run in (m.quasidynamic, m.quasistatic):
        assert max(squeezing.force_errors(run)) < 1e-9
    assert m.quasidynamic.statuses == {"Solved": 25}
    assert set(m.quasistatic.statuses) == {"Solved", "NotUnique"}
    # Not unique until the object is held between robot and wall, and again when it is free.
    assert m.quasistatic.object[:3] == pytest.approx(0, abs=1e-12)
    gaps = list(m.boundary_gap.values())
    assert [a / b for a, b in zip(gaps, gaps[1:])] == pytest.approx([2, 2, 2], rel=1e-4)
    for h, gap in m.boundary_gap.items():
        assert gap == pytest.approx(squeezing.FRICTION * squeezing.SLIDING_SPEED * h, rel=1e-4)


@pytest.fixture(scope="module")
def smoothed(deft, tmp_path_factory):
    return smoothing.measure(Laboratory(deft, tmp_path_factory.mktemp("smoothing")))


def test_smoothed_step_is_the_smoothed_maximum_and_pushes_from_a_distance(smoothed):
    assert smoothed.exact == pytest.approx(np.maximum(smoothed.u, 0), abs=1e-12)
    for kappa, place in smoothed.smoothed.items():
        assert place == pytest.approx(smoothing.smooth_maximum(smoothed.u, kappa), abs=1e-12)
        rounding = 4 * np.finfo(float).eps * np.abs(np.concatenate([[0.5], place[:-1]])) / place
        assert (np.abs(smoothed.product[kappa] - 1) <= np.maximum(1e-9, rounding)).all()
    assert smoothing.gradient_error(smoothed) < 1e-9


def test_bundled_gradients_are_those_of_the_noise(smoothed):
    for (order, sigma), (found, error) in smoothed.bundled.items():
        expected = smoothing.gaussian_gradient(sigma * smoothing.COMMANDS, sigma)
        # Where no sample of the noise crosses the kink the estimated error is zero and the true one below 1e-3.
        assert (np.abs(found - expected) <= 4.5 * error + 1e-3).all(), (order, sigma)
    mean_error = {
        order: np.mean([smoothed.bundled[order, s][1].mean() for s in smoothing.SIGMAS]) for order in ("first-order", "zero-order")
    }
    assert mean_error["zero-order"] > mean_error["first-order"]


def test_nearest_barrier_scales_with_the_inverse_variance_of_the_noise(smoothed):
    products = np.array([kappa * sigma**2 for sigma, kappa in smoothed.fitted.items()])
    assert (products > 8 / np.pi).all() and (products < 2 * np.pi).all()
    assert products.max() / products.min() < 1.2


def test_contact_control_finds_the_steps_and_costs_of_the_page(lab):
    for found, (x0, u, wanted, _) in zip(contact_mpc.one_steps(lab), contact_mpc.ONE_STEP, strict=True):
        assert found["status"] == "Solved" and found["x"] == pytest.approx(wanted, abs=1e-9)
        # By hand: the impulses are what changes the velocities besides h u.
        push = np.subtract(wanted[2:], x0[2:]) - contact_mpc.H * np.array(u)
        assert (found["friction"], found["normal"]) == pytest.approx(tuple(push), abs=1e-9)
        assert abs(found["friction"]) <= contact_mpc.FRICTION * found["normal"] + 1e-9 and found["gap"] == pytest.approx(0, abs=1e-9)
    for (start, N), said in contact_mpc.optimal_costs(lab).items():
        assert said["status"] == "Solved", (start, N)
        assert said["solution"]["cost"] == pytest.approx(contact_mpc.COSTS[start, N], rel=1e-9), (start, N)
        assert said["solution"]["gap"] <= 1e-7 * (1 + 1e-6) and said["residuals"]["absolute"]["complementarity"] <= 1e-8


def test_contact_control_with_a_long_horizon_brakes_by_friction_and_costs_less(lab):
    found = contact_mpc.loops(lab, 90)
    short, long = found[5], found[20]
    assert all(loop.control["proven"] == loop.control["periods"] == 90 and loop.control["fallbacks"] == 0 for loop in found.values())
    assert 76 <= short.touch("floor") <= 86 and 0 < long.touch("floor") < 45
    for loop in found.values():
        normal, friction = loop.force["floor"][:, 1], loop.force["floor"][:, 0]
        assert (np.abs(friction) <= contact_mpc.FRICTION * normal + 1e-6).all() and normal.min() >= 0
        assert (normal[loop.gap("floor")[1:] > 1e-7] < 1e-6).all()
        # What the floor does is what the inputs leave of the change of momentum.
        change = np.diff(loop.v, axis=0) / contact_mpc.H - loop.u
        assert sum(loop.force.values()) == pytest.approx(change, abs=1e-6)
    sliding = slice(long.touch("floor") + 8, 85)
    assert (long.force["floor"][sliding, 0] < -0.04).all() and (long.u[sliding, 1] < -0.04).all()  # pressed for
    impulse = {N: -contact_mpc.H * loop.force["floor"][:, 0].sum() for N, loop in found.items()}
    assert impulse[20] > 2 * impulse[5] > 0
    after = int(np.argmax(long.spent < short.spent))
    assert 0 < after < 30 and (long.spent[after:] < short.spent[after:]).all()
    assert long.cost[0] > short.cost[0] and (long.cost[35:90] < short.cost[35:90]).all()


def test_the_path_along_the_walls_is_tracked_on_the_walls(lab):
    path = contact_mpc.closed_loop(lab, "disc_path")
    parts = {p["surface"]: p for p in contact_mpc.tracking(path, contact_mpc.reference(contact_mpc.H * np.arange(len(path.q))))}
    assert path.control["fallbacks"] == 0
    for part in parts.values():
        assert part["touching"] > 0.8 and part["along_median"] < 0.02 and part["along_max"] < 0.4
        assert part["distance_median"] == pytest.approx(0.1, abs=5e-3)  # the path runs that far inside


def test_growth_says_what_is_proven(lab):
    lines = contact_mpc.grow(lab, horizons=(5,), surface_counts=(1,))
    assert [(g["surfaces"], g["N"], g["pairs"]) for g in lines] == [(3, 5, 60), (1, 10, 40)]
    assert all(gap is None for g in lines for gap in g["gaps"]) and all(n >= 1 for g in lines for n in g["nodes"])
