"""Batches: the bits of single steps, whatever the threads."""

import numpy as np
import pytest

import deft


def states(scene, count, seed=6):
    rng = np.random.default_rng(seed)
    q = np.array([scene.integrate(scene.q(), 0.02 * rng.standard_normal(scene.n_v)) for _ in range(count)])
    return q, scene.u() + 0.05 * rng.standard_normal((count, scene.n_u))


def test_items_are_first_steps_of_fresh_models(touching):
    Q, U = states(touching, 20)
    model = deft.StepModel(touching, kappa=300)
    outs = [deft.Batch(model, threads=threads).step(Q, U, derivatives=True) for threads in (1, 3)]
    for name in ("q", "dq", "dq_dq", "dq_du", "status", "nonsmooth"):
        np.testing.assert_array_equal(getattr(outs[0], name), getattr(outs[1], name))
    out = outs[0]
    assert out.dq_dq.shape == (20, 22, 22) and out.dq_dq.flags.c_contiguous and out.status.dtype == np.uint8 and len(out) == 20
    for item in (0, 7, 19):
        np.testing.assert_array_equal(deft.StepModel(touching, kappa=300).step(Q[item], U[item]).q, out.q[item])
        np.testing.assert_allclose(model.derivatives(Q[item], U[item]).dq_du, out.dq_du[item], atol=1e-9)


def test_one_row_serves_all_and_out_is_filled_again(hand):
    Q, U = states(hand, 6)
    batch = deft.Batch(deft.StepModel(hand))
    out = batch.step(Q, U[0])
    np.testing.assert_array_equal(out.q, batch.step(Q, np.tile(U[0], (6, 1))).q)
    assert out.dq_dq is None and out.v is None and out.errors == []
    assert batch.step(Q, U, out=out) is out


def test_out_of_other_sizes_leaves_earlier_arrays_alone(hand):
    Q, U = states(hand, 300)
    batch = deft.Batch(deft.StepModel(hand))
    out = batch.step(Q, U, derivatives=True)
    q, jacobian = out.q, out.dq_dq
    kept = q.copy(), jacobian.copy()
    batch.step(Q[:2], U[:2], out=out)
    assert out.q.shape == (2, 7) and out.dq_dq is None
    np.testing.assert_array_equal(q, kept[0])
    np.testing.assert_array_equal(jacobian, kept[1])
    none = batch.step(np.zeros((0, 7)), np.zeros((0, 4)), derivatives=True)
    assert len(none) == 0 and none.q.shape == (0, 7) and none.status.shape == (0,)


def test_bad_rows_are_named(hand):
    Q, U = states(hand, 6)
    batch = deft.Batch(deft.StepModel(hand))
    Q[4, 2] = np.inf
    with pytest.raises(ValueError, match=r"^Q: entry 2 of row 4 is inf"):
        batch.step(Q, U)
    with pytest.raises(ValueError, match=r"^U: expected shape \(4,\) or \(batch, 4\), got \(6, 3\)"):
        batch.step(Q[:4], U[:, :3])
    with pytest.raises(ValueError, match=r"^U: expected a batch of 4, as of Q, got 6"):
        batch.step(Q[:4], U)


def test_failed_items_are_nan():
    # Two pushers drive a frictionless wedge of fixed walls: item 1 asks for the impossible within the iterations.
    scene = deft.loads(
        """
deft: 1
bodies:
  floor: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0}
  roof: {shape: {half_space: {normal: [0, 0, -1], offset: -0.3}}, joint: fixed, mu: 0}
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: {translation: xyz}, mu: 0}
step: {h: 0.1, contact_margin: 10}
"""
    )
    batch = deft.Batch(deft.StepModel(scene))
    out = batch.step([[0, 0, 0.15], [0, 0, 0.15]], [])
    assert out.status.tolist() == [0, 0] and np.isfinite(out.q).all()
    squeezed = deft.loads(
        scene.to_dict()
        | {
            "bodies": scene.to_dict()["bodies"]
            | {"roof": {"shape": {"half_space": {"normal": [0, 0, -1], "offset": -0.1}}, "joint": "fixed", "mu": 0}}
        }
    )
    out = deft.Batch(deft.StepModel(squeezed)).step([[0, 0, 0.05]], [])
    assert out.status[0] == deft.Status.Infeasible and np.isnan(out.q).all() and np.isnan(out.dq).all()


def test_scenes_in_which_nothing_moves():
    scene = deft.loads({"deft": 1, "step": {"h": 0.1}})
    out = deft.Batch(deft.StepModel(scene)).step(np.zeros((2, 0)), np.zeros((2, 0)), derivatives=True)
    assert out.q.shape == (2, 0) and out.dq_dq.shape == (2, 0, 0)
