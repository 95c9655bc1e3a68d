"""A planar gripper squeezes a disc, pulls down until it slips, and stops (Pang & Tedrake, ICRA 2021, V-A): the convex step (10),
the complementarity problem (6), and perfect tracking (1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, new_figure, save_figure, table, write_page

STIFFNESS, WEIGHT, FRICTION = 1000.0, 10.0, 0.5  # N/m, N, –
GAP_AT_START, CLOSING = 6e-3, 2e-3  # m, m per step
SLIP_BEGINS, SLIP_ENDS = 13, 24  # steps of 0.01 s


# Commands of plates that touch the disc at 0.03 s without pressing, and lift by 2 mm per step.
GRAZING = """
commands:
  knots:
    - {t: 0, gripper: {y: 0.1, x_l: -0.106, x_r: 0.106}}
    - {t: 0.03, gripper: {y: 0.1, x_l: -0.1, x_r: 0.1}}
    - {t: 0.05, gripper: {y: 0.104, x_l: -0.1, x_r: 0.1}}
"""


@dataclass
class Run:
    """Per step, at its end."""

    t: np.ndarray  # [s]
    q: np.ndarray  # [T + 1, nq]
    left: np.ndarray  # x_l [m], with the start
    left_command: np.ndarray  # of x_l [m]
    gap: np.ndarray  # left plate – disc [m]
    normal: np.ndarray  # c_n1, left plate on disc [N]
    friction: np.ndarray  # |c_f1 + c_f2| of both plates [N]
    ground: np.ndarray  # c_n3 [N]
    residual: float  # the largest, scaled
    statuses: dict


@dataclass
class Measured:
    convex: Run
    lcp: Run  # impedance
    squeeze: dict  # what `deft sim` says of perfect tracking
    grazing: dict
    second_height: np.ndarray  # [T, 2]: y of the disc per step of grazing, found first and second


def run_model(lab: Laboratory, *options: str) -> Run:
    run = lab.simulate("planar_gripper", *options)
    left, right = run.between("ball", "gripper/left", "force_W"), run.between("ball", "gripper/right", "force_W")
    return Run(run.t[1:], run.data["q"], run.coordinate("gripper/x_l"), run.data["u"][:, 1], run.between("gripper/left", "ball", "gap"),
               left[:, 0], np.abs(left[:, 1] + right[:, 1]), run.between("ball", "ground", "force_W")[:, 1],
               run.summary["residual_max"], run.summary["statuses"])  # fmt: skip


def measure(lab: Laboratory) -> Measured:
    perfect = ("--model", "perfect-tracking", "--set", "step.uniqueness=check")
    commands = lab.folder / "grazing.yaml"
    commands.write_text(GRAZING)
    grazing = lab.simulate("planar_gripper", *perfect, "--with", str(commands))
    column = grazing.data["names_v"].index("ball/y")
    heights = np.stack([np.diff(grazing.coordinate("ball/y")), grazing.data["steps/second_delta"][:, column]], axis=1)
    return Measured(run_model(lab), run_model(lab, "--model", "impedance", "--set", "step.uniqueness=check"),
                    lab.simulate("planar_gripper", *perfect).summary, grazing.summary, heights)  # fmt: skip


def predicted_gap(steps: int) -> np.ndarray:
    """φ₁ after each step, by hand. While both plates slide, each step moves them down by the commanded 2 mm less a third of what
    is missing, so that φ₁ = 1 mm (1 − 3⁻ᵏ); when the command stops, φ₁ falls to a third in every step."""
    gap = np.maximum(GAP_AT_START - CLOSING * np.arange(1, steps + 1), 0)
    for k in range(SLIP_BEGINS, steps):
        sliding = k + 1 <= SLIP_ENDS
        gap[k] = 1e-3 * (1 - 3.0 ** -(k + 1 - SLIP_BEGINS)) if sliding else gap[SLIP_ENDS - 1] * 3.0 ** -(k + 1 - SLIP_ENDS)
    return gap


def predicted_normal(steps: int) -> np.ndarray:
    """c_n1 [N]: 2 N per step from 0.03 s on, 10 N while it sticks, 10 N + K φ₁ when it slides."""
    touching = np.arange(1, steps + 1) - 3
    return np.where(touching > 0, np.minimum(STIFFNESS * CLOSING * touching, 10) + STIFFNESS * predicted_gap(steps), 0)


def errors(m: Run) -> dict[str, float]:
    """Largest differences of the convex step from the predictions."""
    steps = len(m.t)
    return {"φ₁ [m]": float(np.abs(m.gap - predicted_gap(steps)).max()),
            "c_n1 [N]": float(np.abs(m.normal - predicted_normal(steps)).max()),
            "c_n3 − weight − friction of both plates [N]": float(np.abs(m.ground - WEIGHT - m.friction).max()),
            "friction of both plates − 2 μ c_n1 while sliding [N]": float(np.abs(m.friction - 2 * FRICTION * m.normal)[SLIP_BEGINS:SLIP_ENDS].max())}  # fmt: skip


def lcp_errors(m: Run) -> dict[str, float]:
    """The same of the complementarity problem: the plates stay on the disc, c_n1 stays 10 N, and friction what it was when slip began."""
    steps = len(m.t)
    touching = np.arange(1, steps + 1) - 3
    normal = np.clip(STIFFNESS * CLOSING * touching, 0, 10)
    return {"φ₁ [m]": float(np.abs(m.gap - np.maximum(GAP_AT_START - CLOSING * np.arange(1, steps + 1), 0)).max()),
            "c_n1 [N]": float(np.abs(m.normal - normal).max()),
            "c_n3 − weight − friction of both plates [N]": float(np.abs(m.ground - WEIGHT - m.friction).max()),
            "friction of both plates − 2 μ c_n1 while sliding [N]": float(np.abs(m.friction - 2 * FRICTION * m.normal)[SLIP_BEGINS:SLIP_ENDS].max())}  # fmt: skip


def sticking_difference(m: Measured) -> float:
    """Largest difference of the motions while nothing slides [m]."""
    return float(np.abs(m.convex.q - m.lcp.q)[: SLIP_BEGINS + 1].max())


def draw(m: Measured) -> None:
    figure, axes = new_figure(3, 2)
    t, convex, lcp = m.convex.t, m.convex, m.lcp
    for axis, name, scale, label in ((axes[0, 0], "gap", 1e3, "$\\phi_1$ [mm]"), (axes[0, 1], "normal", 1, "$c_{n_1}$ [N]"),
                                     (axes[0, 2], "ground", 1, "$c_{n_3}$ [N]"), (axes[1, 0], "friction", 1, "$|c_{f_1} + c_{f_2}|$ [N]")):  # fmt: skip
        axis.plot(t, scale * getattr(convex, name), ".-", color="tab:red", label="QP (10)")
        axis.plot(t, scale * getattr(lcp, name), ".-", color="tab:blue", label="LCP (6)")
        axis.set(xlabel="t [s]", ylabel=label)
    axes[0, 0].plot(t, 1e3 * predicted_gap(len(t)), "+", color="0.2", label="QP by hand")
    axes[0, 1].plot(t, predicted_normal(len(t)), "+", color="0.2", label="QP by hand")
    axes[1, 1].plot(t, 1e3 * convex.left_command, "k:", label="command")
    axes[1, 1].plot(t, 1e3 * convex.left[1:], ".-", color="tab:red", label="QP (10)")
    axes[1, 1].plot(t, 1e3 * lcp.left[1:], ".-", color="tab:blue", label="LCP (6)")
    axes[1, 1].set(xlabel="t [s]", ylabel="$x_l$ [mm]")
    axes[1, 2].semilogy(t, np.maximum(np.abs(convex.q - lcp.q).max(axis=1)[1:], 1e-18), ".-", color="tab:purple")
    axes[1, 2].set(xlabel="t [s]", ylabel="largest |q of QP − q of LCP| [m]")
    for axis in axes.flat:
        for moment in (0.03, 0.08, 0.13, 0.24):
            axis.axvline(moment, color="0.7", linewidth=0.7, linestyle="--")
    for axis in (*axes[0, :2], *axes[1, :2]):
        axis.legend()
    picture = save_figure(figure, "planar_gripper")
    rows = [[name, value, lcp_errors(lcp)[name]] for name, value in errors(convex).items()]
    found, other = next((1e3 * a, 1e3 * b) for a, b in m.second_height if np.isfinite(b))
    write_page(
        "planar_gripper",
        f"""
# A planar gripper squeezes, slips and sticks again

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-A, figures 5 and 6. Scene: `scenes/reproductions/planar_gripper.deft.yaml`, with
`--model impedance` and `--model perfect-tracking` too. Written by `./run reproduce`.

**Given**: disc of radius 0.1 m and 10 N, K = 1000 N/m on the three coordinates of the gripper, μ = 0.5, h = 0.01 s, plates 6 mm from
the disc; they touch it at 0.03 s, squeeze until 0.08 s, then pull down; slip begins at 0.13 s and the command ends at 0.24 s.
**Ours**: the plates' command moves down by 2 mm per step from 0.09 s to 0.24 s, and then stays.

{picture}

**While the plates stick**, the convex step (QP, the source's equation 10) and the complementarity problem (LCP, equation 6) are the same
motion: c_n1 grows by 2 N per step to 10 N, and the pull adds up until it reaches 2 μ c_n1 = 10 N at 0.13 s. The largest difference
of any coordinate until then is {sticking_difference(m):.1e} m.

**While they slide** they differ. In the LCP the plates stay on the disc, φ₁ = 0 and c_n1 = 10 N, friction is 10 N and the ground carries
20 N; when the command stops they stick at once, at 0.24 s. In the QP the plates must move away from the disc, the boundary layer of the convex
model: φ₁ tends to 1 mm = μ · 2 mm, pressing harder by K φ₁, and it falls to a third in every step once the command stops, because pulling and
squeezing springs are equally stiff. The ground carries the weight and the friction of both plates; how these two share the friction is not determined,
and the forces shown are those of least norm, for both models.

{table(["largest difference from the prediction by hand", "QP", "LCP"], rows)}

Statuses of the steps: QP {", ".join(f"{word} {count}" for word, count in convex.statuses.items())};
LCP {", ".join(f"{word} {count}" for word, count in lcp.statuses.items())}, with a search for an alternative motion in each.

**Perfect tracking** (equation 1), plates that are where they are commanded to be, is ill-posed. The same squeeze ends after
{m.squeeze["steps"] - 1} steps with `{m.squeeze["status"]}`, a proof that no motion satisfies all constraints ({m.squeeze.get("reason")}).
Plates that touch the disc without pressing and lift by 2 mm per step may take it along or not, since any normal force will do:
{m.grazing["statuses"].get("NotUnique", 0)} of {m.grazing["steps"]} steps are `NotUnique`; in the first of them the disc may rise by {found:.3g} mm or by {other:.3g} mm.
""",
    )
