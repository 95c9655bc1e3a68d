"""A planar gripper squeezes a disc, pulls down until it slips, and stops (Pang & Tedrake, ICRA 2021, V-A)."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .experiment import Laboratory, new_figure, save_figure, table, write_page

STIFFNESS, WEIGHT, FRICTION = 1000.0, 10.0, 0.5  # N/m, N, –
GAP_AT_START, CLOSING = 6e-3, 2e-3  # m, m per step
SLIP_BEGINS, SLIP_ENDS = 13, 24  # steps of 0.01 s


@dataclass
class Measured:
    """Per step, at its end."""

    t: np.ndarray  # [s]
    gap: np.ndarray  # left plate – disc [m]
    normal: np.ndarray  # c_n1, left plate on disc [N]
    friction: np.ndarray  # |c_f1 + c_f2| of both plates [N]
    ground: np.ndarray  # c_n3 [N]
    statuses: dict


def measure(lab: Laboratory) -> Measured:
    run = lab.simulate("planar_gripper")
    left, right = run.between("ball", "gripper/left", "force_W"), run.between("ball", "gripper/right", "force_W")
    return Measured(run.t[1:], run.between("gripper/left", "ball", "gap"), left[:, 0], np.abs(left[:, 1] + right[:, 1]),
                    run.between("ball", "ground", "force_W")[:, 1], run.summary["statuses"])  # fmt: skip


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


def errors(m: Measured) -> dict[str, float]:
    """Largest differences from the predictions."""
    steps = len(m.t)
    return {"φ₁ [m]": float(np.abs(m.gap - predicted_gap(steps)).max()),
            "c_n1 [N]": float(np.abs(m.normal - predicted_normal(steps)).max()),
            "c_n3 − weight − friction of both plates [N]": float(np.abs(m.ground - WEIGHT - m.friction).max()),
            "friction of both plates − 2 μ c_n1 while sliding [N]": float(np.abs(m.friction - 2 * FRICTION * m.normal)[SLIP_BEGINS:SLIP_ENDS].max())}  # fmt: skip


def draw(m: Measured) -> None:
    figure, axes = new_figure(3)
    for axis, values, label, color in ((axes[0, 0], 1e3 * m.gap, "$\\phi_1$ [mm]", "tab:blue"), (axes[0, 1], m.normal, "$c_{n_1}$ [N]", "tab:red"),
                                       (axes[0, 2], m.ground, "$c_{n_3}$ [N]", "tab:green")):  # fmt: skip
        axis.plot(m.t, values, ".-", color=color, label="deft, convex")
        axis.set(xlabel="t [s]", ylabel=label)
        for moment in (0.03, 0.08, 0.13, 0.24):
            axis.axvline(moment, color="0.7", linewidth=0.7, linestyle="--")
    axes[0, 0].plot(m.t, 1e3 * predicted_gap(len(m.t)), "+", color="0.2", label="by hand")
    axes[0, 1].plot(m.t, predicted_normal(len(m.t)), "+", color="0.2", label="by hand")
    axes[0, 0].legend()
    picture = save_figure(figure, "planar_gripper")
    write_page("planar_gripper", f"""
# A planar gripper squeezes, slips and sticks again

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-A, figures 5 and 6. Scene: `scenes/reproductions/planar_gripper.deft.yaml`. Written by
`./run reproduce`.

**Given**: disc of radius 0.1 m and 10 N, K = 1000 N/m on the three coordinates of the gripper, μ = 0.5, h = 0.01 s, plates 6 mm from
the disc; they touch it at 0.03 s, squeeze until 0.08 s, then pull down; slip begins at 0.13 s and the command ends at 0.24 s.
**Ours**: the plates' command moves down by 2 mm per step from 0.09 s to 0.24 s, and then stays.

{picture}

While the plates stick, the convex step gives the forces of Coulomb's law: c_n1 grows by 2 N per step to 10 N, and the pull adds up
until it reaches 2 μ c_n1 = 10 N at 0.13 s. While they slide, the plates must move away from the disc, the boundary layer of the convex
model: φ₁ tends to 1 mm = μ · 2 mm, and it falls to a third in every step once the command stops, because pulling and squeezing springs are
equally stiff. The ground carries the weight and the friction of both plates; how these two share the friction is not determined, and
the forces shown are those of least norm.

{table(["largest difference from the prediction by hand", "value"], [[name, value] for name, value in errors(m).items()])}

Statuses of the steps: {", ".join(f"{word} {count}" for word, count in m.statuses.items())}.
""")
