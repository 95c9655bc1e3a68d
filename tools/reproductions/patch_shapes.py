"""Shapes above the plane z = 0 for the second opinion on patch contact: their lowest point, and the equations of each patch that can touch.

All functions of the pose are analytic, since derivatives are taken by complex steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N = np.array([0.0, 0.0, 1.0])


def cross(a, b):
    """a × b of complex or real 3-vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation(quat):
    """R_WB of a quaternion (w, x, y, z) that is a unit one; analytic, for complex steps."""
    w, x, y, z = quat
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A box with its centre at the origin of its frame."""

    size: tuple[float, float, float]

    @property
    def radius(self) -> float:
        return 0.5 * float(np.linalg.norm(self.size))

    def vertices(self):
        return 0.5 * np.array([[sx, sy, sz] for sx in (-1, 1) for sy in (-1, 1) for sz in (-1, 1)]) * np.array(self.size)

    def patches(self):
        """(name, indices of vertices): 8 points, 12 lines, 6 surfaces (in order around the face)."""
        corners = self.vertices() > 0
        found: list[tuple[str, tuple[int, ...]]] = [("point", (i,)) for i in range(8)]
        found += [("line", (i, j)) for i in range(8) for j in range(i + 1, 8) if (corners[i] != corners[j]).sum() == 1]
        for axis in range(3):
            for side in (False, True):
                on = [i for i in range(8) if corners[i][axis] == side]
                found.append(("surface", (on[0], on[1], on[3], on[2])))
        return found

    def lowest(self, x, R):
        return float((x[2] + self.vertices() @ R[2]).min())

    def outside(self, inside) -> float:
        """How far a point of the body's frame is out of the body [m]; negative inside."""
        return float((np.abs(inside) - 0.5 * np.array(self.size)).max())

    def depth(self, patch, x, R) -> float:
        """How far a patch is from the plane at a pose; only an order in which to try."""
        return float(np.abs((x[2] + self.vertices() @ R[2])[list(patch[1])]).max())

    def conditions(self, patch, x, R, a):
        """Of the equations of a patch all but friction (3), and what must be ≥ 0 for the point to be inside."""
        p = x + self.vertices()[list(patch[1])] @ R.T
        if patch[0] == "point":
            return np.array([p[0][2], a[0] - p[0][0], a[1] - p[0][1]]), np.zeros(0)
        along = p[1] - p[0]
        s = (a - p[0])[:2] @ along[:2] / (along[:2] @ along[:2])
        if patch[0] == "line":
            across = (a - p[0])[0] * along[1] - (a - p[0])[1] * along[0]
            return np.array([p[0][2], p[1][2], across]), np.array([s, 1 - s])
        other = p[3] - p[0]
        u = (a - p[0])[:2] @ other[:2] / (other[:2] @ other[:2])
        return np.array([p[0][2], p[1][2], p[3][2]]), np.array([s, 1 - s, u, 1 - u])


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z of its frame, centre at the origin."""

    radius_m: float
    length: float

    @property
    def radius(self) -> float:
        return float(np.hypot(self.radius_m, 0.5 * self.length))

    def patches(self):
        return [("point", (1,)), ("point", (-1,)), ("line", ()), ("surface", (1,)), ("surface", (-1,))]

    def rim(self, side, x, u):
        """The lowest point of the rim of the cap at side·u; not for an upright axis."""
        d = N - u * u[2]  # 0 if upright: no number comes out
        return x + side * 0.5 * self.length * u - self.radius_m * d / np.sqrt(d @ d)

    def lowest(self, x, R):
        u = R[:, 2]
        return float(x[2] - 0.5 * self.length * abs(u[2]) - self.radius_m * np.hypot(u[0], u[1]))

    def outside(self, inside) -> float:
        return max(float(np.hypot(inside[0], inside[1])) - self.radius_m, abs(float(inside[2])) - 0.5 * self.length)

    def depth(self, patch, x, R) -> float:
        u = R[:, 2]
        if patch[0] == "line":
            return float(abs(x[2] - self.radius_m) + abs(u[2]) * self.length / 2)
        side = patch[1][0]
        upside_down = 100 if side * u[2] > 0 else 0
        if patch[0] == "surface":
            return float(abs(x[2] - self.length / 2) + self.radius_m * np.hypot(u[0], u[1])) + upside_down
        return float(abs(self.rim(side, x, u)[2])) + upside_down

    def conditions(self, patch, x, R, a):
        u, r, half = R[:, 2], self.radius_m, 0.5 * self.length
        if patch[0] == "point":
            side = patch[1][0]
            p = self.rim(side, x, u)
            return np.array([p[2], a[0] - p[0], a[1] - p[1]]), np.array([-side * u[2]])
        if patch[0] == "line":
            d = (a - x)[:2]
            s = d @ u[:2]
            return np.array([x[2] - r, half * u[2], d[0] * u[1] - d[1] * u[0]]), np.array([0.5 + s / self.length, 0.5 - s / self.length])
        side = patch[1][0]
        d = (a - x)[:2]
        return np.array([x[2] - half, r * u[0], r * u[1]]), np.array([-side * u[2], 1 - np.sqrt(d @ d) / r])


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid with its axes along those of its frame; it touches in one point."""

    radii: tuple[float, float, float]

    @property
    def radius(self) -> float:
        return max(self.radii)

    def patches(self):
        return [("point", ())]

    def support(self, x, R):
        """The lowest point: x − R D² Rᵀn/‖D Rᵀn‖."""
        d = np.array(self.radii) * R[2]
        return x - R @ (np.array(self.radii) * d) / np.sqrt(d @ d)

    def lowest(self, x, R):
        return float(x[2] - np.linalg.norm(np.array(self.radii) * R[2]))

    def outside(self, inside) -> float:
        return float((np.linalg.norm(inside / np.array(self.radii)) - 1) * min(self.radii))

    def conditions(self, patch, x, R, a):
        p = self.support(x, R)
        return np.array([p[2], a[0] - p[0], a[1] - p[1]]), np.zeros(0)

    def depth(self, patch, x, R) -> float:
        return abs(self.lowest(x, R))
