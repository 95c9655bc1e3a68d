#!/usr/bin/env python3
"""Writes the joint commands of scenes/pick_and_place: offline inverse kinematics of a hand-written list of gripper poses.

    python tools/pick_and_place_ik.py            rewrite the scene
    python tools/pick_and_place_ik.py --check    only tell whether it is up to date (exit 1 if not)

Between two way points the pads move on a straight line, one knot every 0.4 s, so that steps of 0.1 s and of 0.4 s meet all of
them. The redundant joint 3 is held at 0. The springs of the joints deflect under the weight of the cube by a few
millimetres; the command ends where the cube lies flat on the stack, so that there the stack carries all of the weight, the
springs are relaxed and letting go moves nothing. A step of the simulation moves sticking bodies along the tangents of the
arcs on which the joints carry them, so the cube creeps in the grip by about (path per step)^2 / (2 x 0.5 m); loaded knots are
therefore close together.
"""

import argparse
import re
import sys
from dataclasses import dataclass

import numpy as np
from robot_data import DATA_FILE, expand_model, forward_kinematics, load_data

SCENE = DATA_FILE.parent.parent / "pick_and_place" / "scene.deft.yaml"
KNOT_PERIOD_S = 0.4
PADS_FROM_LINK_7 = 0.045 + 0.09  # flange, then pad centres [m]
JOINTS = [f"iiwa_joint_{i}" for i in range(1, 8)]
R_WG = np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]], float)  # gripper: fingers along world y, pointing down

GRASP_HEIGHT = 0.01  # pad centres above the centre of the red cube [m]
OPEN, TOUCH, SQUEEZE = 0.05, 0.03, 0.01  # finger positions [m]: squeezing commands 20 mm into the cube, 20 N at 1000 N/m
PICK = np.array([0.55, 0.0, 0.03])  # centre of the red cube at the start [m]
PLACE = np.array([0.45, 0.2, 0.15 + 0.03])  # its centre on the stack of 0.15 m
CARRY_HEIGHT = PLACE[2] + GRASP_HEIGHT + 0.015  # of the pad centres [m]
CARRY_STEP = 0.01  # distance between knots while the cube is carried [m]


@dataclass
class WayPoint:
    """Reach the pad centre p_W [m] and finger position [m] after `duration` [s], a multiple of the knot period; 0: as carrying allows."""

    duration: float
    p_W: np.ndarray
    finger: float

    def knots_from(self, before: "WayPoint") -> int:
        """Number of knots on the way here."""
        return round(self.duration / KNOT_PERIOD_S) or max(1, int(np.ceil(np.linalg.norm(self.p_W - before.p_W) / CARRY_STEP - 1e-9)))


def way_points() -> list[WayPoint]:
    """The motion, in the order of its doing."""
    up, hold = np.array([0, 0, 1.0]), np.array([0, 0, GRASP_HEIGHT])
    pick, place = PICK + hold, PLACE + hold
    return [
        WayPoint(0.0, np.array([0.50, 0.1, 0.30]), OPEN),
        WayPoint(2.0, pick + 0.10 * up, OPEN),
        WayPoint(2.0, pick, OPEN),
        WayPoint(0.8, pick, TOUCH + 0.004),
        WayPoint(0.8, pick, TOUCH),
        WayPoint(0.8, pick, SQUEEZE),
        WayPoint(0.0, np.append(pick[:2], CARRY_HEIGHT), SQUEEZE),
        WayPoint(0.0, np.append(place[:2], CARRY_HEIGHT), SQUEEZE),
        WayPoint(0.0, place + 0.005 * up, SQUEEZE),
        WayPoint(1.6, place, SQUEEZE),
        WayPoint(0.8, place, TOUCH),
        WayPoint(0.8, place, TOUCH + 0.004),
        WayPoint(0.8, place, OPEN),
        WayPoint(1.6, place + 0.12 * up, OPEN),
        WayPoint(2.0, place + 0.12 * up, OPEN),
    ]


def gripper_pose(bodies, q: np.ndarray) -> np.ndarray:
    """X_WG [4x4] of the frame between the pads at arm joints q [7]."""
    X = forward_kinematics(bodies, dict(zip(JOINTS, q)))["iiwa_link_7"].copy()
    X[:3, 3] += PADS_FROM_LINK_7 * X[:3, 2]
    return X


def residual(bodies, q: np.ndarray, p_W: np.ndarray) -> np.ndarray:
    """[7]: rotation error [rad], position error [m] and joint 3 [rad]; zero at the solution."""
    X = gripper_pose(bodies, q)
    E = R_WG @ X[:3, :3].T
    return np.concatenate([[E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]], 2 * (p_W - X[:3, 3]), [-2 * q[2]]]) / 2


def solve(bodies, q: np.ndarray, p_W: np.ndarray) -> np.ndarray:
    """Joints [7] that put the pads at p_W, pointing down: damped least squares from q, the damping fading with the residual."""
    for _ in range(100):
        r = residual(bodies, q, p_W)
        if np.linalg.norm(r) < 1e-11:
            break
        J = np.column_stack([(residual(bodies, q + d, p_W) - residual(bodies, q - d, p_W)) / 2e-6 for d in 1e-6 * np.eye(7)])
        damping = 1e-2 * min(1.0, float(r @ r))
        q = q - np.linalg.solve(J.T @ J + damping * np.eye(7), J.T @ r)
    limits = np.array([body.joint.limits for body in bodies if body.joint])
    if np.linalg.norm(r) > 1e-9 or np.any(q < limits[:, 0]) or np.any(q > limits[:, 1]):
        raise RuntimeError(
            f"no joint angles within the limits for the pads at {p_W}: residual {np.linalg.norm(r):.1e}, joints {np.round(q, 3)}"
        )
    return q


def joint_knots() -> list[tuple[float, np.ndarray, float]]:
    """(time [s], arm joints [7], finger position [m]) every KNOT_PERIOD_S."""
    bodies = expand_model(load_data(), "iiwa7")
    points = way_points()
    q = solve(bodies, np.array([0.0, 0.5, 0.0, -1.6, 0.0, 1.0, 1.5]), points[0].p_W)
    knots, t = [(0.0, q, points[0].finger)], 0.0
    for a, b in zip(points, points[1:]):
        n = b.knots_from(a)
        for i in range(1, n + 1):
            s, t = i / n, t + KNOT_PERIOD_S
            q = solve(bodies, q, (1 - s) * a.p_W + s * b.p_W)
            knots.append((t, q, (1 - s) * a.finger + s * b.finger))
    return knots


def numbers(values, digits: int) -> str:
    return "[" + ", ".join(f"{v + 0.0:.{digits}f}".rstrip("0").rstrip(".") for v in np.where(np.abs(values) < 1e-10, 0.0, values)) + "]"


def write_scene(text: str, knots) -> str:
    """The scene's text with start joints and commands replaced."""
    arm, fingers = [numbers(q, 9) for _, q, _ in knots], [numbers([f, f], 6) for _, _, f in knots]
    text = re.sub(r"^    iiwa: \[.*$", f"    iiwa: {arm[0]}  # (ik)", text, flags=re.M)
    text = re.sub(r"^    gripper: \[.*$", f"    gripper: {fingers[0]}  # (ik)", text, flags=re.M)
    head = text[: text.index("commands:")]
    lines = [f"    - {{t: {t:.1f}, iiwa: {a}, gripper: {f}}}" for (t, _, _), a, f in zip(knots, arm, fingers)]
    return head + "commands:  # (ik) everything below\n  interpolation: linear\n  knots:\n" + "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if the scene is out of date")
    check = parser.parse_args().check
    knots, old = joint_knots(), SCENE.read_text()
    new = write_scene(old, knots)
    if new != old and not check:
        SCENE.write_text(new)
    print(
        f"{len(knots)} knots, {knots[-1][0]:.1f} s, {'unchanged' if new == old else 'out of date' if check else 'rewritten'}",
        file=sys.stderr,
    )
    return int(check and new != old)


if __name__ == "__main__":
    sys.exit(main())
