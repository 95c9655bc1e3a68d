"""Images of a scene without display, server or graphics driver (`pip install deft-contact[gym]`).

    picture = deft.render.Renderer(scene).render(q)          # (240, 320, 3) uint8

Rays are traced by Embree (the wheel embreex) on one core: triangles of all shapes, as the page draws them, lit from two sides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene

from . import _core
from ._scene import Scene

_COLOURS = {"robot": (0.55, 0.63, 0.74), "object": (0.86, 0.42, 0.24), "fixed": (0.78, 0.78, 0.76), "world": (0.86, 0.86, 0.84)}
_ROLES = list(_COLOURS)
_BACKGROUND = np.array([0.96, 0.97, 0.98], dtype=np.float32)
_LIGHTS = (((-0.35, 0.6, 0.72), 0.6), ((0.7, 0.1, 0.7), 0.2))  # towards each (right, up, to the eye), and its strength
_AMBIENT = 0.3
_VIEWS = ((0.75, -1, 0.7), (-0.75, -1, 0.7), (-0.75, 1, 0.7), (0.75, 1, 0.7))  # towards the eye, the first of the best
_FRONT = {"xy": ((0, 0, 1), (0, 1, 0)), "xz": ((0, -1, 0), (0, 0, 1)), "yz": ((1, 0, 0), (0, 0, 1))}  # of planar scenes, and up
_GROUND = 3.0  # half the side of what is drawn of a half-space [m]
_CHECKER = 0.1  # side of its squares [m]


class Renderer:
    """Pictures of one scene, width × height pixels.

    camera: {"eye": [3], "target": [3], "up": [3], "fov": degrees (vertical)}; what is left out is chosen so that robots and objects
    are seen at the start, planar scenes from the front.
    """

    def __init__(self, scene: Scene, width: int = 320, height: int = 240, camera: Mapping[str, Any] | None = None):
        if width < 1 or height < 1:
            raise ValueError(f"width, height: {width} × {height}; valid: 1 or more")
        self.scene, self.width, self.height = scene, width, height
        drawn = json.loads(_core.visual_json(scene._core))
        corners, normals, colours, bodies, grounds = [], [], [], [], []
        for k, body in enumerate(drawn["bodies"]):
            for part in body["visuals"] or body["collisions"]:
                points, directions, painted = _triangles(part["shape"])
                R, p = _pose(part["X_BG"])
                corners.append(points @ R.T + p)
                normals.append(directions @ R.T)
                plain = np.array(part.get("rgba", _COLOURS[body["role"]])[:3])
                colours.append(np.broadcast_to(plain, (len(points), 3)) if painted is None else painted)
                bodies.append(np.full(len(points), k))
                grounds.append(np.full(len(points), part["shape"]["type"] == "half_space"))
        if not corners:
            raise ValueError("scene: nothing of it can be drawn")
        self._corners, self._normals, self._colours = (
            np.concatenate(corners),
            np.concatenate(normals),
            np.concatenate(colours).astype(np.float32),
        )
        self._body, self._is_ground = np.concatenate(bodies), np.concatenate(grounds)
        self._role = np.array([_ROLES.index(body["role"]) for body in drawn["bodies"]])[self._body]
        self._look(drawn["plane"], dict(camera or {}))

    def _placed(self, q: Any) -> tuple[np.ndarray, np.ndarray]:
        """Corners and normals of all triangles in the world."""
        X = np.array([np.eye(4) if k == 0 else self.scene.body_pose(q, name) for k, name in enumerate(self.scene.bodies)])
        R, p = X[self._body, :3, :3], X[self._body, :3, 3]
        return np.einsum("tij,tcj->tci", R, self._corners) + p[:, None], np.einsum("tij,tcj->tci", R, self._normals)

    def _look(self, plane: str | None, camera: dict[str, Any]) -> None:
        """Sets the camera."""
        unknown = [name for name in camera if name not in ("eye", "target", "up", "fov")]
        if unknown:
            raise ValueError(f"camera: {unknown[0]!r} is unknown; valid: eye, target, up, fov")
        seen = self._placed(self.scene.q())[0][~self._is_ground].reshape(-1, 3)
        low, high = (seen.min(0), seen.max(0)) if len(seen) else (-np.ones(3), np.ones(3))
        front, up = _FRONT.get(plane or "", (None, (0, 0, 1)))
        fov = np.radians(float(camera.get("fov", 35)))
        upward = np.array(camera.get("up", up), dtype=float)
        target = np.array(camera.get("target", (low + high) / 2), dtype=float)
        away = 0.55 * np.linalg.norm(high - low) / np.tan(fov / 2)

        def aim(towards: Any, width: int, height: int) -> None:
            eye = np.array(camera.get("eye", target + away * np.array(towards) / np.linalg.norm(towards)), dtype=float)
            self._frame, self._directions = _rays(eye, target, upward, fov, width, height)
            self._origins = np.broadcast_to(eye.astype(np.float32), self._directions.shape).copy()

        views = [front] if front else list(_VIEWS)
        if len(views) > 1 and "eye" not in camera:
            shown = []  # by how much of robots and objects is seen, whichever is less
            for view in views:
                aim(view, 64, 48)
                hit = self._trace(self._placed(self.scene.q())[0])["primID"]
                roles = self._role[hit[hit >= 0]]
                shown.append(min(np.count_nonzero(roles == _ROLES.index(role)) for role in ("robot", "object")))
            views = [views[int(np.argmax(np.array(shown) >= 0.8 * max(shown)))]]
        aim(views[0], self.width, self.height)

    def _trace(self, corners: np.ndarray) -> dict[str, np.ndarray]:
        """What the rays meet first."""
        traced = EmbreeScene()
        mesh = TriangleMesh(traced, np.ascontiguousarray(corners, dtype=np.float32))  # noqa: F841  # lives as long as the scene
        return traced.run(self._origins, self._directions, output=1)

    def render(self, q: Any) -> np.ndarray:
        """The scene at q, (height, width, 3) uint8."""
        corners, normals = self._placed(q)
        hit = self._trace(corners)
        pixels = np.broadcast_to(_BACKGROUND, (len(self._directions), 3)).copy()
        rows = np.flatnonzero(hit["primID"] >= 0)
        triangle, u, v = hit["primID"][rows], hit["u"][rows, None], hit["v"][rows, None]
        n = normals.astype(np.float32)[triangle]
        n = (1 - u - v) * n[:, 0] + u * n[:, 1] + v * n[:, 2]
        n /= np.maximum(np.linalg.norm(n, axis=1, keepdims=True), 1e-12)
        n[np.einsum("ij,ij->i", n, self._directions[rows]) > 0] *= -1  # towards the eye
        light = np.full(len(rows), _AMBIENT, dtype=np.float32)
        for towards, strength in _LIGHTS:
            light += strength * np.maximum(n @ (np.array(towards) @ self._frame).astype(np.float32), 0)
        colour = self._colours[triangle]
        ground = np.flatnonzero(self._is_ground[triangle])
        points = self._origins[0] + hit["tfar"][rows[ground], None] * self._directions[rows[ground]]
        dark = np.floor(points / _CHECKER + 1e-4).sum(1) % 2 == 0
        colour[ground[dark]] *= 0.93
        pixels[rows] = colour * light[:, None]
        return (np.clip(pixels, 0, 1) * 255).astype(np.uint8).reshape(self.height, self.width, 3)


def _rays(eye: np.ndarray, target: np.ndarray, up: np.ndarray, fov: float, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Axes of a camera (rows: right, up, to the eye), and the directions of its rays, (height · width, 3)."""
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, up)
    if np.linalg.norm(right) < 1e-9:
        raise ValueError("camera: up is along the view")
    right /= np.linalg.norm(right)
    above, half = np.cross(right, forward), np.tan(fov / 2)
    x = (np.arange(width) + 0.5 - width / 2) * 2 * half / height
    y = (height / 2 - np.arange(height) - 0.5) * 2 * half / height
    rays = forward + x[None, :, None] * right + y[:, None, None] * above
    rays = rays / np.linalg.norm(rays, axis=-1, keepdims=True)
    return np.array([right, above, -forward]), rays.reshape(-1, 3).astype(np.float32)


def _pose(X: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of [qw, qx, qy, qz, x, y, z]."""
    w, x, y, z = X[:4]
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ), np.array(X[4:])


def _triangles(shape: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Corners and normals of a shape's triangles, (n, 3, 3) both, and their colours, (n, 3), where it has some."""
    kind = shape["type"]
    if kind == "mesh":
        indices = np.array(shape["triangles"], dtype=int).reshape(-1, 3)
        corners = np.array(shape["vertices"], dtype=float).reshape(-1, 3)[indices]
        painted = np.array(shape["colors"], dtype=float).reshape(-1, 3)[indices].mean(1) if "colors" in shape else None
        return corners, _flat(corners), painted
    if kind == "box":
        corners = _BOX * np.array(shape["size"]) / 2
        return corners, _flat(corners), None
    if kind == "half_space":
        normal = np.array(shape["normal"], dtype=float)
        a = np.cross(normal, [1, 0, 0] if abs(normal[0]) < 0.9 else [0, 1, 0])
        a, b = _GROUND * a / np.linalg.norm(a), _GROUND * np.cross(normal, a) / np.linalg.norm(a)
        p = normal * shape["offset"]
        corners = np.array([[p - a - b, p + a - b, p + a + b], [p - a - b, p + a + b, p - a + b]])
        return corners, _flat(corners), None
    if kind in ("sphere", "ellipsoid"):
        radii = np.array(shape["radii"] if kind == "ellipsoid" else [shape["radius"]] * 3, dtype=float)
        ball = _turned(np.array([[np.sin(t), -np.cos(t), np.sin(t), -np.cos(t)] for t in np.linspace(0, np.pi, 13)]))
        return ball[0] * radii, ball[1] / radii, None
    r, half = shape["radius"], shape["length"] / 2
    if kind == "cylinder":
        caps = [[[0, -half, 0, -1], [r, -half, 0, -1]], [[r, -half, 1, 0], [r, half, 1, 0]], [[r, half, 0, 1], [0, half, 0, 1]]]
        parts = [_turned(np.array(part, dtype=float)) for part in caps]
        return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts]), None
    arc = np.linspace(0, np.pi / 2, 7)  # a capsule
    low = [[r * np.sin(t), -half - r * np.cos(t), np.sin(t), -np.cos(t)] for t in arc]
    corners, normals = _turned(np.array([*low, *([row[0], -row[1], row[2], -row[3]] for row in reversed(low))]))
    return corners, normals, None


def _turned(profile: np.ndarray, sides: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """A profile of rows (radius, z, and these of the normal) turned about z."""
    angle = np.linspace(0, 2 * np.pi, sides + 1)
    around = np.stack([np.cos(angle), np.sin(angle)], -1)

    def points(radius: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.concatenate([radius[:, None, None] * around, np.broadcast_to(z[:, None, None], (len(z), sides + 1, 1))], -1)

    out = []
    for grid in (points(profile[:, 0], profile[:, 1]), points(profile[:, 2], profile[:, 3])):
        a, b, c, d = grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]
        out.append(np.concatenate([np.stack([a, b, c], 2), np.stack([a, c, d], 2)]).reshape(-1, 3, 3))
    return out[0], out[1]


def _flat(corners: np.ndarray) -> np.ndarray:
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return np.repeat(normal[:, None] / np.maximum(np.linalg.norm(normal, axis=1), 1e-30)[:, None, None], 3, axis=1)


def _box() -> np.ndarray:
    """The twelve triangles of a cube from -1 to 1."""
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            face = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)
            corner = np.insert(face, axis, sign, axis=1)
            sides += [corner[[0, 1, 2]], corner[[0, 2, 3]]]
    return np.array(sides)


_BOX = _box()
