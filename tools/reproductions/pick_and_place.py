"""Ten cubes, a seven-joint arm: step length against accuracy and time (Pang & Tedrake, ICRA 2021, V-B)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scene_runs import angle_between

from .experiment import ROOT, Laboratory, baseline, new_figure, plain_ticks, save_figure, table, write_page

SCENE = ROOT / "scenes" / "pick_and_place" / "scene.deft.yaml"
STEP_LENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
PUBLISHED_SOLVE_MS = 3.56  # mean, a commercial solver on an Intel i7-8700B
SCHEMES = {"quasidynamic": ("quasidynamic", False), "quasistatic": ("quasistatic", False), "quasistatic, damped joints": ("quasistatic", True),
           "quasidynamic, damped joints": ("quasidynamic", True)}  # fmt: skip
AGAIN = " (relinearized)"  # a scheme whose contacts are linearised a second time
RELINEARIZED = tuple(name + AGAIN for name in ("quasidynamic", "quasistatic", "quasistatic, damped joints"))
ALL_SCHEMES = (*SCHEMES, *RELINEARIZED)


@dataclass
class Run:
    """One step length of one scheme: the red cube over time, and what a step cost."""

    h: float
    t: np.ndarray
    position: np.ndarray  # [T+1, 3]
    quaternion: np.ndarray  # [T+1, 4]
    solve_us: np.ndarray  # [T], the solver alone
    contacts: np.ndarray  # [T]
    residual: float = 0.0
    scheme: str = "quasidynamic"
    statuses: dict = field(default_factory=dict)
    step_us: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [T], the whole step: contacts, rows, solver


def recorded() -> dict:
    """Rows of second-order simulators, their ground truth (the converged run), dampers of the joints."""
    return baseline("error-against-h")


def truth_of(record: dict, which: str = "truth") -> Run:
    path = record[which]
    t, position, quaternion = (np.array(path[key]) for key in ("t", "position", "quat_wxyz"))
    return Run(record["truth_step_s"], t, position, quaternion, np.zeros(0), np.zeros(0), scheme="truth")


def common_samples(one: Run, other: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times at which both runs have samples, and their places in either."""
    keys, other_keys = (np.round(run.t * 1e5).astype(int) for run in (one, other))
    both, first, second = np.intersect1d(keys, other_keys, return_indices=True)
    return both * 1e-5, first, second


def apart(fine: Run, coarse: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times at which both runs have samples, and how far apart the cube then is: [s], [m], [rad]."""
    t, a, b = common_samples(fine, coarse)
    metres = np.linalg.norm(fine.position[a] - coarse.position[b], axis=1)
    return t, metres, np.array([float(angle_between(p, q)) for p, q in zip(fine.quaternion[a], coarse.quaternion[b])])


def trapezoid(t: np.ndarray, values: np.ndarray) -> float:
    return float(np.sum((values[1:] + values[:-1]) / 2 * np.diff(t)))


def errors(truth: Run, run: Run) -> dict:
    """∫‖q − q_GT‖ dt with q = (quat_wxyz, p) [s and m s], of p alone [mm s]; largest distance [mm] and angle [°], distance at the end [mm]."""
    t, metres, radians = apart(truth, run)
    _, a, b = common_samples(truth, run)
    turn = truth.quaternion[a] - run.quaternion[b] * np.where(
        np.sum(truth.quaternion[a] * run.quaternion[b], axis=1, keepdims=True) < 0, -1, 1
    )
    whole = np.sqrt(metres**2 + np.sum(turn**2, axis=1))
    return {"integral_q": trapezoid(t, whole), "integral_mm_s": 1e3 * trapezoid(t, metres), "largest_mm": 1e3 * float(metres.max()),
            "largest_deg": float(np.degrees(radians.max())), "end_mm": 1e3 * float(metres[-1])}  # fmt: skip


def measure(lab: Laboratory, step_lengths: tuple[float, ...] = STEP_LENGTHS, schemes: tuple[str, ...] = ALL_SCHEMES) -> list[Run]:
    """Every scheme at every step length, shortest first. Damped joints have the dampers of the second-order simulations."""
    runs = []
    for scheme in schemes:
        dynamics, damped = SCHEMES[scheme.removesuffix(AGAIN)]
        options = ["--set", f"step.dynamics={dynamics}", *(["--set", f"step.joint_damping={recorded()['damping']}"] if damped else [])]
        options += ["--set", f"step.relinearize={int(scheme.endswith(AGAIN))}"]
        for h in step_lengths:
            run = lab.simulate(SCENE, "--h", str(h), *options)
            runs.append(Run(h, run.t, run.position("red"), run.quaternion("red"), run.data["steps/solve_us"], run.contacts_per_step(),
                            run.summary["residual_max"], scheme, run.summary["statuses"], run.data["steps/step_us"]))  # fmt: skip
    return runs


def of_scheme(runs: list[Run], scheme: str) -> list[Run]:
    return [run for run in runs if run.scheme == scheme]


def overlap(runs: list[Run], fine: float = 0.1, coarse: float = 0.4) -> tuple[float, float]:
    """Largest distance [m] and angle [rad] between the red cube of two step lengths, at the ends of the coarse steps."""
    a, b = (next(run for run in of_scheme(runs, "quasidynamic") if run.h == h) for h in (fine, coarse))
    _, metres, radians = apart(a, b)
    return float(metres.max()), float(radians.max())


def axis_angle_deg(quaternion: np.ndarray) -> np.ndarray:
    return np.degrees(2 * np.arctan2(np.linalg.norm(quaternion[:, 1:], axis=1), np.abs(quaternion[:, 0])))


def draw_paths(runs: list[Run], truth: Run) -> str:
    """The source's Fig. 8: where the cube is, and its angle, for several step lengths."""
    figure, axes = new_figure(2, 2)
    axes = axes.reshape(1, 4)
    shown = [(truth, "ground truth", "0.1", "-")] + [(run, f"h = {run.h:g} s", None, "-" if run.h < 0.4 else ".--")
                                                     for run in of_scheme(runs, "quasidynamic") if run.h in (0.01, 0.1, 0.4)]  # fmt: skip
    for run, label, color, style in shown:
        for k, letter in enumerate("xyz"):
            axes[0, k].plot(run.t, run.position[:, k], style, label=label, color=color, markersize=3)
            axes[0, k].set(xlabel="t [s]", ylabel=f"{letter} [m]")
        axes[0, 3].plot(run.t, axis_angle_deg(run.quaternion), style, label=label, color=color, markersize=3)
    axes[0, 3].set(xlabel="t [s]", ylabel="angle from the world's axes [°]")
    axes[0, 2].legend()
    return save_figure(figure, "pick_and_place_paths")


def draw_errors(runs: list[Run], truth: Run, rows: list[dict]) -> str:
    """The source's Fig. 7: the integral error against the step length; crosses at the upper edge: the simulation diverged."""
    figure, axes = new_figure(2)
    for axis, key, label in ((axes[0, 0], "integral_q", "∫ ‖q − q_GT‖ dt"), (axes[0, 1], "integral_mm_s", "∫ |p − p_GT| dt [mm s]")):
        for scheme, style in zip(ALL_SCHEMES, ("o-", "s-", "s--", "o--", "d-", "D-", "D--")):
            axis.plot(
                [run.h for run in of_scheme(runs, scheme)],
                [errors(truth, run)[key] for run in of_scheme(runs, scheme)],
                style,
                markersize=4,
                label=scheme,
            )
        top = 2 * max(row[key] for row in rows if row[key] is not None)
        for k, who in enumerate(dict.fromkeys(row["who"] for row in rows)):
            mine = sorted((row["h"], row[key]) for row in rows if row["who"] == who)
            (line,) = axis.plot(
                [h for h, e in mine if e is not None],
                [e for _, e in mine if e is not None],
                "^v<"[k] + ":",
                markersize=4,
                label=who + ("" if who.startswith("deft") else ", second order"),
            )
            axis.plot([h for h, e in mine if e is None], [top / 1.7**k] * sum(e is None for _, e in mine), "x", color=line.get_color())
        axis.set(xscale="log", yscale="log", xlabel="h [s]", ylabel=label)
    axes[0, 1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return save_figure(figure, "pick_and_place_errors")


def fates(rows: list[dict], lost_mm: float = 10.0) -> str:
    """A sentence per simulator: up to which step it carries the cube (errors below `lost_mm`), and what then happens."""
    sentences = []
    for who in dict.fromkeys(row["who"] for row in rows):
        mine = sorted((row for row in rows if row["who"] == who), key=lambda row: row["h"])
        good = [row for row in mine if row["largest_mm"] is not None and row["largest_mm"] < lost_mm]
        parts = [f"carries the cube up to h = {good[-1]['h']:g} s" if good else "never carries the cube"]
        for verb, bad in (
            ("loses it", [r for r in mine if r not in good and r["largest_mm"] is not None]),
            ("diverges", [r for r in mine if r["largest_mm"] is None]),
        ):
            if bad:
                parts.append(verb + " at " + " and ".join(f"{row['h']:g}" for row in bad) + " s")
        sentences.append(f"{who}: {', '.join(parts)}{'' if len(parts) > 1 else ', the longest tried'}.")
    return " ".join(sentences)


def draw(runs: list[Run]) -> None:
    record = recorded()
    truth, plain = truth_of(record), of_scheme(runs, "quasidynamic")
    figure, axes = new_figure(1)
    h = [run.h for run in plain]
    axes[0, 0].plot(h, [np.median(run.solve_us) for run in plain], "o-", label="median")
    axes[0, 0].plot(h, [np.percentile(run.solve_us, 95) for run in plain], "s-", label="95 %")
    axes[0, 0].axhline(1e3 * PUBLISHED_SOLVE_MS, color="0.4", linestyle="--", label="published, mean")
    axes[0, 0].set(xscale="log", yscale="log", xlabel="h [s]", ylabel="solve of a step [µs]")
    axes[0, 0].legend()
    plain_ticks(axes[0, 0].xaxis, h)
    picture, error_picture, path_picture = (
        save_figure(figure, "pick_and_place"),
        draw_errors(runs, truth, record["rows"]),
        draw_paths(runs, truth),
    )
    distance, angle = overlap(runs)
    costs = [[f"{run.h:g}", len(run.solve_us), float(np.median(run.contacts)), float(np.median(run.solve_us)), float(np.percentile(run.solve_us, 95)), run.residual]
             for run in plain]  # fmt: skip
    found = {(run.scheme, run.h): errors(truth, run) for run in runs}
    ours, again = ([[f"{length:g}", *(found[scheme, length][key] for scheme in schemes for key in ("integral_q", "integral_mm_s"))] for length in h]
                   for schemes in (SCHEMES, RELINEARIZED))  # fmt: skip
    twice = {run.h: run for run in of_scheme(runs, "quasidynamic" + AGAIN)}
    cost, cost_of_step = (
        [np.median(getattr(twice[run.h], what)) / np.median(getattr(run, what)) for run in plain] for what in ("solve_us", "step_us")
    )
    factor = {
        scheme: max(values) / min(values) for scheme in ALL_SCHEMES for values in [[found[scheme, length]["integral_q"] for length in h]]
    }
    theirs = [[row["who"], f"{row['h']:g}", *(row[key] if row[key] is not None else "–" for key in ("integral_q", "integral_mm_s", "largest_mm", "largest_deg", "end_mm")),
               "" if row["status"] == "Completed" else f"{row['status']} at {row['reached_s']:.3g} s"] for row in record["rows"]]  # fmt: skip
    change = max(abs(errors(truth_of(record, "double"), run)[key] / found[run.scheme, run.h][key] - 1) for run in plain + of_scheme(runs, "quasistatic")
                 for key in ("integral_q", "integral_mm_s"))  # fmt: skip
    speed = float(np.abs(np.diff(truth.position, axis=0) / np.diff(truth.t)[:, None]).max())
    lag = max(d / k for d, k in zip(record["damping"], (800, 600, 600, 600, 400, 200, 200, 1000, 1000)))
    witness = min(
        (row for row in record["rows"] if row["who"].startswith("Drake") and row["integral_mm_s"] is not None), key=lambda row: row["h"]
    )
    write_page(
        "pick_and_place",
        f"""
# Pick and place with a seven-joint arm: how long may a step be?

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-B. Scene: `scenes/pick_and_place`. Written by `./run reproduce pick_and_place`; the second-order simulations on it are recorded by
`./run reproduce error-against-h`, the only part that needs MuJoCo and Drake.

**Given**: ten cubes, an arm of seven joints with a gripper of two: 69 velocities; mean of a step's solve {PUBLISHED_SOLVE_MS} ms with a
commercial solver; the measure of error. **Ours**: the command (its inverse kinematics is `tools/pick_and_place_ik.py`), plain boxes instead of boxes with corner
spheres, damping and contact settings of the second-order simulations.

{picture}

{table(["h [s]", "steps", "contacts, median", "solve, median [µs]", "solve, 95 % [µs]", "worst residual"], costs)}

The red cube's paths at h = 0.1 s and h = 0.4 s overlap within {1e3 * distance:.2g} mm and {np.degrees(angle):.2g}°. Times are from the machine that
wrote this page; `./run bench` compares solvers properly.

## Error against the step length

The measure is the source's, ∫‖q − q_GT‖ dt of the red cube, q = (quaternion, position), and beside it the same of the position alone. The ground truth is MuJoCo with steps of
{record["truth_step_s"]:g} s; steps twice as long change the errors of the quasidynamic and quasistatic runs by at most {100 * change:.2g} %. Drake, which shares no code with it, is {witness["integral_mm_s"]:.2g} mm s
away at h = {witness["h"]:g} s (largest distance {witness["largest_mm"]:.2g} mm). All simulations of second order have the scene's stiffness K and the same dampers D = max(2 √(K M_ii), K · 10 ms) in the
joints, M_ii at the start. Errors are taken every 0.1 s, or at the ends of longer steps.

{error_picture}

deft, steps of first order:

{table(["h [s]", *(f"{scheme}: {measure}" for scheme in SCHEMES for measure in ("∫‖q−q_GT‖", "∫ distance [mm s]"))], ours)}

The same with contacts linearised a second time, about the motion found (`step.relinearize: 1`):

{table(["h [s]", *(f"{scheme.removesuffix(AGAIN)}: {measure}" for scheme in RELINEARIZED for measure in ("∫‖q−q_GT‖", "∫ distance [mm s]"))], again)}

Simulations of second order:

{table(["who", "h [s]", "∫‖q−q_GT‖", "∫ distance [mm s]", "largest distance [mm]", "largest angle [°]", "distance at the end [mm]", ""], theirs)}

- **Flat in h.** From 0.01 to 0.4 s the error of the quasistatic step, which is the source's, changes by a factor {factor["quasistatic"]:.2g}, that of the quasidynamic step by
  {factor["quasidynamic"]:.2g}: at small h it is smaller, because the cube is then held back by M/h, as the arm is by its dampers in the second-order world.
- **Linearised a second time** the factors are {factor["quasistatic" + AGAIN]:.2g} and {factor["quasidynamic" + AGAIN]:.2g}: the grip holds along arcs. A step takes {min(cost_of_step):.3g} to {max(cost_of_step):.3g} times
  as long in the median, its solver {min(cost):.3g} to {max(cost):.3g} times: contacts of bodies that hardly move are not found again.
- **Second order.** {fates(record["rows"])} The source's simulator leaves the ground truth right after 0.001 s. MuJoCo and Drake as used here find a contact
  when bodies overlap, so a resting cube first sinks by g h², and MuJoCo's springs are explicit; deft's convex step looks ahead for contacts and is implicit in springs and dampers.
- **What the error is.** Steps of first order have no joint dampers unless set (`step.joint_damping`). Dampers make the arm follow late by D/K, at most {lag:.2g} s, at speeds up to
  {100 * speed:.2g} cm/s: up to {1e3 * lag * speed:.2g} mm while the cube is carried, gone when the arm stands. With the same dampers in the quasistatic step the integral falls
  to {found["quasistatic, damped joints", 0.01]["integral_mm_s"]:.2g} mm s at h = 0.01 s: masses and accelerations matter no more than that. What is left is of first order in h: contacts are
  linearised where a step begins, so the cube creeps in the turning grip by {found["quasistatic, damped joints", 0.4]["end_mm"]:.2g} mm until it is put down at h = 0.4 s and by {found["quasistatic, damped joints", 0.1]["end_mm"]:.2g} mm at h = 0.1 s;
  linearised a second time by {found["quasistatic, damped joints" + AGAIN, 0.4]["end_mm"]:.2g} mm at h = 0.4 s.
  With dampers *and* M/h the cube is held back twice, which shows at small h.

{path_picture}
""",
    )
