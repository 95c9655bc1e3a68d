"""Line and surface contact by one equivalent contact point ("Rigid Body Dynamic Simulation with Line and Surface Contact"), scenarios 1–4 and two of ours."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scene_runs import SceneRun

from . import patch_manipulation as manipulation
from .experiment import Laboratory, baseline
from .patch_reference import State
from .patch_runs import PatchRun, run_steps, simulate, world_of
from .patch_shapes import Box, Cylinder

CUBE = Box((1.0, 1.0, 1.0))
SLIDES, ROLLS, TUMBLES = world_of(CUBE, 1, 0.12), world_of(Cylinder(1, 5), 10, 0.3), world_of(CUBE, 1, 0.2)
MANIPULATION = manipulation.WORLD
COIN = Cylinder(0.25, 0.02)
DISK = world_of(COIN, 10, 0.5, 1e-3, (1, 1, 0.05))
DISK_STEPS_S, DISK_ENDS_S, STACK_STEPS = (1e-3, 2.5e-4), 3.0, 200
GRAVITY = 9.8
LYING, STANDING = manipulation.RADIUS, manipulation.LENGTH / 2


@dataclass
class Check:
    """A number of the source (or of a calculation by hand) and ours."""

    scene: str
    what: str
    wanted: str
    found: str
    off: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return bool(self.off <= self.tolerance)  # NaN fails


@dataclass
class Measured:
    slides: PatchRun
    rolls: PatchRun
    tumbles: PatchRun
    manipulated: PatchRun
    references: dict[str, list[State]]  # by scene: the same by trying modes
    disks: dict[float, PatchRun] = field(default_factory=dict)  # by step length
    stack: SceneRun | None = None
    checks: list[Check] = field(default_factory=list)

    @property
    def failed(self) -> list[Check]:
        return [c for c in self.checks if not c.passed]


def text_of(values, digits: int = 6) -> str:
    values = np.atleast_1d(np.asarray(values, float))
    text = ", ".join(f"{round(float(v), digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".") for v in values)
    return text if len(values) == 1 else f"({text})"


def near(scene: str, what: str, wanted, found, tolerance: float, digits: int = 6) -> Check:
    off = float(np.abs(np.subtract(np.asarray(found, float), np.asarray(wanted, float))).max())
    return Check(scene, what, text_of(wanted, digits), text_of(found, digits), off, tolerance)


def below(scene: str, what: str, found: float, tolerance: float) -> Check:
    return Check(scene, what, f"≤ {tolerance:g}", f"{found:.1e}", float(found), tolerance)


def holds(scene: str, what: str, wanted: str, found: str, holds_: bool) -> Check:
    return Check(scene, what, wanted, found, 0.0 if holds_ else np.inf, 0.0)


def closed_form(steps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scenario 1 by hand. Distance along (4, 3)/5 after each step, speed, and how far ahead of the centre the point is: with the friction p per step the
    body does not turn if p_n · ahead = p · z; while it slides p = μ m g h, so ahead = μ z; the last step brakes what speed is left."""
    path, speed, ahead = np.zeros(steps + 1), np.zeros(steps + 1), np.zeros(steps + 1)
    loss, speed[0] = SLIDES.mu * GRAVITY * SLIDES.h, 5.0
    for k in range(steps):
        braked = min(loss, speed[k])
        speed[k + 1] = speed[k] - braked
        path[k + 1] = path[k] + SLIDES.h * speed[k + 1]
        ahead[k + 1] = SLIDES.mu * 0.5 * braked / loss
    return path, speed, ahead


def common(name: str, run: PatchRun, reference: list[State], tolerance: float, steps: int) -> list[Check]:
    """What holds of every step of every scene."""
    violations = run.violations()
    force, point, torsion = run.second_proposition()
    kinds, states, slip = run.misnamed()
    return [holds(name, "every step solved", "Completed", run.run.summary["status"], run.run.summary["status"] == "Completed"),
            below(name, "penetration [m]", max(0.0, -float(run.height.min())), 1e-8),
            below(name, "equations and inequalities of the step, from ν⁺ alone, relative", max(violations.values()), 1e-8),
            below(name, "forces by eq. (24) against the solver's, relative", force, 1e-8),
            below(name, "point and torsion by eq. (27) against the solver's, relative", max(point, torsion), 1e-8),
            holds(name, "recorded kinds, and stick or slip, against pose and velocities: steps that differ", "0, 0", f"{kinds}, {states}", kinds == states == 0),
            below(name, "recorded slip against the velocities [m/s, rad/s]", slip, 1e-8),
            below(name, f"centre against the search over modes, to {text_of(steps * run.world.h, 2)} s [m]", run.away_from(reference[: steps + 1]), tolerance)]  # fmt: skip


def check_slides(run: PatchRun, reference: list[State]) -> list[Check]:
    path, speed, ahead = closed_form(len(run.point))
    along = np.array([0.8, 0.6])
    offset = run.point[:, :2] - run.position[1:, :2]
    name = "cube slides"
    return [*common(name, run, reference, 1e-6, len(reference) - 1),
            near(name, "speed at 4 s [m/s]", 0.296, np.linalg.norm(run.nu[400, 3:]), 1e-6),
            near(name, "centre at 4 s [m]", (8.454784, 6.341088, 0.5), run.position[400], 1e-6),
            near(name, "velocity at 4 s [m/s]", (0.2368, 0.1776), run.nu[400, 3:5], 1e-6),
            near(name, "point ahead of the centre while it slides, all 425 steps [m]", np.tile((0.048, 0.036), (425, 1))[0], offset[:425][np.abs(offset[:425] - (0.048, 0.036)).max(axis=1).argmax()], 1e-6),
            near(name, "… in the step that stops it, 426 [m]", (0.008163, 0.006122), offset[425], 1e-6),
            near(name, "… after it [m]", (0, 0), offset[426], 1e-6),
            near(name, "first step that ends at rest", 426, 1 + int(np.argmax(np.linalg.norm(run.nu[1:, 3:], axis=1) < 1e-9)), 0),
            near(name, "where it stops [m]", (8.483408, 6.362556), run.position[426, :2], 1e-6),
            below(name, "centre against the closed form of the discrete motion, all steps [m]", float(np.abs(run.position[:, :2] - path[:, None] * along).max()), 1e-8),
            below(name, "point against the closed form, all steps [m]", float(np.abs(offset - ahead[1:, None] * along).max()), 1e-8),
            below(name, "speed against the closed form, all steps [m/s]", float(np.abs(np.linalg.norm(run.nu[:, 3:5], axis=1) - speed).max()), 1e-8)]  # fmt: skip


def along_and_across(run: PatchRun) -> tuple[np.ndarray, np.ndarray]:
    """L and D of scenario 2 [T]: the point along the contact line, and across it [m]."""
    heading = np.arctan2(run.axes[1:, 1, 2], run.axes[1:, 0, 2])
    d = run.point - run.position[1:]
    return np.cos(heading) * d[:, 0] + np.sin(heading) * d[:, 1], np.sin(heading) * d[:, 0] - np.cos(heading) * d[:, 1]


def check_rolls(run: PatchRun, reference: list[State]) -> list[Check]:
    L, D = along_and_across(run)
    name = "cylinder rolls"
    kicks = np.flatnonzero(np.abs(run.nu[:-1, 2]) < 1e-6)
    rim = np.linalg.norm(run.slip, axis=1)
    slides = int(np.argmax(rim < 1e-8))
    return [*common(name, run, reference, 1e-6, len(reference) - 1),
            holds(name, "line contact in every step", "line", ", ".join(sorted(set(run.kinds))), set(run.kinds) == {"line"}),
            below(name, "|z − 1| [m]", float(np.abs(run.position[:, 2] - 1).max()), 1e-8),
            below(name, "|D|, the point across the line [m]", float(np.abs(D).max()), 1e-8),
            below(name, "|L|, the point along the line [m]; l/2 = 2.5", float(np.abs(L).max()), 0.06),
            near(name, "slips until [s]", 0.26, slides * run.world.h, 1e-9),
            near(name, "first impulse at [s]", 0.27, kicks[0] * run.world.h if kicks.size else np.nan, 1e-9),
            near(name, "then every [s] (least, largest)", (0.11, 0.11), np.array([np.diff(kicks).min(), np.diff(kicks).max()]) * run.world.h if kicks.size > 1 else (np.nan, np.nan), 1e-9),
            near(name, "centre at 10 s [m]", (2.62, -8.87, 1), run.position[1000], 0.005, 4)]  # fmt: skip


def check_tumbles(run: PatchRun, reference: list[State]) -> list[Check]:
    name, kinds, h = "cube tumbles", run.kinds, run.world.h
    first = lambda kind, since=0: next((k + 1 for k in range(since, len(kinds)) if kinds[k] == kind), -1)  # noqa: E731
    flying = [k + 1 for k, kind in enumerate(kinds) if kind == "flies"]
    speed = np.linalg.norm(run.nu[:, 3:5], axis=1)
    diagonal = np.array([1, -1]) / np.sqrt(2)
    slide = run.nu[181:, 3:5]
    return [*common(name, run, reference, 1e-4, len(reference) - 1),
            below(name, "centre against the search over modes, before 1 s [m]", run.away_from(reference[:101]), 1e-6),
            holds(name, "corner contact to 0.43 s", "point", ", ".join(sorted(set(kinds[:43]))), set(kinds[:43]) == {"point"}),
            near(name, "edge contact from [s]", 0.44, first("line") * h, 1e-9),
            holds(name, "edge contact until 1 s", "line", ", ".join(sorted(set(kinds[43:100]))), set(kinds[43:100]) == {"line"}),
            near(name, "at rest on the edge at 1 s [m]", (-0.516707, -0.516707, 0.707107), run.position[100], 1e-6),
            below(name, "speed at 1 s [m/s, rad/s]", float(np.abs(run.nu[100]).max()), 1e-6),
            near(name, "flies from, to [s]", (1.02, 1.19), (flying[0] * h, flying[-1] * h) if flying else (np.nan, np.nan), 1e-9),
            near(name, "face contact from [s] (source: by 1.26)", 1.26, first("surface") * h, 1e-9),
            holds(name, "on the face from then on", "surface", ", ".join(sorted(set(kinds[125:]))), set(kinds[125:]) == {"surface"}),
            below(name, "after 1.8 s: velocity across (1, −1) [m/s]", float(np.abs(slide @ np.array([1, 1]) / np.sqrt(2)).max()), 1e-6),
            below(name, "… and loss of speed per step against μ g h [m/s]", float(np.abs(-np.diff(slide @ diagonal) - run.world.mu * GRAVITY * h).max()), 1e-6),
            below(name, "speed gained by the impulse at 1.8 s against 10 √2 − μ g h [m/s]", abs(float(speed[181] - speed[180] - 10 * np.sqrt(2) + run.world.mu * GRAVITY * h)), 1e-6)]  # fmt: skip


def landings(run: PatchRun) -> list[int]:
    """Steps in which a line or a face comes down on the ground after the body stood on less, if it stays."""
    kinds = run.kinds
    return [
        k
        for k in range(1, len(kinds) - 2)
        if kinds[k] in ("line", "surface") and kinds[k - 1] not in (kinds[k],) and kinds[k + 1] == kinds[k] == kinds[k + 2]
    ]


def check_manipulated(run: PatchRun, reference: list[State]) -> list[Check]:
    name, kinds, h, x, axis = "cylinder manipulation", run.kinds, run.world.h, run.position, run.axes[:, :, 2]
    at = {phase: round(t / h) for phase, t in manipulation.PHASES.items()}
    clear = manipulation.clearance([run.state(k) for k in range(len(x))])
    rolling, on = slice(at["roll"], at["pivot"] + 1), slice(round(manipulation.ON[0] / h), at["lift"] + 1)
    down = landings(run)
    passed = max(c[0] + s[0] / 2 for c, s in manipulation.OBSTACLES.values())
    turn = np.degrees(np.arccos(np.clip(axis[rolling][-1] @ axis[on][0], -1, 1)))
    after = max((abs(float(run.nu[k + 2, 5])) for k in down), default=np.nan)
    return [*common(name, run, reference, 1e-6, at["lift"]),
            near(name, "stands at the start: height [m]", STANDING, x[0, 2], 1e-8, 9),
            holds(name, "1 toppled by 0.6 s: contacts on the way", "point, line", ", ".join(dict.fromkeys(kinds[: at["roll"]])), list(dict.fromkeys(kinds[: at["roll"]])) == ["point", "line"]),
            below(name, "2 rolls: |height − 0.1| [m]", float(np.abs(x[rolling, 2] - LYING).max()), 1e-8),
            below(name, "2 rolls: slip [m/s, rad/s]", float(np.abs(run.slip[at["roll"] : at["pivot"]]).max()), 1e-8),
            near(name, "2 rolls by [m]", 0.4, x[at["pivot"], 0] - x[at["roll"], 0], 1e-6),
            near(name, "3 pivots: its axis turns by [°]", 180, turn, 1, 2),
            holds(name, "3 pivots on its rim, on one point", "point", kinds[round(2.0 / h)], set(kinds[round(1.6 / h) : round(2.6 / h)]) == {"point"}),
            below(name, "4 rolls on: |height − 0.1| [m]", float(np.abs(x[on, 2] - LYING).max()), 1e-8),
            holds(name, "4 rolls on past the obstacles [m]", f"> {passed + LYING:.2f}", text_of(x[at["lift"], 0], 4), bool(x[at["lift"], 0] > passed + LYING)),
            holds(name, "5 lifted: highest centre [m]", "0.18", text_of(x[at["lift"] :, 2].max(), 3), bool(abs(x[at["lift"] :, 2].max() - np.hypot(LYING, STANDING)) < 1e-3)),
            near(name, "6 stands: height at 5 s [m]", STANDING, x[-1, 2], 1e-8, 9),
            below(name, "6 stands: tilt at 5 s [rad]", float(np.hypot(*axis[-1, :2])), 1e-8),
            below(name, "6 stands: velocities at 5 s [m/s, rad/s]", float(np.abs(run.nu[-1]).max()), 1e-6),
            holds(name, "clear of the obstacles by [m]", "> 0", ", ".join(text_of(d, 3) for d in clear.values()), min(clear.values()) > 0),
            holds(name, "landings at [s]", "a line twice, a face", ", ".join(text_of((k + 1) * h, 2) for k in down), [kinds[k] for k in down][:2] == ["line"] * 2 and kinds[down[-1]] == "surface"),
            below(name, "|v_z| in the step after each landing [m/s]", after, 1e-8)]  # fmt: skip


def disk_law(t: np.ndarray, tilt: float) -> np.ndarray:
    """Tilt [rad] of a thin Euler's disk: rolling about a centre at rest it has Ω² sin α = 4 g/r and the energy 3/2 m g r sin α, and the ground takes
    μ m g e_r ω_z with ω_z = Ω sin²α; so (sin α)^(−1/2) grows by 2/3 μ (e_r/r) √(g/r) per second."""
    rate = 2 / 3 * DISK.mu * DISK.ellipsoid[2] / COIN.radius_m * np.sqrt(GRAVITY / COIN.radius_m)
    return np.arcsin((np.sin(tilt) ** -0.5 + rate * t) ** -2)


def tilt(run: PatchRun) -> np.ndarray:
    return np.arccos(np.clip(run.axes[:, 2, 2], -1, 1))


def law_error(run: PatchRun) -> float:
    """Largest error of a disk's tilt over 1 s [rad] against the law."""
    at = run.t < 1
    return float(np.abs(tilt(run)[at] - disk_law(run.t[at], tilt(run)[0])).max())


def check_disks(disks: dict[float, PatchRun]) -> list[Check]:
    checks, errors = [], {}
    for h, run in disks.items():
        violations = run.violations()
        checks += [below("Euler's disk", f"equations and inequalities of the step, h = {h:g} s, relative", max(violations.values()), 1e-8),
                   below("Euler's disk", f"penetration, h = {h:g} s [m]", max(0.0, -float(run.height.min())), 1e-8)]  # fmt: skip
        energy = np.array([run.state(k).energy(run.world) for k in range(0, len(run.position), 10)])
        checks.append(
            below(
                "Euler's disk", f"energy gained between any two of its steps, h = {h:g} s [J]", max(0.0, float(np.diff(energy).max())), 1e-6
            )
        )
        errors[h] = law_error(run)
    coarse, fine = (errors[h] for h in sorted(errors, reverse=True))
    return [
        *checks,
        holds(
            "Euler's disk",
            "the law of spinning down is approached with h: error of α over 1 s [rad]",
            "falls",
            f"{coarse:.3f}, {fine:.3f}",
            fine < 0.7 * coarse,
        ),
    ]


def measure(lab: Laboratory, extra: bool = True) -> Measured:
    """Runs of the four scenarios, and with `extra` those of the disk and the stack; the checks."""
    slides = simulate(lab, "cube_slides", SLIDES, "cube", 430)
    rolls = simulate(lab, "cylinder_rolls", ROLLS, "cylinder", 1000)
    tumbles = simulate(lab, "cube_tumbles", TUMBLES, "cube", 400)
    manipulated = simulate(lab, "cylinder_manipulation", MANIPULATION, "cylinder", manipulation.STEPS)
    with np.errstate(all="ignore"):
        references = {
            "slides": slides.reference(430),
            "rolls": rolls.reference(1000),
            "tumbles": tumbles.reference(400),
            "manipulated": manipulated.reference(manipulation.STEPS),
        }
        m = Measured(slides, rolls, tumbles, manipulated, references)
        m.checks = [*check_slides(slides, references["slides"]), *check_rolls(rolls, references["rolls"]), *check_tumbles(tumbles, references["tumbles"]),
                    *check_manipulated(manipulated, references["manipulated"])]  # fmt: skip
        if extra:
            for h in DISK_STEPS_S:
                world = world_of(DISK.shape, DISK.mass, DISK.mu, h, DISK.ellipsoid)
                m.disks[h] = simulate(lab, "eulers_disk", world, "disk", round(DISK_ENDS_S / h), "--h", repr(h))
            m.checks += check_disks(m.disks)
            m.stack = run_steps(lab, "stack_tips", STACK_STEPS)
            m.checks += check_stack(m.stack)
    return m


def check_stack(run: SceneRun) -> list[Check]:
    """Before it tips everything is at rest, and moments by hand say where the boxes press: F z over the weight above."""
    name, weight, edge = "stack tips", 2 * GRAVITY, 0.15
    pushes = ((0.1, 5.0), (0.3, 10.0), (0.5, 12.5))
    ground, between = (run.between("lower", "ground", "point_W")[:, 0], run.between("upper", "lower", "point_W")[:, 0])
    wanted = [(F * 0.45 / (2 * weight), F * 0.15 / weight) for _, F in pushes]
    found = [(float(ground[round(t / 0.01)]), float(between[round(t / 0.01)])) for t, _ in pushes]
    moved = float(np.abs(run.position("upper")[:60] - run.position("upper")[0]).max())
    turned = 2 * np.degrees(np.arccos(np.clip(np.abs(run.quaternion("lower")[:, 0]), 0, 1)))
    return [holds(name, "every step solved", "Completed", run.summary["status"], run.summary["status"] == "Completed"),
            below(name, "moved before the push exceeds 13.07 N [m]", moved, 1e-8),
            *(near(name, f"points of ground and upper box at {F:g} N [m] (edge: {edge:g})", w, f, 1e-8) for (_, F), w, f in zip(pushes, wanted, found)),
            holds(name, "tips when pushed with 15 N [°]", "> 45", text_of(turned.max(), 1), bool(turned.max() > 45))]  # fmt: skip


def rivals() -> dict:
    """What `./run bench patch-contact` recorded: rows of position over time by who; {} if it was never run."""
    return {row["who"]: row for row in baseline("patch-contact").get("rows", []) if row["who"] != "deft"}
