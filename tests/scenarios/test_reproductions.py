"""The published experiments: numbers of the pages in docs/reproductions against calculations by hand."""
import numpy as np
import pytest
from reproductions import impedance_robot, pick_and_place, planar_gripper, smoothing, squeezing
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
    assert np.diff(y)[SLIP:planar_gripper.SLIP_ENDS] == pytest.approx(-2e-3, abs=1e-12)
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


@pytest.fixture(scope="module")
def responses(deft, tmp_path_factory):
    return impedance_robot.measure(Laboratory(deft, tmp_path_factory.mktemp("impedance")))


@pytest.mark.parametrize("command", impedance_robot.COMMANDS)
def test_impedance_robot_follows_the_closed_form(responses, command):
    r = responses[command]
    # Semi-implicit Euler: the error is of order h ω.
    assert np.abs(r.second_order - impedance_robot.exact(command, r.t)).max() < 0.5 * impedance_robot.FINE * impedance_robot.OMEGA
    assert r.quasistatic[1:] == pytest.approx(impedance_robot.commanded(command, r.t_quasistatic[1:]), abs=1e-12)


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
    mean_error = {order: np.mean([smoothed.bundled[order, s][1].mean() for s in smoothing.SIGMAS]) for order in ("first-order", "zero-order")}
    assert mean_error["zero-order"] > mean_error["first-order"]


def test_nearest_barrier_scales_with_the_inverse_variance_of_the_noise(smoothed):
    products = np.array([kappa * sigma**2 for sigma, kappa in smoothed.fitted.items()])
    assert (products > 8 / np.pi).all() and (products < 2 * np.pi).all()
    assert products.max() / products.min() < 1.2
