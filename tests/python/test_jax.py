"""deft.jax: values, gradients, vmap and jit."""

import deft.jax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

import deft

jax.config.update("jax_enable_x64", True)


@pytest.fixture(scope="module")
def smooth(touching):
    return deft.StepModel(touching, kappa=300)


def inputs(scene, count, seed=2):
    rng = np.random.default_rng(seed)
    q = np.array([scene.integrate(scene.q(), 0.02 * rng.standard_normal(scene.n_v)) for _ in range(count)])
    return q, scene.u() + 0.03 * rng.standard_normal((count, scene.n_u))


def test_values_are_those_of_fresh_models(touching, smooth):
    step = deft.jax.step(smooth)
    q, u = inputs(touching, 6)
    expected = np.array([deft.StepModel(touching, kappa=300).step(*row).q for row in zip(q, u)])
    np.testing.assert_array_equal(step(q, u), expected)
    np.testing.assert_array_equal(step(q[2], u[2]), expected[2])
    np.testing.assert_array_equal(jax.jit(step)(q, u), expected)
    np.testing.assert_array_equal(jax.vmap(step)(q, u), expected)
    np.testing.assert_array_equal(jax.vmap(step, in_axes=(0, None))(q, u[0])[0], expected[0])
    np.testing.assert_array_equal(jax.jit(jax.vmap(jax.vmap(step)))(q.reshape(2, 3, -1), u.reshape(2, 3, -1)), expected.reshape(2, 3, -1))


def test_gradients_are_differences(touching, smooth):
    # A free body: by all entries of its quaternion, which the step normalises.
    step = deft.jax.step(smooth)
    q, u = inputs(touching, 1)
    check_grads(step, (jnp.asarray(q[0]), jnp.asarray(u[0])), order=1, modes=["rev"], eps=1e-6, atol=1e-4, rtol=1e-3)


def test_gradients_of_batches(touching, smooth):
    step = deft.jax.step(smooth)
    q, u = inputs(touching, 4)
    weights = np.random.default_rng(3).standard_normal(touching.n_q)
    grad = jax.grad(lambda q, u: step(q, u) @ weights, argnums=(0, 1))
    rows = [grad(*row) for row in zip(q, u)]
    many = jax.jit(jax.vmap(grad))(q, u)
    for k in range(2):
        np.testing.assert_allclose(many[k], [row[k] for row in rows], atol=1e-12)
    shared = jax.grad(lambda u: (step(q, u) @ weights).sum())(u[0])
    np.testing.assert_allclose(shared, sum(grad(row, u[0])[1] for row in q), atol=1e-10)


def test_models_of_second_order_have_velocities():
    scene = deft.loads(
        """
deft: 1
bodies:
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5}
  floor: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
gravity: [0, 0, -10]
step: {h: 0.02, model: convex-second-order, kappa: 1000, contact_margin: 1}
""",
    )
    step = deft.jax.step(deft.StepModel(scene))
    q, v = jnp.array([0.9, 0.1, -0.3, 0.2, 0, 0, 0.11]), jnp.array([0.3, 0.1, -0.2, 0.4, 0, -0.3])
    q_next, v_next = step(q, jnp.zeros(0), v)
    assert q_next.shape == (7,) and v_next.shape == (6,)
    by_params = deft.jax.step(deft.StepModel(scene), params=["mu:ball|floor", "mass:ball", "h"])
    theta = jnp.array([0.5, 1.0, 0.02])
    check_grads(lambda theta: by_params(q, jnp.zeros(0), v, theta), (theta,), order=1, modes=["rev"], eps=1e-7, atol=1e-4, rtol=1e-3)
    check_grads(lambda q, v: step(q, jnp.zeros(0), v), (q, v), order=1, modes=["rev"], eps=1e-6, atol=1e-4, rtol=1e-3)
    with pytest.raises(TypeError, match="step: expected q, u, v, got 2 arguments"):
        step(q, v)


PUSHED = ("mu:finger|box", "mass:box", "stiffness:finger/x", "h", "kappa")


def pushed():
    scene = deft.load(deft.scene_path("planning/push_on_table"), set={"step.kappa": 800, "step.cone": "cone"})
    q = scene.pack({"finger": {"x": -0.119, "y": 0.01, "z": 0.05}, "box": {"position": [0, 0, 0.05]}})
    return deft.StepModel(scene), jnp.asarray(q), jnp.asarray(q[scene.slice("finger")] + [0.02, 0.01, 0.0])


def test_parameters_are_inputs():
    model, q, u = pushed()
    step = deft.jax.step(model, params=PUSHED)
    theta = jnp.array([model.params[name] for name in PUSHED])
    np.testing.assert_array_equal(step(q, u, theta), deft.StepModel(model.scene).step(q, u).q)
    scales = jnp.array([1, 1, 1000.0, 0.1, 1000.0])  # so that differences are of the size of the values
    check_grads(lambda x: step(q, u, x * scales), (theta / scales,), order=1, modes=["rev"], eps=1e-6, atol=1e-5, rtol=1e-3)
    two = jnp.stack([theta, 1.1 * theta])
    both = jax.vmap(step, in_axes=(None, None, 0))(q, u, two)
    np.testing.assert_array_equal(both[1], step(q, u, 1.1 * theta))
    with pytest.raises(deft.InputError, match="params: there is no 'mu:x'"):
        deft.jax.step(model, params=["mu:x"])


def test_failed_rows_stay_nan(touching, smooth):
    step = deft.jax.step(smooth, on_failure="nan")
    q, u = inputs(touching, 3)
    q[1] = np.nan
    first = step(q, u)
    assert np.isnan(first[1]).all() and np.isfinite(first[0]).all()
    twice = step(first, u)
    assert np.isnan(twice[1]).all() and np.isfinite(twice[2]).all()
    with pytest.raises(TypeError, match="q: expected real numbers, got dtype complex128"):
        step(q + 0j, u)


def test_single_precision_is_cast_back(touching, smooth):
    step = deft.jax.step(smooth)
    q, u = inputs(touching, 1)
    single = step(jnp.asarray(q[0], jnp.float32), jnp.asarray(u[0], jnp.float32))
    assert single.dtype == jnp.float32
    np.testing.assert_allclose(single, step(q[0], u[0]), atol=1e-5)
    with pytest.raises(ValueError, match=r"u: expected shape \(16,\) or \(batch, 16\), got \(3,\)"):
        step(q[0], jnp.zeros(3))
