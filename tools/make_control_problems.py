#!/usr/bin/env python3
"""Writes the control problems of scenes/control: systems with contact, a start, a goal, weights and bounds (`deft solve FILE`).

usage: python tools/make_control_problems.py [FOLDER]      (scenes/control if missing)
"""

import json
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]


def matrix(values):
    values = np.atleast_2d(np.asarray(values, float))
    return {"rows": values.shape[0], "cols": values.shape[1], "data": [tidy(v) for v in values.ravel()]}


def tidy(value):
    """Whole numbers as such, so that people can read the file."""
    return int(value) if value == int(value) else float(value)


def vector(values):
    return [v if isinstance(v, str) else tidy(v) for v in values]


def problem(name, source, system, **fields):
    head = {"format": "deft-problem", "version": 1, "kind": "lcs_mpc", "name": name, "source": source}
    return head | {key: vector(v) if np.ndim(v) == 1 else matrix(v) for key, v in system.items()} | fields


def write(folder, document):
    lines = ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items())
    (folder / f"{document['name']}.json").write_text(f"{{\n{lines}\n}}\n")


def corner(steps):
    """A disc of radius 0.6 m and 1 kg without gravity among a bevel y = x, a floor y = -5 and a wall x = 5, step 0.1 s, friction 0.8."""
    h, mu, root = 0.1, 0.8, np.sqrt(0.5)
    normals = np.array([[root, -root], [0, 1], [-1, 0]])
    tangents = np.array([[root, root], [1, 0], [0, 1]])
    offsets = np.array([-0.6, 4.4, 4.4])
    directions = np.vstack([normals, *(np.vstack([t, -t]) for t in tangents)]).T  # of c and beta
    two, zero = np.eye(2), np.zeros((2, 2))
    C = np.zeros((4, 12))
    C[:2, :9], C[2:, :9] = h * directions, directions
    D, E, alpha = np.zeros((12, 4)), np.zeros((12, 12)), np.zeros(12)
    D[:3, :2], alpha[:3] = normals, offsets
    D[3:9, 2:] = directions[:, 3:].T
    for i in range(3):
        E[3 + 2 * i : 5 + 2 * i, 9 + i] = 1
        E[9 + i, 3 + 2 * i : 5 + 2 * i] = -1
        E[9 + i, i] = mu
    system = {"A": np.block([[two, h * two], [zero, two]]), "B": np.vstack([h * h * two, h * two]), "C": C, "D": D, "E": E, "alpha": alpha}
    return problem(
        f"corner_n{steps}",
        "Introduction to 2D frictional contact model: contact MPC as a mixed-integer quadratic program",
        system,
        N=steps,
        Q=matrix(np.eye(4)),
        R=matrix(10 * np.eye(2)),
        Qf=matrix(np.eye(4)),
        x0=[-2, -4, 0, 0],
        x_goal=[3, -5, 0, 0],
        x_min=[-5, -5, -1, -1],
        x_max=[5, 5, 1, 1],
        u_min=[-1, -1],
        u_max=[1, 1],
    )


def cart_pole():
    """A pole on a cart whose tip moves between two elastic walls, linearised about upright.

    m_c a + m_p (a + L b) = u + f, m_p L (a + L b) = m_p g L theta + f l, with the walls' force f = gamma_left - gamma_right and
    gamma = k max(0, tip - d) on the right, tip = x + l theta. State x, theta, and their rates.
    """
    cart, pole, mass_at, tip_at, gravity, wall, stiffness, h = 0.978, 0.411, 0.4267, 0.6, 9.81, 0.35, 100.0, 0.02
    rates = np.zeros((4, 4))
    rates[0, 2] = rates[1, 3] = 1
    rates[2, 1] = -pole * gravity / cart
    rates[3, 1] = gravity * (cart + pole) / (cart * mass_at)
    push = np.array([0, 0, 1 / cart, -1 / (cart * mass_at)])
    slope = (1 - tip_at / mass_at) / cart  # acceleration of the cart by a force on the tip
    tip = np.array([0, 0, slope, (tip_at / (pole * mass_at) - slope) / mass_at])
    E = np.eye(2) / stiffness
    D = np.array([[-1, -tip_at, 0, 0], [1, tip_at, 0, 0]])
    system = {
        "A": np.eye(4) + h * rates,
        "B": h * push[:, None],
        "C": h * np.column_stack([-tip, tip]),
        "D": D,
        "E": E,
        "alpha": [wall, wall],
    }
    return problem(
        "cart_pole_walls",
        "a cart-pole between soft walls, as in the literature on control of linear complementarity systems",
        system,
        N=10,
        Q=matrix(np.diag([10, 3, 1, 1])),
        R=matrix([[0.1]]),
        Qf=matrix(np.diag([100, 100, 10, 10])),
        x0=[0.15, 0.2, 0.5, 1.5],
        x_goal=[0, 0, 0, 0],
        x_min=[-1, -0.8, -5, -10],
        x_max=[1, 0.8, 5, 10],
        u_min=[-10],
        u_max=[10],
    )


def push_block():
    """A finger pushes a block along a line against friction; both inelastic, step 0.1 s. State: finger, block [m], their velocities."""
    h, finger, block, mu, gravity = 0.1, 0.5, 1.0, 0.3, 9.81
    # Pairs: normal impulse, friction ahead, friction back, sliding speed.
    impulse = np.array([[-1 / finger, 0, 0, 0], [1 / block, 1 / block, -1 / block, 0]])
    A = np.eye(4)
    A[0, 2] = A[1, 3] = h
    B = np.array([h * h / finger, 0, h / finger, 0])[:, None]
    D, E = np.zeros((4, 4)), np.zeros((4, 4))
    D[0, :2], D[1, 3], D[2, 3] = [-1, 1], 1, -1
    E[1, 3] = E[2, 3] = 1
    E[3, 1] = E[3, 2] = -1
    system = {"A": A, "B": B, "C": np.vstack([h * impulse, impulse]), "D": D, "E": E, "alpha": [0, 0, 0, mu * block * gravity * h]}
    return problem(
        "push_block",
        "a finger that pushes a block and stops it by friction",
        system,
        N=12,
        Q=matrix(np.diag([0, 10, 0, 0.1])),
        R=matrix([[0.01]]),
        Qf=matrix(np.diag([0, 100, 0, 1])),
        x0=[-0.1, 0, 0, 0],
        x_goal=[0, 0.3, 0, 0],
        x_min=[-1, -1, -2, -2],
        x_max=[1, 1, 2, 2],
        u_min=[-20],
        u_max=[20],
    )


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "scenes" / "control"
    folder.mkdir(parents=True, exist_ok=True)
    for document in (corner(5), corner(10), corner(20), cart_pole(), push_block()):
        write(folder, document)


if __name__ == "__main__":
    main()
