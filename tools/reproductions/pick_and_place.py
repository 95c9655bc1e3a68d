"""Ten cubes, a seven-joint arm: step length against accuracy and time (Pang & Tedrake, ICRA 2021, V-B)."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scene_runs import angle_between

from .experiment import ROOT, Laboratory, new_figure, plain_ticks, save_figure, table, write_page

SCENE = ROOT / "scenes" / "pick_and_place" / "scene.deft.yaml"
STEP_LENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
PUBLISHED_SOLVE_MS = 3.56  # mean, a commercial solver on an Intel i7-8700B


@dataclass
class Run:
    """One step length: the red cube over time, and what a step cost."""

    h: float
    t: np.ndarray
    position: np.ndarray  # [T+1, 3]
    quaternion: np.ndarray  # [T+1, 4]
    solve_us: np.ndarray  # [T]
    contacts: np.ndarray  # [T]
    statuses: dict
    residual: float
    position_error: float = 0.0  # largest distance from the finest run [m]
    angle_error: float = 0.0  # [rad]
    integral_error: float = 0.0  # ∫‖p − p_finest‖ dt [m s]


def apart(fine: Run, coarse: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times at which steps of both runs end, and how far apart the cube then is: [s], [m], [rad]."""
    at = np.searchsorted(fine.t, coarse.t - 1e-9)
    both = at < len(fine.t)
    metres = np.linalg.norm(fine.position[at[both]] - coarse.position[both], axis=1)
    return coarse.t[both], metres, np.array([angle_between(p, q) for p, q in zip(fine.quaternion[at[both]], coarse.quaternion[both])])


def measure(lab: Laboratory, step_lengths: tuple[float, ...] = STEP_LENGTHS) -> list[Run]:
    """The step lengths, shortest first; errors against the first."""
    runs = []
    for h in step_lengths:
        run = lab.simulate(SCENE, "--h", str(h))
        runs.append(Run(h, run.t, run.position("red"), run.quaternion("red"), run.data["steps/solve_us"], run.contacts_per_step(), run.summary["statuses"],
                        run.summary["residual_max"]))  # fmt: skip
    finest = runs[0]
    for run in runs:
        t, metres, radians = apart(finest, run)
        run.position_error, run.angle_error = float(metres.max()), float(radians.max())
        run.integral_error = float(np.sum((metres[1:] + metres[:-1]) / 2 * np.diff(t)))
    return runs


def overlap(runs: list[Run], fine: float = 0.1, coarse: float = 0.4) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] between the red cube of two step lengths, at the ends of the coarse steps."""
    a, b = (next(run for run in runs if run.h == h) for h in (fine, coarse))
    _, metres, radians = apart(a, b)
    return float(metres.max()), float(radians.max())


def draw(runs: list[Run]) -> None:
    figure, axes = new_figure(3)
    for run in runs:
        if run.h in (0.01, 0.1, 0.4):
            axes[0, 0].plot(run.t, run.position[:, 2], ".-" if run.h == 0.4 else "-", label=f"h = {run.h:g} s")
    axes[0, 0].set(xlabel="t [s]", ylabel="height of the red cube [m]")
    axes[0, 0].legend()
    h = [run.h for run in runs]
    axes[0, 1].plot(h, [run.solve_us.mean() for run in runs], "o-", label="mean")
    axes[0, 1].plot(h, [np.percentile(run.solve_us, 95) for run in runs], "s-", label="95 %")
    axes[0, 1].axhline(1e3 * PUBLISHED_SOLVE_MS, color="0.4", linestyle="--", label="published, mean")
    axes[0, 1].set(xscale="log", yscale="log", xlabel="h [s]", ylabel="solve of a step [µs]")
    axes[0, 1].legend()
    axes[0, 2].plot(h[1:], [run.integral_error for run in runs[1:]], "o-")
    axes[0, 2].set(xscale="log", xlabel="h [s]", ylabel="∫ |p − p(h = 0.01 s)| dt [m s]", ylim=(0, None))
    for axis in axes[0, 1:]:
        plain_ticks(axis.xaxis, h)
    picture = save_figure(figure, "pick_and_place")
    distance, angle = overlap(runs)
    rows = [[f"{run.h:g}", len(run.solve_us), float(np.median(run.contacts)), float(run.solve_us.mean()), float(np.percentile(run.solve_us, 95)),
             1e3 * run.position_error, float(np.degrees(run.angle_error)), 1e3 * run.integral_error, run.residual] for run in runs]  # fmt: skip
    write_page("pick_and_place", f"""
# Pick and place with a seven-joint arm: how long may a step be?

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-B. Scene: `scenes/pick_and_place`. Written by `./run reproduce`.

**Given**: ten cubes, an arm of seven joints with a gripper of two: 69 velocities; mean of a step's solve {PUBLISHED_SOLVE_MS} ms with a
commercial solver. **Ours**: the command (its inverse kinematics is `tools/pick_and_place_ik.py`), plain boxes instead of boxes with corner
spheres. The published comparison with a second-order simulator needs one of ours and is not on this page yet: errors here are against
our own run of h = 0.01 s.

{picture}

{table(["h [s]", "steps", "contacts, median", "solve, mean [µs]", "solve, 95 % [µs]", "largest distance [mm]", "largest angle [°]", "∫ distance dt [mm s]", "worst residual"], rows)}

The red cube's paths at h = 0.1 s and h = 0.4 s overlap within {1e3 * distance:.2g} mm and {np.degrees(angle):.2g}°. Times are from the machine that
wrote this page; `./run bench` compares solvers properly.
""")
