"""Loads of supports under uniform pressure, by integrals along their boundary.

D(V) = (μN/|S|) ∫_S |v + ω e×r| dA, F = D ∇D. About the centre of rotation c, ϱ = r − c, dφ = ϱ×dr/|ϱ|²:
∫|ϱ| dA = ∮ |ϱ|³/3 dφ and ∫ϱ̂ dA = ∮ ϱ̂|ϱ|²/2 dφ. Slow turns are integrated over the area instead.
"""

from __future__ import annotations

import math

import numpy as np

# Gauss's rule on [0, 1] with nodes drawn towards 0 (s = x⁴), where an edge comes near the centre of rotation.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(60)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
NODES, WEIGHTS = NODES**4, 4 * NODES**3 * WEIGHTS


class Support:
    """A patch `{square | rectangle | disc | polygon}` with friction `mu` under the load `force` [N]."""

    def __init__(self, text: dict, weight: float):
        shape = text["support"]
        self.radius = None
        if "disc" in shape:
            self.radius = float(shape["disc"])
            self.area, self.size = math.pi * self.radius**2, self.radius
        else:
            if "polygon" in shape:
                self.corners = np.array(shape["polygon"], float)
            else:
                x, y = [shape["square"]] * 2 if "square" in shape else shape["rectangle"]
                self.corners = np.array([[-x, -y], [x, -y], [x, y], [-x, y]]) / 2
            d, e = self.corners, np.roll(self.corners, -1, axis=0)
            signed = 0.5 * (d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0]).sum()
            self.corners = self.corners if signed > 0 else self.corners[::-1]
            self.area, self.size = abs(signed), np.abs(self.corners).max()
        self.load = float(text["mu"]) * float(text.get("force", weight))

    def _pieces(self):
        """Boundary as functions of an array s in [0, 1] → (r, dr/ds), 2 × len(s)."""
        if self.radius is not None:
            for k in range(4):
                yield lambda s, k=k: (
                    self.radius * np.array([np.cos((k + s) * np.pi / 2), np.sin((k + s) * np.pi / 2)]),
                    self.radius * np.pi / 2 * np.array([-np.sin((k + s) * np.pi / 2), np.cos((k + s) * np.pi / 2)]),
                )
        else:
            for p, q in zip(self.corners, np.roll(self.corners, -1, axis=0), strict=True):
                yield lambda s, p=p, q=q: (p[:, None] + (q - p)[:, None] * s, (q - p)[:, None] * np.ones_like(s))

    def dissipation(self, V: np.ndarray):
        """D(V) [W] and ∇D [N, N, Nm] at the body twist V = (v_x, v_y, ω)."""
        v, w = np.array(V[:2], float), float(V[2])
        if abs(w) * self.size <= 1e-2 * np.hypot(*v):
            return self._slow_turn(v, w)
        c = np.array([-v[1], v[0]]) / w  # v + ω e×(c) = 0
        lengths = np.zeros(3)  # ∫|ϱ|, ∫ϱ̂
        for piece in self._pieces():
            samples = np.linspace(0, 1, 65)
            nearest = samples[np.argmin(np.hypot(*(piece(samples)[0] - c[:, None])))]
            for a, b in ((nearest, 0.0), (nearest, 1.0)):
                s, weight = a + (b - a) * NODES, np.abs(b - a) * WEIGHTS
                r, dr = piece(s)
                rho = r - c[:, None]
                far = np.maximum(np.hypot(*rho), 1e-300)
                turned = weight * (rho[0] * dr[1] - rho[1] * dr[0])
                lengths += [turned @ far / 3, turned @ (rho[0] / far) / 2, turned @ (rho[1] / far) / 2]
        moment, mean = lengths[0], lengths[1:]
        sign, scale = math.copysign(1, w), self.load / self.area
        force = sign * np.array([-mean[1], mean[0]])  # e×ϱ̂
        torque = sign * (c @ mean + moment)
        return scale * abs(w) * moment, scale * np.array([*force, torque])

    def _slow_turn(self, v: np.ndarray, w: float):
        points, weights = self._area_rule()
        motion = v + w * np.column_stack([-points[:, 1], points[:, 0]])
        speed = np.hypot(motion[:, 0], motion[:, 1])
        if np.hypot(*v) == 0:
            return 0.0, np.zeros(3)
        unit = motion / speed[:, None]
        scale = self.load / self.area
        torque = points[:, 0] * unit[:, 1] - points[:, 1] * unit[:, 0]
        return scale * weights @ speed, scale * np.array([weights @ unit[:, 0], weights @ unit[:, 1], weights @ torque])

    def _area_rule(self, n: int = 24):
        x, wx = np.polynomial.legendre.leggauss(n)
        x, wx = (x + 1) / 2, wx / 2
        points, weights = [], []
        if self.radius is not None:
            for r, wr in zip(x, wx, strict=True):
                for k in range(4 * n):
                    a = 2 * math.pi * k / (4 * n)
                    points.append(self.radius * r * np.array([math.cos(a), math.sin(a)]))
                    weights.append(wr * self.radius**2 * r * 2 * math.pi / (4 * n))
        else:
            o = self.corners[0]
            for p, q in zip(self.corners[1:-1], self.corners[2:], strict=True):
                area2 = (p - o)[0] * (q - o)[1] - (p - o)[1] * (q - o)[0]
                for a, wa in zip(x, wx, strict=True):
                    for b, wb in zip(x, wx, strict=True):
                        points.append(o + a * ((p - o) + b * (q - p)))
                        weights.append(wa * wb * a * area2)
        return np.array(points), np.array(weights)

    def driving(self, V: np.ndarray) -> np.ndarray:
        """The load F = D(V) ∇D(V) that drives the body twist V."""
        D, slope = self.dissipation(V)
        return D * slope
