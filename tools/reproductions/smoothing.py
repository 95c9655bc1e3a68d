"""The knob κ: force at a distance, the smoothed maximum, and which noise a barrier stands for (Pang 2022; Suh, Pang, Tedrake 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from math import erf, exp, pi, sqrt

import numpy as np

from .experiment import Laboratory, claim, new_figure, picture, plain_ticks, save_figure, table

KAPPAS = (1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8)
SIGMAS = (0.05, 0.1, 0.2, 0.4)  # of the noise on the command [m]
COMMANDS = np.linspace(-4.0, 4.0, 21)  # where gradients are taken, in units of σ, or of 1/√κ
SAMPLES = 2000


@dataclass
class Measured:
    u: np.ndarray  # commands of the sweep [m]
    exact: np.ndarray  # place of the robot, exact
    smoothed: dict[float, np.ndarray]  # by κ
    product: dict[float, np.ndarray]  # κ · f · gap per step, 1 by theory
    gradient: dict[float, np.ndarray]  # B of the step smoothed at κ, at COMMANDS/√κ
    bundled: dict[tuple[str, float], tuple[np.ndarray, np.ndarray]]  # (order, σ) → B̂ and its standard error, at σ COMMANDS
    fitted: dict[float, float]  # σ → κ whose gradients are nearest to the bundled ones of first order


def smooth_maximum(u: np.ndarray, kappa: float) -> np.ndarray:
    """argmin ½(δ − u)² − log(δ)/κ, at unit stiffness [m]."""
    return (u + np.sqrt(u * u + 4 / kappa)) / 2


def barrier_gradient(u: np.ndarray, kappa: float) -> np.ndarray:
    """Its derivative by u."""
    return (1 + u / np.sqrt(u * u + 4 / kappa)) / 2


def gaussian_gradient(u: np.ndarray, sigma: float) -> np.ndarray:
    """d/du of the mean of max(u + w, 0), w ~ N(0, σ²): the normal distribution function."""
    return np.array([(1 + erf(x / sigma / sqrt(2))) / 2 for x in np.atleast_1d(u)])


def at_command(u: float) -> tuple[str, str]:
    return "--set", f"commands.knots=[{{t: 0, robot: {{s: {float(u)!r}}}}}]"


def nearest_kappa(u: np.ndarray, gradient: np.ndarray) -> float:
    """κ of the barrier whose gradients at u are nearest in least squares: golden section in log κ."""

    def misfit(log_kappa: float) -> float:
        return float(np.sum((barrier_gradient(u, exp(log_kappa)) - gradient) ** 2))

    low, high, ratio = np.log(1e-2), np.log(1e6), (sqrt(5) - 1) / 2
    for _ in range(80):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if misfit(a) < misfit(b) else (a, high)
    return exp((low + high) / 2)


def measure(lab: Laboratory) -> Measured:
    exact = lab.simulate("robot_wall")
    u = exact.data["u"][:, 0]
    smoothed, product = {}, {}
    for kappa in KAPPAS:
        run = lab.simulate("robot_wall", "--kappa", repr(kappa))
        smoothed[kappa] = run.coordinate("robot/s")[1:]
        product[kappa] = kappa * np.abs(run.between("robot", "wall", "force_W")[:, 0]) * run.between("robot", "wall", "gap")
    gradient = {kappa: np.array([lab.linearize("robot_wall", "--kappa", repr(kappa), *at_command(x / sqrt(kappa)))["B"][0][0] for x in COMMANDS])
                for kappa in (10.0, 100.0, 1000.0)}  # fmt: skip
    bundled = {}
    for order in ("first-order", "zero-order"):
        for k, sigma in enumerate(SIGMAS):
            found = [lab.linearize("robot_wall", *at_command(sigma * x), "--bundle", order, "--sigma", str(sigma), "--samples", str(SAMPLES), "--seed", str(100 * k + i))["bundle"]
                     for i, x in enumerate(COMMANDS)]  # fmt: skip
            bundled[order, sigma] = (np.array([b["B"][0][0] for b in found]), np.array([b["B_standard_error"][0][0] for b in found]))
    fitted = {sigma: nearest_kappa(sigma * COMMANDS, bundled["first-order", sigma][0]) for sigma in SIGMAS}
    return Measured(u, exact.coordinate("robot/s")[1:], smoothed, product, gradient, bundled, fitted)


def gradient_error(m: Measured) -> float:
    """Largest difference of the smoothed steps' B from the closed form."""
    return max(float(np.abs(B - barrier_gradient(COMMANDS / sqrt(kappa), kappa)).max()) for kappa, B in m.gradient.items())


def draw(m: Measured) -> None:
    figure, axes = new_figure(2, 2)
    axis = axes[0, 0]
    axis.plot(m.u, m.exact, "k", label="exact")
    for kappa in (10.0, 100.0, 1000.0):
        axis.plot(m.u, m.smoothed[kappa], label=f"κ = {kappa:g} / J")
    axis.set(xlabel="command u [m]", ylabel="place of the robot [m]")
    axis.legend()
    axis = axes[0, 1]
    for sigma, color in zip(SIGMAS, ("tab:blue", "tab:orange", "tab:green", "tab:red")):
        axis.errorbar(
            sigma * COMMANDS,
            m.bundled["first-order", sigma][0],
            2 * m.bundled["first-order", sigma][1],
            fmt=".",
            color=color,
            label=f"bundled, σ = {sigma:g} m",
        )
        fine = sigma * np.linspace(-4, 4, 201)
        axis.plot(fine, barrier_gradient(fine, m.fitted[sigma]), color=color)
    axis.set(xlabel="command u [m]", ylabel="∂q⁺/∂u", title="points: noise; lines: nearest barrier")
    axis.legend()
    axis = axes[1, 0]
    sigmas = np.array(SIGMAS)
    axis.loglog(sigmas, [m.fitted[s] for s in SIGMAS], "o", label="fitted")
    axis.loglog(sigmas, 8 / (pi * sigmas**2), ":", label="same slope at u = 0: 8/(πσ²)")
    axis.loglog(sigmas, 2 * pi / sigmas**2, "--", label="same value at u = 0: 2π/σ²")
    axis.set(xlabel="σ [m]", ylabel="κ [1/J]")
    plain_ticks(axis.xaxis, sigmas)
    axis.legend()
    axis = axes[1, 1]
    for order, marker in (("first-order", "o-"), ("zero-order", "s-")):
        axis.plot(sigmas, [float(np.sqrt(np.mean(m.bundled[order, s][1] ** 2))) for s in SIGMAS], marker, label=order)
    axis.set(xscale="log", xlabel="σ [m]", ylabel=f"standard error of B̂, {SAMPLES} samples", yscale="log")
    plain_ticks(axis.xaxis, sigmas)
    axis.legend()
    save_figure(figure, "smoothing")


def facts(m: Measured) -> dict:
    """Differences of the steps and their gradients from the closed forms, the rows of both tables, and how much more zero order scatters."""
    rows = [
        [f"{kappa:g}", np.abs(m.product[kappa] - 1).max(), np.abs(m.smoothed[kappa] - smooth_maximum(m.u, kappa)).max()] for kappa in KAPPAS
    ]
    normal = {s: gaussian_gradient(s * COMMANDS, s) for s in SIGMAS}
    fits = [[s, m.fitted[s], m.fitted[s] * s * s, np.abs(barrier_gradient(s * COMMANDS, m.fitted[s]) - normal[s]).max(),
             np.abs(m.bundled["first-order", s][0] - normal[s]).max(), m.bundled["first-order", s][1].max()] for s in SIGMAS]  # fmt: skip
    variance = {(order, s): np.mean(error**2) for (order, s), (_, error) in m.bundled.items()}
    return {
        "exact_error_m": np.abs(m.exact - np.maximum(m.u, 0)).max(),
        "products": rows,
        "fits": fits,
        "gradient_error": gradient_error(m),
        "samples": [variance["zero-order", s] / variance["first-order", s] for s in SIGMAS],  # of zero order for those of first, by σ
    }  # fmt: skip


def text(facts: dict) -> str:
    of_product, of_place = ([row[k] for row in facts["products"]] for k in (1, 2))
    head = ["σ [m]", "nearest κ [1/J]", "κσ² [m²/J]", "barrier − normal distribution, largest", "bundled − normal distribution, largest",
            "its standard error, largest"]  # fmt: skip
    scaled, samples = [row[2] for row in facts["fits"]], facts["samples"]
    return f"""
# One knob for smooth contact, and the noise that it stands for

Sources: T. Pang, *Planning and control for contact-rich manipulation*, 2022; H. J. T. Suh, T. Pang, R. Tedrake, *Bundled gradients
through contact via randomized smoothing*, RA-L 2022. Scene: `scenes/reproductions/robot_wall.deft.yaml`, a robot on a spring
of 1 N/m before a wall. Written by `./run reproduce`. **Ours**: the scene, all numbers.

{picture("smoothing")}

**The knob.** The exact step {claim("puts the robot at max(u, 0)", facts["exact_error_m"] < 1e-12)}; with the log barrier of weight 1/κ it
{claim("comes to ½(u + √(u² + 4/κ))", max(of_place) < 1e-12)}, and
{claim("pushes on the wall from a distance with f · φ⁺ = 1/κ", max(of_product) < 1e-6)} (the gap is recomputed from the places,
{claim("which costs digits where it is small", of_product[-1] > of_product[0])}):

{table(["κ [1/J]", "largest relative error of κ f φ⁺ = 1", "largest difference from ½(u + √(u² + 4/κ)) [m]"], facts["products"])}

**The noise.** Averaging the exact gradient over noise w on the command smooths it as well: the mean of 1[u + w > 0] is the
distribution function of −w. So every barrier is the exact step under some noise: d/du ½(u + √(u² + 4/κ)) is the distribution function of
√(2/κ) times Student's t with two degrees of freedom. Noise of that distribution is the barrier; normal noise has lighter tails, and
the nearest barrier {claim("has κσ² between 8/π (same slope at u = 0) and 2π (same value there)", 8 / pi < min(scaled) <= max(scaled) < 2 * pi)}:

{table(head, facts["fits"])}

The gradient of the smoothed step itself, from one factorisation,
{claim("agrees with ½(1 + u/√(u² + 4/κ))", facts["gradient_error"] < 1e-9)} to {facts["gradient_error"]:.1g}.
Gradients of zero order, which see values only,
{claim("need somewhat more samples", 1 < min(samples) <= max(samples) < 2)} for the same standard error (last figure):
{min(samples):.3g} to {max(samples):.3g} times as many.
Bundled gradients: `deft linearize SCENE --bundle first-order --sigma 0.1`.
"""
