"""deft linearize: keys, shapes, and derivatives that agree with differences of the program's own steps."""

import numpy as np
import pytest

KEYS = [
    "names_q",
    "names_v",
    "names_u",
    "q",
    "u",
    "q_next",
    "A",
    "B",
    "dforce_dq",
    "dforce_du",
    "dforce_W_dq",
    "dforce_W_du",
    "contacts",
    "kink",
    "kinks",
    "status",
]
STEP = 1e-4


def linearize(deft, scene, hand=(-0.14, 0.01, 0.1), target=(-0.1, 0.02, 0.1), code=0, kappa=100, more=()):
    settings = [f"configurations.start.hand={list(hand)}", f"commands.knots=[{{t: 0, hand: {list(target)}}}]", *more]
    arguments = [part for setting in settings for part in ("--set", setting)]
    return deft.json("linearize", scene, "--kappa", kappa, *arguments, code=code)


def test_keys_and_shapes_are_those_of_its_page(deft, pushed_ball):
    result = linearize(deft, pushed_ball)
    assert list(result) == KEYS
    nv, nu, contacts = 9, 3, len(result["contacts"])
    assert (result["status"], result["kink"], result["kinks"]) == ("Solved", False, [])
    assert len(result["names_v"]) == nv and result["names_u"] == ["hand/x", "hand/y", "hand/z"]
    assert np.shape(result["A"]) == (nv, nv) and np.shape(result["B"]) == (nv, nu)
    assert contacts >= 2 and np.shape(result["dforce_dq"]) == (contacts, 3, nv) and np.shape(result["dforce_W_du"]) == (contacts, 3, nu)
    for contact in result["contacts"]:
        frame = np.array([contact["normal"], *contact["tangents"]])
        assert np.allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.allclose(frame.T @ contact["force"], contact["force_W"], atol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_derivatives_agree_with_differences(deft, pushed_ball, axis):
    result = linearize(deft, pushed_ball)
    shift = STEP * np.eye(3)[axis]
    hand, target = np.array([-0.14, 0.01, 0.1]), np.array([-0.1, 0.02, 0.1])

    def outcome(at, to):
        moved = linearize(deft, pushed_ball, at.tolist(), to.tolist())
        q = dict(zip(moved["names_q"], moved["q_next"]))
        return np.array([q[name] for name in ("ball/x", "ball/y", "ball/z", "hand/x", "hand/y", "hand/z")]), np.array(
            [c["force"] for c in moved["contacts"]]
        )

    rows = [result["names_v"].index(name) for name in ("ball/vx", "ball/vy", "ball/vz", "hand/x", "hand/y", "hand/z")]
    (q_plus, f_plus), (q_minus, f_minus) = outcome(hand, target + shift), outcome(hand, target - shift)
    assert np.allclose(np.array(result["B"])[rows, axis], (q_plus - q_minus) / (2 * STEP), atol=1e-4)
    assert np.allclose(np.array(result["dforce_du"])[:, :, axis], (f_plus - f_minus) / (2 * STEP), rtol=1e-3, atol=1e-2)
    column = result["names_v"].index(f"hand/{'xyz'[axis]}")
    (q_plus, f_plus), (q_minus, f_minus) = outcome(hand + shift, target), outcome(hand - shift, target)
    assert np.allclose(np.array(result["A"])[rows, column], (q_plus - q_minus) / (2 * STEP), atol=1e-4)
    assert np.allclose(np.array(result["dforce_dq"])[:, :, column], (f_plus - f_minus) / (2 * STEP), rtol=1e-3, atol=1e-2)


def test_a_finger_that_comes_to_rest_at_the_ball_is_a_kink(deft, pushed_ball):
    result = linearize(deft, pushed_ball, (-0.17, 0, 0.1), (-0.15, 0, 0.1), kappa="inf")
    assert result["kink"] and "complementarity" in result["kinks"][0] and min(contact["gap"] for contact in result["contacts"][1:]) > 0.01


def test_the_gradient_of_a_kink_is_that_of_a_step_smoothed_as_asked(deft, pushed_ball):
    smoothed = linearize(deft, pushed_ball, (-0.17, 0, 0.1), (-0.15, 0, 0.1), kappa=100)
    for joule, same in ((1e-2, True), (1e-4, False)):
        kink = deft.json("linearize", pushed_ball, "--mu-gradient", joule, "--set", "configurations.start.hand=[-0.17, 0, 0.1]",
                         "--set", "commands.knots=[{t: 0, hand: [-0.15, 0, 0.1]}]")  # fmt: skip
        assert f"gradient at mu_gradient = {joule:.3g} J" in kink["kinks"][0]
        assert np.allclose(kink["B"][3:], smoothed["B"][3:], atol=1e-6) is same  # turns of the ball are taken where it ends, which differs


def test_a_step_that_fails_has_no_derivative(deft, falling_ball):
    result = deft.json("linearize", falling_ball, "--set", "step.dynamics=quasistatic", code=1)
    assert result["status"] == "Unbounded" and result["A"] is None and result["contacts"] is None


def test_the_model_of_second_order_adds_the_velocity(deft, pushed_ball):
    result = linearize(deft, pushed_ball, more=["step.model=convex-second-order", "step.h=0.01"])
    assert list(result) == [*KEYS, "v", "v_next", "A_v", "dv_dq", "dv_dv", "dv_du", "dforce_dv"]
    assert np.shape(result["A_v"]) == (9, 9) and np.shape(result["dv_du"]) == (9, 3)
    hand = [result["names_v"].index(f"hand/{axis}") for axis in "xyz"]  # q⁺ = q + h v⁺ on slides
    assert np.allclose(np.array(result["A_v"])[hand], 0.01 * np.array(result["dv_dv"])[hand], atol=1e-12)


def bundle(deft, scene, order, *more, code=0, hand=(-0.14, 0.01, 0.1)):
    settings = ["--set", f"configurations.start.hand={list(hand)}", "--set", "commands.knots=[{t: 0, hand: [-0.1, 0.02, 0.1]}]"]
    return deft.json("linearize", scene, *settings, "--bundle", order, "--sigma", 0.02, *more, code=code)


@pytest.mark.parametrize("order", ["first-order", "zero-order"])
def test_a_bundle_has_its_keys_and_does_not_depend_on_threads(deft, pushed_ball, order):
    results = [bundle(deft, pushed_ball, order, "--samples", 200, "--seed", 3, "--threads", threads) for threads in (1, 2, 7)]
    assert list(results[0]) == [*KEYS, "bundle"] and results[0] == results[1] == results[2]
    result = results[0]["bundle"]
    assert list(result) == ["order", "sigma", "samples", "used", "invalid", "seed", "B", "B_standard_error"]
    assert (result["order"], result["sigma"], result["samples"], result["used"], result["invalid"], result["seed"]) == (
        order,
        0.02,
        200,
        200,
        {},
        3,
    )
    assert np.shape(result["B"]) == np.shape(result["B_standard_error"]) == (9, 3)
    assert bundle(deft, pushed_ball, order, "--samples", 200, "--seed", 4)["bundle"]["B"] != result["B"]


def test_both_orders_of_a_bundle_agree(deft, pushed_ball):
    first, zero = (bundle(deft, pushed_ball, order, "--samples", 4000)["bundle"] for order in ("first-order", "zero-order"))
    error = np.hypot(first["B_standard_error"], zero["B_standard_error"])
    assert np.all(np.abs(np.subtract(first["B"], zero["B"])) <= 5 * error + 1e-9)
    assert 0 < np.max(error) < 0.05 * np.max(np.abs(first["B"]))


def test_a_bundle_of_too_few_samples_has_no_gradient(deft, pushed_ball):
    result = bundle(deft, pushed_ball, "zero-order", "--samples", 4, code=1)["bundle"]
    assert result["used"] == 4 and result["B"] is None and result["B_standard_error"] is None


def test_options_of_a_bundle_come_together(deft, pushed_ball):
    assert "--sigma" in deft.run("linearize", pushed_ball, "--bundle", "zero-order", code=2).stderr
    assert "--bundle" in deft.run("linearize", pushed_ball, "--samples", 5, code=2).stderr
    deft.run("linearize", pushed_ball, "--bundle", "second-order", "--sigma", 1, code=2)
    deft.run("linearize", pushed_ball, "--bundle", "zero-order", "--sigma", 0, code=2)


def test_people_get_tables(deft, pushed_ball):
    text = deft.run("linearize", pushed_ball, "--kappa", 100).stdout
    assert "A = " in text and "hand/x" in text and "contacts" in text
