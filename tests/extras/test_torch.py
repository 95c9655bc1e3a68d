"""deft.torch: values, gradients in both modes, vmap."""

import deft.torch
import numpy as np
import pytest
import torch

import deft


@pytest.fixture(autouse=True)
def double():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


@pytest.fixture(scope="module")
def touching():
    return deft.load(deft.scene_path("planning/allegro_ball"))


@pytest.fixture(scope="module")
def smooth(touching):
    return deft.StepModel(touching, kappa=300)


def inputs(scene, count, seed=2):
    rng = np.random.default_rng(seed)
    q = np.array([scene.integrate(scene.q(), 0.02 * rng.standard_normal(scene.n_v)) for _ in range(count)])
    return torch.from_numpy(q), torch.from_numpy(scene.u() + 0.03 * rng.standard_normal((count, scene.n_u)))


def test_values_are_those_of_fresh_models(touching, smooth):
    q, u = inputs(touching, 6)
    expected = np.array([deft.StepModel(touching, kappa=300).step(*row).q for row in zip(q, u)])
    np.testing.assert_array_equal(deft.torch.step(smooth, q, u), expected)
    np.testing.assert_array_equal(deft.torch.step(smooth, q[1], u[1]), expected[1])
    np.testing.assert_array_equal(torch.func.vmap(lambda q, u: deft.torch.step(smooth, q, u))(q, u), expected)
    one = torch.func.vmap(lambda q: deft.torch.step(smooth, q, u[0]))(q)
    np.testing.assert_array_equal(one[0], expected[0])


def test_gradcheck(touching, smooth):
    q, u = inputs(touching, 2)
    q.requires_grad_(), u.requires_grad_()
    step = lambda q, u: deft.torch.step(smooth, q, u)  # noqa: E731
    assert torch.autograd.gradcheck(step, (q, u), eps=1e-6, atol=1e-4, rtol=1e-3, check_forward_ad=True)
    assert torch.autograd.gradcheck(step, (q[0], u), eps=1e-6, atol=1e-4, rtol=1e-3)
    jacobian = torch.func.jacrev(step, argnums=1)(q[0].detach(), u[0].detach())
    forward = torch.func.jacfwd(step, argnums=1)(q[0].detach(), u[0].detach())
    np.testing.assert_allclose(jacobian, forward, atol=1e-10)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        torch.autograd.grad(torch.autograd.grad(step(q, u).sum(), u, create_graph=True)[0].sum(), u)


def test_models_of_second_order_have_velocities():
    scene = deft.loads("""
deft: 1
bodies:
  ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5}
  floor: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
gravity: [0, 0, -10]
step: {h: 0.02, model: convex-second-order, kappa: 1000, contact_margin: 1}
""")
    model = deft.StepModel(scene)
    q = torch.tensor([0.9, 0.1, -0.3, 0.2, 0, 0, 0.11], requires_grad=True)
    v = torch.tensor([0.3, 0.1, -0.2, 0.4, 0, -0.3], requires_grad=True)
    step = lambda q, v: deft.torch.step(model, q, torch.zeros(0), v)  # noqa: E731
    assert torch.autograd.gradcheck(step, (q, v), eps=1e-6, atol=1e-4, rtol=1e-3, check_forward_ad=True)
    with pytest.raises(TypeError, match="step: expected q, u, v, got 2 arguments"):
        deft.torch.step(model, q, torch.zeros(0))


def test_parameters_are_inputs():
    scene = deft.load(deft.scene_path("planning/push_on_table"), set={"step.kappa": 800, "step.cone": "cone"})
    start = scene.pack({"finger": {"x": -0.119, "y": 0.01, "z": 0.05}, "box": {"position": [0, 0, 0.05]}})
    model, q = deft.StepModel(scene), torch.from_numpy(start)
    u = q[scene.slice("finger")] + torch.tensor([0.02, 0.01, 0.0])
    mu, mass = torch.tensor(0.6, requires_grad=True), torch.tensor([0.5, 0.7], requires_grad=True)
    step = lambda mu, mass: deft.torch.step(model, q, u, params={"mu:finger|box": mu, "mass:box": mass})  # noqa: E731
    assert step(mu, mass).shape == (2, scene.n_q)
    assert torch.autograd.gradcheck(step, (mu, mass), eps=1e-6, atol=1e-5, rtol=1e-3, check_forward_ad=True)


def test_single_precision_and_failures(touching, smooth):
    q, u = inputs(touching, 1)
    single = deft.torch.step(smooth, q[0].float(), u[0].float())
    assert single.dtype == torch.float32
    np.testing.assert_allclose(single, deft.torch.step(smooth, q[0], u[0]), atol=1e-5)
    with pytest.raises(ValueError, match=r"u: expected shape \(16,\) or \(batch, 16\), got \(3,\)"):
        deft.torch.step(smooth, q[0], torch.zeros(3))
