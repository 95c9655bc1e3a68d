"""A planar gripper squeezes a disc, pulls down until it slips, and stops (Pang & Tedrake, ICRA 2021, V-A): the convex step (10),
the complementarity problem (6), and perfect tracking (1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, claim, new_figure, picture, save_figure, table

STIFFNESS, WEIGHT, FRICTION = 1000.0, 10.0, 0.5  # N/m, N, –
GAP_AT_START, CLOSING = 6e-3, 2e-3  # m, m per step
STEP = 0.01  # s
PRESSED = 10.0  # N, by each plate before it slides
SLIP_BEGINS, SLIP_ENDS = 13, 24  # steps of 0.01 s
MOMENTS = (0.03, 0.08, 0.13, 0.24)  # s: plates touch, have squeezed, slip, stop


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
        for moment in MOMENTS:
            axis.axvline(moment, color="0.7", linewidth=0.7, linestyle="--")
    for axis in (*axes[0, :2], *axes[1, :2]):
        axis.legend()
    save_figure(figure, "planar_gripper")


def slip_moment(run: Run) -> float | None:
    """End of the first step in which friction is 2 μ c_n1 [s]; None if there is none."""
    reached = (run.normal > 0.1 * PRESSED) & (run.friction > 2 * FRICTION * run.normal - 1e-6)
    return float(run.t[reached][0]) if reached.any() else None


def facts(m: Measured) -> dict:
    """Differences from the predictions, when and how the plates slide, and what is said of perfect tracking."""
    gap, lcp, sliding = m.convex.gap, m.lcp, slice(SLIP_BEGINS, SLIP_ENDS)
    moved = np.abs(np.diff(lcp.q[:, 0]))  # by the plates, along the disc, per step
    falling = gap[SLIP_ENDS : SLIP_ENDS + 8] / gap[SLIP_ENDS - 1 : SLIP_ENDS + 7]  # of the QP, per step, once the command stops
    found, other = next(((1e3 * a, 1e3 * b) for a, b in m.second_height if np.isfinite(b)), (None, None))
    return {
        "errors": [[name, value, lcp_errors(lcp)[name]] for name, value in errors(m.convex).items()],
        "sticking_difference_m": sticking_difference(m),
        "sliding_difference_m": np.abs(m.convex.q - lcp.q)[SLIP_BEGINS + 1 : SLIP_ENDS + 1].max(),
        "slip_s": [slip_moment(run) for run in (m.convex, lcp)],
        "lcp_sliding": {  # largest differences
            "gap_m": np.abs(lcp.gap[sliding]).max(),
            "normal_N": np.abs(lcp.normal[sliding] - PRESSED).max(),
            "friction_N": np.abs(lcp.friction[sliding] - 2 * FRICTION * PRESSED).max(),
            "ground_N": np.abs(lcp.ground[sliding] - WEIGHT - 2 * FRICTION * PRESSED).max(),
        },
        "lcp_moved_m": [moved[sliding].min(), moved[SLIP_ENDS:].max()],  # least while sliding, most after it
        "gap_mm": 1e3 * gap[SLIP_ENDS - 1],  # of the QP, when the command stops
        "falling": [falling.min(), falling.max()],
        "statuses": {"qp": m.convex.statuses, "lcp": lcp.statuses},
        "squeeze": {"steps": m.squeeze["steps"], "status": m.squeeze["status"], "reason": m.squeeze.get("reason")},
        "grazing": {"not_unique": m.grazing["statuses"].get("NotUnique", 0), "steps": m.grazing["steps"], "rises_mm": [found, other]},
    }  # fmt: skip


def text(facts: dict) -> str:
    touch, pressed, slip, stop = MOMENTS
    step_mm = 1e3 * CLOSING
    gap_errors, *force_errors = (row[1:] for row in facts["errors"])
    gaps, forces = max(gap_errors) < 1e-8, max(map(max, force_errors)) < 1e-5  # as predicted by hand
    sliding, (before, after) = facts["lcp_sliding"], facts["lcp_moved_m"]
    layer_mm, slips = 1e3 * FRICTION * CLOSING, [moment is not None and abs(moment - slip) < 1e-9 for moment in facts["slip_s"]]
    qp, lcp = (", ".join(f"{word} {count}" for word, count in facts["statuses"][model].items()) for model in ("qp", "lcp"))
    squeeze, grazing, (found, other) = facts["squeeze"], facts["grazing"], facts["grazing"]["rises_mm"]
    infeasible, many = squeeze["status"] == "Infeasible", grazing["not_unique"] > 0
    return f"""
# A planar gripper squeezes, slips and sticks again

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-A, figures 5 and 6. Scene: `scenes/reproductions/planar_gripper.deft.yaml`, with
`--model impedance` and `--model perfect-tracking` too. Written by `./run reproduce`.

**Given**: disc of radius 0.1 m and {WEIGHT:g} N, K = {STIFFNESS:g} N/m on the three coordinates of the gripper, μ = {FRICTION:g}, h = {STEP:g} s,
plates {1e3 * GAP_AT_START:g} mm from the disc; they touch it at {touch:g} s, squeeze until {pressed:g} s, then pull down;
slip begins at {slip:g} s and the command ends at {stop:g} s.
**Ours**: the plates' command moves down by {step_mm:g} mm per step from {pressed + STEP:g} s to {stop:g} s, and then stays.

{picture("planar_gripper")}

**While the plates stick**, the convex step (QP, the source's equation 10) and the complementarity problem (LCP, equation 6)
{claim("are the same motion", facts["sticking_difference_m"] < 1e-10)}:
c_n1 {claim(f"grows by {STIFFNESS * CLOSING:g} N per step to {PRESSED:g} N", forces)}, and the pull
{claim(f"adds up until it reaches 2 μ c_n1 = {2 * FRICTION * PRESSED:g} N at {slip:g} s", all(slips))}. The largest difference
of any coordinate until then is {facts["sticking_difference_m"]:.1e} m.

**While they slide** they {claim("differ", facts["sliding_difference_m"] > 1e-4)}. In the LCP
{claim("the plates stay on the disc, φ₁ = 0", sliding["gap_m"] < 1e-9)} and {claim(f"c_n1 = {PRESSED:g} N", sliding["normal_N"] < 1e-6)},
{claim(f"friction is {2 * FRICTION * PRESSED:g} N", sliding["friction_N"] < 1e-6)} and
{claim(f"the ground carries {WEIGHT + 2 * FRICTION * PRESSED:g} N", sliding["ground_N"] < 1e-6)}; when the command stops
{claim("they stick at once", after < 1e-9 < 0.9 * CLOSING < before)}, at {stop:g} s.
In the QP the plates must move away from the disc, the boundary layer of the convex model: φ₁
{claim(f"tends to {layer_mm:g} mm", gaps and abs(facts["gap_mm"] - layer_mm) < 1e-4)} = μ · {step_mm:g} mm, {claim("pressing harder by K φ₁", gaps and forces)},
and it {claim("falls to a third in every step", max(abs(share - 1 / 3) for share in facts["falling"]) < 1e-3)} once the command stops,
because pulling and squeezing springs are equally stiff.
{claim("The ground carries the weight and the friction of both plates", forces)}; how these two share the friction is not determined,
and the forces shown are those of least norm, for both models.

{table(["largest difference from the prediction by hand", "QP", "LCP"], facts["errors"])}

Statuses of the steps: QP {qp};
LCP {lcp}, with a search for an alternative motion in each.

**Perfect tracking** (equation 1), plates that are where they are commanded to be, {claim("is ill-posed", infeasible and many)}. The same squeeze ends after
{squeeze["steps"] - 1} steps with `{squeeze["status"]}`, {claim("a proof that no motion satisfies all constraints", infeasible)} ({squeeze["reason"]}).
Plates that touch the disc without pressing and lift by {step_mm:g} mm per step
{claim("may take it along or not", many and abs(found - other) > 0.1)}, since any normal force will do:
{grazing["not_unique"]} of {grazing["steps"]} steps are `NotUnique`; in the first of them the disc may rise by {found:.3g} mm or by {other:.3g} mm.
"""
