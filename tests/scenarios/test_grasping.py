"""Objects on supports, pushed, grasped and jammed: the published numbers, by the runs of the page of grasping."""

import numpy as np
import pytest
from reproductions import grasping
from reproductions.experiment import Laboratory

# x, y, θ after 10 s, by the gain c; computed independently by enumerating contact modes.
ENDS = {
    "asymmetric": {0: (-0.539373126, -3.999224696, -0.815556225), 2**-10: (-0.520062172, -3.992506711, -0.796585678),
                   2**-6: (-0.247981672, -3.852105673, -0.522517078), 1: (0.142765353, 0.431369171, 0.461806798)},
    "semicircle": {0: (5.006750716, 1.692783863, 3.133796691), 2**-10: (5.008379516, 1.692375791, 3.125292151),
                   2**-6: (5.128883155, 1.730145186, 2.840219409), 1: (-3.678285925, -2.870473172, -0.588907518)},
}  # fmt: skip
SYMMETRIC = {0: -5.866025404, 2**-10: -5.861700836, 2**-6: -5.797308949, 1: -2.911274965}
WALL = {2**-6: (0.9233987, 1, -1.9386437), 2**-10: (0.9241729, 1, -1.9316045)}


@pytest.fixture
def lab(deft, tmp_path) -> Laboratory:
    return Laboratory(deft, tmp_path)


def obeys_the_invariants(path: grasping.Path) -> bool:
    return path.steps["balance"].max() <= 1e-8 and path.steps["bound"].max() <= 1 + 1e-8


@pytest.mark.parametrize("manoeuvre", ENDS)
def test_pushed_disc_ends_where_it_should(lab, manoeuvre):
    for c, end in ENDS[manoeuvre].items():
        path = grasping.path(lab, f"grasping_{manoeuvre}", *grasping.gain(float(c)))
        assert path.status == "Completed" and obeys_the_invariants(path)
        assert path.pose[-1] == pytest.approx(end, abs=1e-6), c


def test_symmetric_push_has_three_motions_at_the_impact(lab):
    for c, y in SYMMETRIC.items():
        path = grasping.path(lab, "grasping_symmetric", *grasping.gain(float(c)))
        assert abs(path.pose[-1, 0]) < 5e-3 and abs(path.pose[-1, 2]) < 5e-3
        assert path.pose[-1, 1] == pytest.approx(y, abs=2e-5), c
    run = grasping.path(lab, "grasping_symmetric", "--set", "step.uniqueness=check").run
    assert run.summary["uniqueness"]["not_unique"] >= 1


@pytest.mark.parametrize("manoeuvre", grasping.MANOEUVRES)
def test_finite_gains_approach_perfect_control_linearly(lab, manoeuvre):
    ends = [grasping.path(lab, f"grasping_{manoeuvre}", *grasping.gain(c)).pose[-1] for c in (0.0, *grasping.GAINS)]
    fold = np.array([0, 1, 0]) if manoeuvre == "symmetric" else np.ones(3)
    assert grasping.slope(np.linalg.norm((np.array(ends[1:]) - ends[0]) * fold, axis=1)) == pytest.approx(1, abs=0.03)


def test_disc_at_a_wall_is_squeezed_or_rolls(lab):
    perfect = grasping.path(lab, "grasping_wall", *grasping.gain(0.0))
    assert perfect.status == "Infeasible"
    assert perfect.t[-2] == pytest.approx(2.325) and perfect.pose[-1, :2] == pytest.approx((-1.01356, 1.01356), abs=1e-5)
    assert "disk – wall" in perfect.run.summary["reason"]
    for c, end in WALL.items():
        path = grasping.path(lab, "grasping_wall", *grasping.gain(c))
        assert path.status == "Completed" and obeys_the_invariants(path)
        assert path.pose[-1] == pytest.approx(end, abs=1e-5)
        assert path.steps["gap_min_linearised"].min() > -1e-9 and path.steps["gap_min"].min() > -1e-9  # discs and walls: convex gaps


def test_squeezed_square_stays_and_grazed_square_may_go(lab):
    assert grasping.path(lab, "grasping_squeeze", *grasping.gain(0.0), body="square").status == "Infeasible"
    for c in (1e-3, 1e-6):
        path = grasping.path(lab, "grasping_squeeze", *grasping.gain(c), body="square")
        assert np.abs(path.pose).max() < 1e-12
        forces = np.array(list(grasping.normal_forces(path).values()))
        assert forces == pytest.approx(1 / c, rel=1e-9)
    assert grasping.path(lab, "grasping_graze", *grasping.gain(0.0), body="square").run.summary["statuses"] == {"NotUnique": 3}
    compliant = grasping.path(lab, "grasping_graze", *grasping.gain(1e-3), body="square")
    assert compliant.run.summary["statuses"] == {"Solved": 3} and np.abs(compliant.pose).max() < 1e-12


@pytest.mark.parametrize("c", [1e-2, 1e-6, 1e-8])
def test_peg_is_jammed_and_inserted(lab, c):
    peg = grasping.path(lab, "grasping_peg", "--set", "step.uniqueness=off", *grasping.gain(c), body="peg")
    assert peg.status == "Completed" and obeys_the_invariants(peg)
    # The published end is that of c = 0.01; stiffer fingers push it a little deeper.
    assert peg.pose[-1] == pytest.approx((-0.010, -2.984 if c == 1e-2 else -2.99, 0), abs=5e-3)
    assert np.nanmin(np.where(np.isfinite(peg.steps["gap_min"]), peg.steps["gap_min"], np.nan)) > -5e-3
    if c < 1e-2:
        return
    for t in (3.05, 3.25, 3.5):
        assert peg.pose[grasping.at(peg, t)] == pytest.approx((-1.9757, 3.0, 0), abs=5e-3)


def test_arms_pinch_a_square_upwards_and_turn_it(lab):
    arms = grasping.path(lab, "grasping_arms", body="square")
    second_order = grasping.second_order(lab)
    assert obeys_the_invariants(arms) and arms.status == second_order.status == "Completed"
    for path in (arms, second_order):
        assert path.pose[-1, 1] > 0.03 and path.pose[-1, 2] > 1
    assert second_order.pose[-1, 1] > arms.pose[-1, 1]  # as published
    assert np.abs(arms.pose[-1] - second_order.pose[-1]) == pytest.approx(0, abs=0.3)
