"""Step models: results, arguments, derivatives, threads."""

import array
import threading

import numpy as np
import pytest

import deft


def moved(model, q, u, **keywords):
    """q⁺, started cold."""
    model.reset()
    return np.array(model.step(q, u, **keywords).q)


def test_forces_balance_what_is_commanded(touching):
    model = deft.StepModel(touching)
    q, u = touching.q(), touching.u()
    u = u + 0.05
    r = model.step(q, u)
    assert r.status is deft.Status.Solved and r.residual < 1e-6 and r.v is None and r.time_s > 0
    contacts = r.contacts
    assert r.forces.shape == (len(contacts), 3) and contacts.gap.min() < 0.01
    # Of the joints: K (u − q⁺) + Σ Jᵀ f = 0, since they carry their own weight.
    pushed = np.einsum("nij,ni->j", contacts.jacobian, r.forces)
    dq = touching.difference(q, r.q)
    np.testing.assert_allclose(r.dq, dq, atol=1e-12)
    stiffness = touching.to_dict()["robots"][0]["stiffness"]
    hand = touching.slice_v("hand")
    np.testing.assert_allclose(np.broadcast_to(stiffness, 16) * (u - r.q[touching.slice("hand")]) + pushed[hand], 0, atol=1e-6)


def test_arguments_may_be_anything_that_holds_numbers(hand):
    model = deft.StepModel(hand)
    q, u = hand.q(), hand.u()
    expected = moved(model, q, u)

    class Boxed:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)

    class Capsule:
        def __init__(self, values):
            self.values = values

        def __dlpack__(self, **keywords):
            return self.values.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.values.__dlpack_device__()

    for wrap in (list, tuple, lambda x: array.array("d", x), Boxed, Capsule, lambda x: np.repeat(x, 2)[::2], lambda x: x.astype(">f8")):
        np.testing.assert_array_equal(moved(model, wrap(q), wrap(u)), expected)
    whole = np.round(q).astype(int)
    np.testing.assert_array_equal(moved(model, whole, u), moved(model, whole.astype(float), u))
    np.testing.assert_allclose(moved(model, q.astype(np.float32), u), expected, atol=1e-6)


def test_bad_arguments_are_named(hand):
    model = deft.StepModel(hand)
    q, u = hand.q(), hand.u()
    with pytest.raises(ValueError, match=r"^q: expected shape \(7,\), got \(6,\)$"):
        model.step(q[:6], u)
    with pytest.raises(ValueError, match=r"^u: expected shape \(4,\), got \(1, 4\)$"):
        model.step(q, u[None])
    with pytest.raises(ValueError, match=r"^u: entry 2 is nan"):
        model.step(q, [0, 0, np.nan, 0])
    for wrong in (q + 0j, [str(x) for x in q], np.array(q, object), [[1, 2], [3]], None, "text"):
        with pytest.raises(TypeError, match=r"^q: expected real numbers"):
            model.step(wrong, u)
    with pytest.raises(TypeError, match="out: expected what an earlier step returned"):
        model.step(q, u, out=3)
    with pytest.raises(TypeError, match=r"scene: expected a deft\.Scene"):
        deft.StepModel("planar_hand")
    with pytest.raises(deft.InputError, match="did you mean 'kappa'"):
        deft.StepModel(hand, kapa=1)
    with pytest.raises(ValueError, match="wrt: 'x' is unknown"):
        model.derivatives(q, u, wrt=("x",))


def test_results_live_as_long_as_their_arrays(hand):
    model = deft.StepModel(hand)
    q = model.step(hand.q(), hand.u() + 0.1).q
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1
    kept = q.copy()
    del model
    for _ in range(100):
        deft.StepModel(hand).step(hand.q(), hand.u())
    np.testing.assert_array_equal(q, kept)


def test_out_is_overwritten(hand):
    model = deft.StepModel(hand)
    first = model.step(hand.q(), hand.u() + 0.1)
    before = first.q.copy()
    assert model.step(hand.q(), hand.u() - 0.1, out=first) is first
    assert not np.array_equal(first.q, before)


def test_out_of_another_scene_leaves_earlier_arrays_alone(hand, touching):
    large, small = deft.StepModel(touching), deft.StepModel(hand)
    result = large.step(touching.q(), touching.u())
    q = result.q
    kept = q.copy()
    assert small.step(hand.q(), hand.u(), out=result) is result and result.q.shape == (7,)
    _ = [np.full(23, 7.0) for _ in range(1000)]
    np.testing.assert_array_equal(q, kept)
    gaps = result.contacts.gap
    for bad in ([0.0], [np.nan] * 16):
        with pytest.raises(ValueError, match=r"^u: "):
            large.step(touching.q(), bad, out=result)  # what is refused changes nothing
    np.testing.assert_array_equal(result.contacts.gap, gaps)
    assert result.contacts.jacobian.shape == (len(gaps), 3, 7)
    assert small.step(hand.q() + 0.01, hand.u(), out=result).q.shape == (7,)


def test_reset_forgets(touching):
    model = deft.StepModel(touching)
    q, u = touching.q(), touching.u() + 0.03
    first = moved(model, q, u)
    model.step(first, u - 0.1)
    np.testing.assert_array_equal(moved(model, q, u), first)
    np.testing.assert_array_equal(moved(deft.StepModel(touching), q, u), first)


def test_second_order_models_move_velocities():
    scene = deft.loads(
        "deft: 1\nbodies: {ball: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0}}\ngravity: [0, 0, -10]\nstep: {h: 0.01, model: convex-second-order}"
    )
    model = deft.StepModel(scene)
    assert model.second_order and model.h == 0.01
    r = model.step(scene.q(), [], v=[0, 0, 0, 1, 0, 0])
    np.testing.assert_allclose(r.v, [0, 0, 0, 1, 0, -0.1], atol=1e-9)
    np.testing.assert_allclose(r.q[4:], scene.q()[4:] + [0.01, 0, -0.001], atol=1e-9)
    d = model.derivatives(scene.q(), [], v=[0, 0, 0, 1, 0, 0], wrt=("q", "v", "u"))
    np.testing.assert_allclose(d.dv_dv[3:, 3:], np.eye(3), atol=1e-9)
    np.testing.assert_allclose(d.dq_dv[3:, 3:], 0.01 * np.eye(3), atol=1e-9)
    assert d.dv_du.shape == (6, 0)


@pytest.mark.parametrize("name", ["planning/planar_hand", "planning/allegro_ball"])
def test_derivatives_are_differences(name):
    scene = deft.load(deft.scene_path(name))
    model = deft.StepModel(scene, kappa=1000)
    q, u, eps = scene.q(), scene.u() + 0.02, 1e-6
    d = model.derivatives(q, u, of=("motion", "forces"))
    assert not d.nonsmooth and d.dq_dv is None
    model.reset()
    at = model.step(q, u)
    assert d.df_dq.shape == (len(at.contacts), 3, scene.n_v) and d.df_du.shape == (len(at.contacts), 3, scene.n_u)
    for column in range(scene.n_v):
        dq = np.zeros(scene.n_v)
        dq[column] = eps
        low, high = (moved(model, scene.integrate(q, sign * dq), u) for sign in (-1, 1))
        np.testing.assert_allclose(scene.difference(low, high) / (2 * eps), d.dq_dq[:, column], atol=2e-4 * max(1, np.abs(d.dq_dq).max()))
    for column in range(scene.n_u):
        du = np.zeros(scene.n_u)
        du[column] = eps
        low, high = (moved(model, q, u + sign * du) for sign in (-1, 1))
        np.testing.assert_allclose(scene.difference(low, high) / (2 * eps), d.dq_du[:, column], atol=2e-4 * max(1, np.abs(d.dq_du).max()))


def test_products_are_those_of_the_jacobians(touching):
    model = deft.StepModel(touching, kappa=1000)
    rng = np.random.default_rng(5)
    q, u = touching.q(), touching.u() + 0.02
    d = model.derivatives(q, u)
    dq, du, w = rng.standard_normal(touching.n_v), rng.standard_normal(touching.n_u), rng.standard_normal(touching.n_v)
    np.testing.assert_allclose(model.jvp(q, u, dq=dq, du=du), d.dq_dq @ dq + d.dq_du @ du, atol=1e-8)
    np.testing.assert_allclose(model.jvp(q, u, du=du), d.dq_du @ du, atol=1e-8)
    q_bar, u_bar = model.vjp(q, u, w)
    np.testing.assert_allclose(q_bar, d.dq_dq.T @ w, atol=1e-8)
    np.testing.assert_allclose(u_bar, d.dq_du.T @ w, atol=1e-8)
    many = rng.standard_normal((5, touching.n_v))
    q_bars, u_bars = model.vjp(q, u, many)
    np.testing.assert_array_equal(model.vjp(q, u, many[3])[0], q_bars[3])
    assert u_bars.shape == (5, touching.n_u)
    assert model.jvp(np.tile(q, (3, 1)), u, du=du).shape == (3, touching.n_v)
    with pytest.raises(ValueError, match="dq: expected a batch of 3, as of q, got 2"):
        model.jvp(np.tile(q, (3, 1)), u, dq=np.zeros((2, touching.n_v)))


@pytest.mark.parametrize(
    "change",
    [
        {"bodies.box.mass": 0.5 + 1e-6},
        {"bodies.box.mu": 0.4 + 1e-6},
        {"bodies.finger.mu": 0.8 + 1e-6},
        {"step.h": 0.1 + 1e-7},
        {"step.kappa": 800 + 1e-2},
        {"robots.0.stiffness": [500, 500 + 1e-2, 500]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_derivatives_by_parameters_are_differences(change):
    scene = deft.load(deft.scene_path("planning/push_on_table"), set={"step.kappa": 800, "step.cone": "cone"})
    q = scene.pack({"finger": {"x": -0.119, "y": 0.01, "z": 0.05}, "box": {"position": [0, 0, 0.05]}})
    u = q[scene.slice("finger")] + [0.02, 0.01, 0.0]
    model = deft.StepModel(scene)
    d = model.derivatives(q, u, wrt=("q", "u", "params"), of=("motion", "forces"))
    other = deft.StepModel(scene.with_(change))
    assert list(other.params) == list(model.params) and {"mass:box", "mu:finger|box", "stiffness:finger/y", "h", "kappa"} <= set(
        model.params
    )
    dtheta = np.array(list(other.params.values())) - np.array(list(model.params.values()))
    base, there = model.step(q, u), other.step(q, u)
    predicted, found = d.dq_dtheta @ dtheta, scene.difference(base.q, there.q)
    assert np.abs(found).max() > 1e-12
    np.testing.assert_allclose(found, predicted, atol=2e-3 * np.abs(found).max() + 1e-14)
    same = model.with_params({name: value for name, value in other.params.items() if value != model.params[name]})
    assert same.params == pytest.approx(other.params) and same.params != model.params
    np.testing.assert_allclose(same.step(q, u).q, there.q, atol=1e-14)
    df = there.forces - base.forces
    np.testing.assert_allclose(df, d.df_dtheta @ dtheta, atol=5e-3 * np.abs(df).max() + 1e-12)


def test_parameters_that_are_none_are_named(touching):
    model = deft.StepModel(touching)
    changed = model.with_params({"mass:ball": 0.2, "stiffness:hand/joint_3": 7, "mu:hand/hand_root|ball": 0.1})
    assert {name for name in model.params if changed.params[name] != model.params[name]} == {
        "mass:ball",
        "stiffness:hand/joint_3",
        "mu:hand/hand_root|ball",
    }
    assert changed.params["mass:ball"] == pytest.approx(0.2) and changed.params["mu:hand/hand_root|ball"] == 0.1
    with pytest.raises(deft.InputError, match="params: there is no 'mas:ball'; did you mean 'mass:ball'"):
        model.with_params({"mas:ball": 1})
    with pytest.raises(deft.InputError, match="mass:ball: -1 kg is no mass"):
        model.with_params({"mass:ball": -1})


def test_bundles_average_over_noise(hand):
    model = deft.StepModel(hand)
    q, u = hand.q(), hand.u() + 0.05
    first = deft.bundle(model, q, u, samples=400, std=0.05, seed=1)
    np.testing.assert_array_equal(deft.bundle(model, q, u, samples=400, std=[0.05] * 4, seed=1, threads=1).dq_du, first.dq_du)
    other = deft.bundle(model, q, u, samples=4000, std=0.05, seed=2, order=0)
    assert first.dq_du.shape == (7, 4) and first.dq_dq is None and first.used == 400
    error = np.hypot(first.standard_error, other.standard_error)
    assert (np.abs(first.dq_du - other.dq_du) <= 5 * error + 1e-9).all()
    with pytest.raises(ValueError, match="order: 0"):
        deft.bundle(model, q, u, order=2)


def test_models_without_derivatives_say_so(hand):
    tracking = hand.with_({"step.model": "impedance", "step.kappa": float("inf")})
    with pytest.raises(deft.InputError, match="derivative"):
        deft.StepModel(tracking).derivatives(hand.q(), hand.u())


def test_a_model_serves_one_thread_at_a_time(touching):
    model = deft.StepModel(touching)
    q, u = touching.q(), touching.u() + 0.05
    stop, said = threading.Event(), []

    def work():
        while not stop.is_set():
            try:
                model.derivatives(q, u, of=("motion", "forces"))
            except RuntimeError as error:
                said.append(str(error))
                stop.set()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    stop.wait(60)
    stop.set()
    for thread in threads:
        thread.join()
    assert said and all("another thread" in text for text in said)
    assert model.step(q, u).status == deft.Status.Solved  # handed over


def test_threads_with_models_of_their_own_agree(touching):
    q, u = touching.q(), touching.u() + 0.05
    expected, results = moved(deft.StepModel(touching), q, u), []

    def work():
        model = deft.StepModel(touching)
        results.extend(moved(model, q, u) for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 200 and all(np.array_equal(result, expected) for result in results)


def test_statuses_are_the_words_of_problem_files():
    assert [status.name for status in deft.Status] == deft._core.status_words


def test_friction_goes_by_either_order_of_its_pair(hand):
    model = deft.StepModel(hand)
    name = next(name for name in model.params if name.startswith("mu:"))
    a, b = name.removeprefix("mu:").split("|")
    other = f"mu:{b}|{a}"
    assert other in model.params and model.params[other] == model.params[name] and other not in list(model.params)
    assert model.params.column(other) == list(model.params).index(name)
    assert model.with_params({other: 0.123}).params[name] == 0.123
    assert model.params.get(other) == model.params[name] and model.params.get("mu:nothing|ball", 7) == 7
    with pytest.raises(KeyError):
        model.params["mu:nothing|ball"]
    with pytest.raises(deft.InputError, match="same pair"):
        model.with_params({name: 0.1, other: 0.2})
