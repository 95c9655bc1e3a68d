#!/usr/bin/env python3
"""Designs the torques of scenes/patch_contact/cylinder_manipulation: a steel cylinder is toppled, rolled, pivoted past two obstacles, rolled on, set upright.

Usage: patch_manipulation.py        prints the `wrenches:` of the scene

A controller steers the reference model (patch_reference); its torques, held for 0.04 s each and rounded to 1 N m s⁻¹ · 1e-3, are the impulse history, which the
scene then applies without looking. Only torques: rolling friction does the rest. Tilted on a rim point P the body has ω without a part along the normal (the
friction ellipsoid of e_r = 1 m holds that), so the wanted direction of its axis u gives ω = (−u̇_y, u̇_x, 0)/u_z, and the torque follows from Newton and Euler
with the force of P that rolling needs. On the way round the body stands on its rim in balance, COM above P, and rolls along the rim in a half circle: the
axis turns by 180° and the body moves 0.55 m aside, past the corner of the first obstacle and in front of the gap between the two.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

if __package__:
    from .patch_reference import State, World, advance
    from .patch_shapes import Cylinder, N, rotation
else:
    import sys

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from reproductions.patch_reference import State, World, advance
    from reproductions.patch_shapes import Cylinder, N, rotation

H, MASS, LENGTH, RADIUS, MU = 0.01, 75.0, 0.3, 0.1, 0.8
ALONG, ACROSS = MASS * RADIUS**2 / 2, MASS * (RADIUS**2 / 4 + LENGTH**2 / 12)
CYLINDER = Cylinder(RADIUS, LENGTH)
WORLD = World(CYLINDER, MASS, (ACROSS, ACROSS, ALONG), MU, H)
START = State(np.array([0, 0, LENGTH / 2]), np.array([1.0, 0, 0, 0]), np.zeros(3), np.zeros(3))
STEPS = 500
# Boxes on the ground: centre and size [m].
OBSTACLES = {"obstacle_a": ((0.62, 0.2, 0.1), (0.1, 0.6, 0.2)), "obstacle_b": ((0.62, -0.75, 0.1), (0.1, 0.4, 0.2))}

TOPPLE, ROLL, ON = (0.0, 0.2), (0.6, 1.3), (2.9, 3.6)  # [s]; of rolling: from the push to the end of the brake
PIVOT, LIFT = (1.3, 2.75), (3.6, 4.3)
PHASES = {"topple": 0.0, "roll": 0.6, "pivot": 1.3, "roll on": 2.75, "lift": 3.6, "stand": 4.8}
TOPPLE_NM, ROLL_NM, PUSH_S, HOLD = 115.0, (45.0, 60.0), 0.2, 4  # HOLD: steps for which a torque of pivot and lift is held
# Tilt of the axis against the vertical: while it turns (in balance: 33.7°), and at the end of the lift.
UPRIGHT, LET_GO = np.radians(38), np.radians(25)
RISE_S, GAIN = 0.5, 5.0


def smooth(t, begin, end):
    """From 0 to 1, twice differentiable."""
    s = np.clip((t - begin) / (end - begin), 0, 1)
    return s**3 * (10 - 15 * s + 6 * s * s)


def axis(tilt, heading):
    """u: tilted by `tilt` from the vertical towards +y turned by `heading` towards −x."""
    return np.array([-np.sin(tilt) * np.sin(heading), np.sin(tilt) * np.cos(heading), np.cos(tilt)])


def pivoting(t):
    """The wanted u of the pivot: up into balance, half a turn, down."""
    begin, end = PIVOT
    up = smooth(t, begin, begin + RISE_S) - smooth(t, end - RISE_S, end)
    return axis(np.pi / 2 - (np.pi / 2 - UPRIGHT) * up, np.pi * smooth(t, begin + 0.6 * RISE_S, end - 0.6 * RISE_S))


def lifting(t):
    return axis(np.pi / 2 - (np.pi / 2 - LET_GO) * smooth(t, *LIFT), np.pi)


def steering(s: State, path, t: float) -> np.ndarray:
    """Torque [N m], to be held from t on, that moves the axis along the path."""
    T, I = HOLD * H, rotation(s.quat) @ np.diag(WORLD.inertia) @ rotation(s.quat).T
    u = rotation(s.quat)[:, 2]
    arm = CYLINDER.rim(-1, s.x, u) - s.x
    rate = (path(t + T) - path(t)) / T + GAIN * (path(t) - u)
    omega = np.array([-rate[1], rate[0], 0]) / u[2] if abs(u[2]) > 0.05 else np.cross(u, rate) * [1, 1, 0]
    force = MASS * (-np.cross(omega, arm) - s.v) / T + MASS * WORLD.gravity * N
    return I @ (omega - s.omega) / T + np.cross(s.omega, I @ s.omega) - np.cross(arm, force)


def design():
    """@returns the wrenches [(from, to, torque)], and the states of the reference under them."""
    wrenches: list[tuple[float, float, np.ndarray]] = [(*TOPPLE, np.array([-TOPPLE_NM, 0, 0]))]
    states = [START]
    for k in range(STEPS):
        s, t = states[-1], round(k * H, 9)
        for (begin, end), torque in zip((ROLL, ON), ROLL_NM):
            if t == begin:
                wrenches.append((t, round(t + PUSH_S, 9), np.array([0, torque, 0])))
            if t == round(end - PUSH_S, 9):  # what stops it
                wrenches.append((t, end, np.array([0, -(ALONG + MASS * RADIUS**2) * s.omega[1] / PUSH_S, 0]).round(3)))
        for (begin, end), path in ((PIVOT, pivoting), (LIFT, lifting)):
            if begin <= t < end and round((t - begin) / H) % HOLD == 0:
                wrenches.append((t, round(t + HOLD * H, 9), steering(s, path, t).round(3)))
        states.append(advance(WORLD, s, angular=H * sum((w for begin, end, w in wrenches if begin <= t < end), np.zeros(3))))
    return wrenches, states


def clearance(states) -> dict[str, float]:
    """Least distance of the cylinder's surface (sampled) to each obstacle [m]."""
    angle = np.linspace(0, 2 * np.pi, 97)
    side = np.array([[RADIUS * np.cos(a), RADIUS * np.sin(a), z] for a in angle for z in np.linspace(-LENGTH / 2, LENGTH / 2, 31)])
    caps = np.array(
        [[f * RADIUS * np.cos(a), f * RADIUS * np.sin(a), z] for a in angle for f in (0.25, 0.5, 0.75) for z in (-LENGTH / 2, LENGTH / 2)]
    )
    points, found = np.vstack([side, caps]), {}
    for name, (centre, size) in OBSTACLES.items():
        out = [
            np.linalg.norm(np.maximum(np.abs(s.x + points @ rotation(s.quat).T - centre) - np.array(size) / 2, 0), axis=1).min()
            for s in states
        ]
        found[name] = float(min(out))
    return found


if __name__ == "__main__":
    done, run = design()
    print("wrenches:")
    for begin, end, torque in done:
        print(f"  - {{body: cylinder, torque_W: [{', '.join(f'{x + 0.0:g}' for x in torque)}], from: {begin:g}, to: {end:g}}}")
    print("clearance", clearance(run), file=sys.stderr)
    last = None
    for k, s in enumerate(run):
        if s.mode != last or k % 25 == 0:
            print(k, s.mode, s.x.round(4), "u", rotation(s.quat)[:, 2].round(3), "v", s.v.round(3), "w", s.omega.round(3), file=sys.stderr)
        last = s.mode
