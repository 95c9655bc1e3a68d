"""Ten cubes, a seven-joint arm: step length against accuracy and time (Pang & Tedrake, ICRA 2021, V-B)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scene_runs import angle_between

from .experiment import ROOT, Laboratory, baseline, claim, new_figure, picture, plain_ticks, save_figure, table

SCENE = ROOT / "scenes" / "pick_and_place" / "scene.deft.yaml"
STEP_LENGTHS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
SHORT, LONG = 0.1, 0.4  # step lengths whose paths are compared [s]
FINE = 1e-3  # [s], a step length that all simulators of second order take
TAIL = 95  # percentile of the times of a step
STIFFNESS = (800, 600, 600, 600, 400, 200, 200, 1000, 1000)  # of the arm's and the gripper's joints [N m/rad, N/m]
PUBLISHED_SOLVE_MS = 3.56  # mean, a commercial solver on an Intel i7-8700B
PUBLISHED_STAYS_S = 0.001  # the longest step with which the source's simulator of second order stays with the ground truth
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


def draw_paths(runs: list[Run], truth: Run) -> None:
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
    save_figure(figure, "pick_and_place_paths")


def draw_errors(runs: list[Run], truth: Run, rows: list[dict]) -> None:
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
                "^v<>ph*P"[k] + ":",
                markersize=4,
                label=who + ("" if who.startswith("deft") else ", second order"),
            )
            axis.plot([h for h, e in mine if e is None], [top / 1.7**k] * sum(e is None for _, e in mine), "x", color=line.get_color())
        axis.set(xscale="log", yscale="log", xlabel="h [s]", ylabel=label)
    axes[0, 1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    save_figure(figure, "pick_and_place_errors")


LOST_MM = 10.0  # a cube that is this far off is not held any more


def carries(row: dict) -> bool:
    return row["largest_mm"] is not None and row["largest_mm"] < LOST_MM


def longest_steps(rows: list[dict]) -> tuple[dict[str, float], dict[str, float]]:
    """The longest steps [s] that carry the cube, deft's and the rivals'; the least errors [mm s] at the rivals' longest."""
    held = [row for row in rows if carries(row)]
    of = {
        "deft": [row for row in held if row["who"].startswith("deft")],
        "rivals": [row for row in held if not row["who"].startswith("deft")],
    }
    longest = {who: max(row["h"] for row in mine) for who, mine in of.items()}
    nearest = {who: min(row["integral_mm_s"] for row in mine if row["h"] == longest["rivals"]) for who, mine in of.items()}
    return longest, nearest


def beside_at(rows: list[dict], h: float) -> str:
    """The source's measure of all that carry the cube with steps of h, the best first."""
    carried = sorted((row["integral_q"], row["who"]) for row in rows if row["h"] == h and carries(row))
    return f"By the source's measure, with steps of {h:g} s: {', '.join(f'{who} {error:.2g}' for error, who in carried)}."


def fates(rows: list[dict]) -> str:
    """A sentence per simulator: up to which step it carries the cube (errors below LOST_MM), and what then happens."""
    sentences = []
    for who in dict.fromkeys(row["who"] for row in rows):
        mine = sorted((row for row in rows if row["who"] == who), key=lambda row: row["h"])
        good = [row for row in mine if carries(row)]
        parts = [f"carries the cube up to h = {good[-1]['h']:g} s" if good else "never carries the cube"]
        for verb, bad in (
            ("loses it", [r for r in mine if r not in good and r["largest_mm"] is not None]),
            ("diverges", [r for r in mine if r["largest_mm"] is None]),
        ):
            if bad:
                parts.append(verb + " at " + " and ".join(f"{row['h']:g}" for row in bad) + " s")
        sentences.append(f"{who}: {', '.join(parts)}{'' if len(parts) > 1 else ', the longest tried'}.")
    return " ".join(sentences)


def draw_times(runs: list[Run]) -> None:
    figure, axes = new_figure(1)
    h = [run.h for run in runs]
    axes[0, 0].plot(h, [np.median(run.solve_us) for run in runs], "o-", label="median")
    axes[0, 0].plot(h, [np.percentile(run.solve_us, TAIL) for run in runs], "s-", label=f"{TAIL} %")
    axes[0, 0].axhline(1e3 * PUBLISHED_SOLVE_MS, color="0.4", linestyle="--", label="published, mean")
    axes[0, 0].set(xscale="log", yscale="log", xlabel="h [s]", ylabel="solve of a step [µs]")
    axes[0, 0].legend()
    plain_ticks(axes[0, 0].xaxis, h)
    save_figure(figure, "pick_and_place")


def draw(runs: list[Run]) -> None:
    record = recorded()
    truth = truth_of(record)
    draw_times(of_scheme(runs, "quasidynamic"))
    draw_errors(runs, truth, record["rows"])
    draw_paths(runs, truth)


def facts(runs: list[Run]) -> dict:
    """Of every step length "h": "costs" of the quasidynamic step, "errors" of every scheme; "costlier": least and most that linearising twice takes, as a
    factor; "truth_changes": by what share errors differ against a ground truth with twice the step."""
    record, plain = recorded(), of_scheme(runs, "quasidynamic")
    truth, double = truth_of(record), truth_of(record, "double")
    costs = [[len(run.solve_us), float(np.median(run.contacts)), float(np.median(run.solve_us)), float(np.percentile(run.solve_us, TAIL)), run.residual]
             for run in plain]  # fmt: skip
    kept = ("integral_q", "integral_mm_s", "largest_mm", "end_mm")
    found = {scheme: [errors(truth, run) for run in of_scheme(runs, scheme)] for scheme in ALL_SCHEMES}
    changes = [abs(errors(double, run)[key] / errors(truth, run)[key] - 1) for run in plain + of_scheme(runs, "quasistatic")
               for key in ("integral_q", "integral_mm_s")]  # fmt: skip
    twice = {run.h: run for run in of_scheme(runs, "quasidynamic" + AGAIN)}
    factors = {what: [np.median(getattr(twice[run.h], what)) / np.median(getattr(run, what)) for run in plain]
               for what in ("solve_us", "step_us")}  # fmt: skip
    metres, radians = overlap(runs, SHORT, LONG)
    return {
        "h": [run.h for run in plain],
        "costs": costs,
        "errors": {scheme: {key: [row[key] for row in rows] for key in kept} for scheme, rows in found.items()},
        "overlap_mm": 1e3 * metres,
        "overlap_deg": np.degrees(radians),
        "truth_changes": max(changes),
        "costlier": {what: [min(values), max(values)] for what, values in factors.items()},
    }  # fmt: skip


def table_of_errors(facts: dict, schemes: tuple[str, ...]) -> str:
    head = [f"{scheme.removesuffix(AGAIN)}: {measure}" for scheme in schemes for measure in ("∫‖q−q_GT‖", "∫ distance [mm s]")]
    rows = [[f"{h:g}", *(facts["errors"][scheme][key][k] for scheme in schemes for key in ("integral_q", "integral_mm_s"))]
            for k, h in enumerate(facts["h"])]  # fmt: skip
    return table(["h [s]", *head], rows)


def table_of_second_order(rows: list[dict]) -> str:
    measures = {"integral_q": "∫‖q−q_GT‖", "integral_mm_s": "∫ distance [mm s]", "largest_mm": "largest distance [mm]",
                "largest_deg": "largest angle [°]", "end_mm": "distance at the end [mm]"}  # fmt: skip
    found = [[row["who"], f"{row['h']:g}", *(row[key] if row[key] is not None else "–" for key in measures),
              "" if row["status"] == "Completed" else f"{row['status']} at {row['reached_s']:.3g} s"] for row in rows]  # fmt: skip
    return table(["who", "h [s]", *measures.values(), ""], found)


def text_of_errors(facts: dict, record: dict) -> str:
    truth = truth_of(record)
    drake = [row for row in record["rows"] if row["who"].startswith("Drake") and row["integral_mm_s"] is not None]
    witness = min(drake, key=lambda row: row["h"])
    return f"""
## Error against the step length

The measure is the source's, ∫‖q − q_GT‖ dt of the red cube, q = (quaternion, position), and beside it the same of the position alone. The ground truth is
MuJoCo with steps of {record["truth_step_s"]:g} s; steps twice as long change the errors of the quasidynamic and quasistatic runs by at most
{100 * facts["truth_changes"]:.2g} %. Drake, which shares no code with it, is {witness["integral_mm_s"]:.2g} mm s away at h = {witness["h"]:g} s (largest
distance {witness["largest_mm"]:.2g} mm). All simulations of second order have the scene's stiffness K and the same dampers
{record["stiffness_and_lag"]} in the joints, M_ii at the start. Errors are taken every {truth.t[1] - truth.t[0]:g} s, or at the ends of longer steps.

{picture("pick_and_place_errors")}

deft, steps of first order:

{table_of_errors(facts, tuple(SCHEMES))}

The same with contacts linearised a second time, about the motion found (`step.relinearize: 1`):

{table_of_errors(facts, RELINEARIZED)}

Simulations of second order:

{table_of_second_order(record["rows"])}
"""


def text_of_steps(facts: dict) -> str:
    """What the step length does to the error, and what linearising twice does to the cost."""
    h, integrals = facts["h"], {scheme: own["integral_q"] for scheme, own in facts["errors"].items()}
    factor = {scheme: max(values) / min(values) for scheme, values in integrals.items()}
    dynamic, static = integrals["quasidynamic"], integrals["quasistatic"]
    flat = factor["quasistatic"] < 2 and factor["quasidynamic"] < 3
    at = h.index(LONG)
    once, twice = (facts["errors"]["quasistatic, damped joints" + again]["end_mm"][at] for again in ("", AGAIN))
    step, solve = ([f"{x:.3g}" for x in facts["costlier"][what]] for what in ("step_us", "solve_us"))
    return f"""
- {claim("**Nearly constant in h**,", flat)} because the dampers that the step has not give most of it (below). From {h[0]:g} to {h[-1]:g} s the error of the quasistatic step, which is the source's, changes by a factor
  {factor["quasistatic"]:.2g}, that of the quasidynamic step by {factor["quasidynamic"]:.2g}:
  {claim("at small h it is smaller", dynamic[0] < dynamic[-1] and dynamic[0] < static[0])}, because the cube is then held back by M/h, as the arm is by its
  dampers in the second-order world.
- **Linearised a second time** the factors are {factor["quasistatic" + AGAIN]:.2g} and {factor["quasidynamic" + AGAIN]:.2g}:
  {claim("the grip holds along arcs", twice < 0.25 * once)}. A step takes {step[0]} to {step[1]} times as long in the median,
  its solver {solve[0]} to {solve[1]} times: contacts of bodies that hardly move are not found again."""


def text_of_causes(facts: dict, record: dict) -> str:
    """Where the rest of the error comes from."""
    truth, h = truth_of(record), facts["h"]
    speed = float(np.abs(np.diff(truth.position, axis=0) / np.diff(truth.t)[:, None]).max())
    lag = max(d / k for d, k in zip(record["damping"], STIFFNESS))
    plain, damped, again, both = (facts["errors"][scheme] for scheme in ("quasistatic", "quasistatic, damped joints", "quasistatic, damped joints" + AGAIN,
                                                                         "quasidynamic, damped joints"))  # fmt: skip
    order = float(np.polyfit(np.log(h), np.log(damped["integral_mm_s"]), 1)[0])
    stands = plain["end_mm"][0] < 0.1 * plain["largest_mm"][0]
    falls = damped["integral_mm_s"][0] < 0.1 * plain["integral_mm_s"][0]
    shows = both["integral_q"][0] > 2 * damped["integral_q"][0] and both["integral_q"][-1] < 1.1 * damped["integral_q"][-1]
    creep = {length: damped["end_mm"][h.index(length)] for length in (SHORT, LONG)}
    return f"""
- **What the error is.** Steps of first order have no joint dampers unless set (`step.joint_damping`). Dampers make the arm follow late by D/K, at most
  {lag:.2g} s, at speeds up to {100 * speed:.2g} cm/s: up to {1e3 * lag * speed:.2g} mm while the cube is carried,
  {claim("gone when the arm stands", stands)}. With the same dampers in the quasistatic step {claim("the integral falls", falls)} to
  {damped["integral_mm_s"][0]:.2g} mm s at h = {h[0]:g} s: masses and accelerations matter no more than that. What is left is
  {claim("of first order in h", abs(order - 1) < 0.2)}: contacts are linearised where a step begins, so the cube creeps in the turning grip by
  {creep[LONG]:.2g} mm until it is put down at h = {LONG:g} s and by {creep[SHORT]:.2g} mm at h = {SHORT:g} s; linearised a second time by
  {again["end_mm"][h.index(LONG)]:.2g} mm at h = {LONG:g} s.
  With dampers *and* M/h the cube is held back twice, {claim("which shows at small h", shows)}."""


def text(facts: dict) -> str:
    record = recorded()
    longest, nearest = longest_steps(record["rows"])
    overlaps = facts["overlap_mm"] < 5 and facts["overlap_deg"] < 2
    costs = [[f"{h:g}", *row] for h, row in zip(facts["h"], facts["costs"])]
    return f"""
# Pick and place with a seven-joint arm: how long may a step be?

Source: T. Pang and R. Tedrake, *A convex quasistatic time-stepping scheme for rigid multibody systems with contact and
friction*, ICRA 2021, section V-B. Scene: `scenes/pick_and_place`. Written by `./run reproduce pick_and_place`; the second-order simulations on it are
recorded by `./run reproduce error-against-h`, the only part that needs MuJoCo and Drake.

**Given**: ten cubes, an arm of seven joints with a gripper of two: 69 velocities; mean of a step's solve {PUBLISHED_SOLVE_MS} ms with a
commercial solver; the measure of error. **Ours**: the command (its inverse kinematics is `tools/pick_and_place_ik.py`), plain boxes instead of boxes with
corner spheres, damping and contact settings of the second-order simulations.

{picture("pick_and_place")}

{table(["h [s]", "steps", "contacts, median", "solve, median [µs]", f"solve, {TAIL} % [µs]", "worst residual"], costs)}

The red cube's paths at h = {SHORT:g} s and h = {LONG:g} s {claim("overlap", overlaps)} within {facts["overlap_mm"]:.2g} mm and
{facts["overlap_deg"]:.2g}°. Times are from the machine that wrote this page; `./run bench` compares solvers properly.
{text_of_errors(facts, record)}{text_of_steps(facts)}
- **Second order.** {fates(record["rows"])} The source's simulator leaves the ground truth right after {PUBLISHED_STAYS_S:g} s.
  "MuJoCo" has the best settings that we know for it, "MuJoCo, default" its own, "as deft's plant" those of `deft track`. Drake solves its SAP approximation, and its
  lagged one with the same and with softer contact; its settings were not searched further. Among steps that carry the cube {claim("the longest is deft's", longest["deft"] > longest["rivals"])}, {longest["deft"]:g} s against
  {longest["rivals"]:g} s, {claim("and at one of the same length its error is below the best rival's", nearest["deft"] < nearest["rivals"])}: {nearest["deft"]:.2g} mm s
  against {nearest["rivals"]:.2g} mm s at h = {longest["rivals"]:g} s. {beside_at(record["rows"], FINE)} MuJoCo and Drake find a contact when bodies intersect, so a resting cube first sinks by g h²;
  deft's convex step looks ahead for contacts and is implicit in springs and dampers.{text_of_causes(facts, record)}

{picture("pick_and_place_paths")}
"""
