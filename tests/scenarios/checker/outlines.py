"""Gaps in a plane of motion: discs, convex polygons and half-planes, by hand.

Every pair of bodies gives candidates (p_A, p_B, n from B to A, φ): one for a disc against anything, one per vertex of either polygon.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .world import Body, Place, World

# Two axes e1, e2 of each plane with e1 × e2 along its normal.
FRAMES = {"xy": (0, 1), "yz": (1, 2), "xz": (2, 0)}


@dataclass
class Disc:
    """A circle; radius 0 is a point."""

    centre: np.ndarray
    radius: float


@dataclass
class Polygon:
    """Corners, counter-clockwise."""

    corners: np.ndarray

    def edges(self):
        """(first corner, outward unit normal) of each edge."""
        for i, p in enumerate(self.corners):
            d = self.corners[(i + 1) % len(self.corners)] - p
            yield p, np.array([d[1], -d[0]]) / np.hypot(*d)


@dataclass
class HalfPlane:
    """Solid where n·x ≤ d."""

    normal: np.ndarray
    offset: float


@dataclass
class Candidate:
    """A possible contact of two bodies in the plane: witness points, normal from B to A, gap [m]."""

    a: Body
    b: Body
    p_A: np.ndarray
    p_B: np.ndarray
    n: np.ndarray
    gap: float


def flat(plane: str, p: np.ndarray) -> np.ndarray:
    """Coordinates of a vector in the plane."""
    return p[list(FRAMES[plane])]


def raised(plane: str, p: np.ndarray) -> np.ndarray:
    """The vector in space of two coordinates in the plane."""
    out = np.zeros(3)
    out[list(FRAMES[plane])] = p
    return out


def outline(plane: str, b: Body, place: Place):
    """The shape of a body in the plane of motion."""
    assert b.shape is not None
    ((kind, s),) = b.shape.items()
    centre = flat(plane, place.p + place.R @ b.p_shape)
    if kind in ("sphere", "cylinder"):
        return Disc(centre, s["radius"])
    if kind == "half_space":
        n = place.R @ np.array(s["normal"], float)
        size = np.linalg.norm(n)
        return HalfPlane(flat(plane, n) / size, s.get("offset", 0.0) / size + flat(plane, n) @ flat(plane, place.p) / size)
    if kind == "box":
        half = np.array(s["size"], float) / 2
        corners = [np.array([x, y, z]) * half for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    else:
        corners = [np.array([x, y, 0.0]) for x, y in s["vertices"]]
    points = np.array([flat(plane, place.p + place.R @ (b.p_shape + c)) for c in corners])
    return Polygon(hull(points))


def left_turn(a, b, c) -> float:
    """Twice the area of a triangle, positive counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def hull(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull, counter-clockwise (monotone chain); twins within 1e-12 count once."""
    ordered = sorted({tuple(np.round(p, 12)): tuple(p) for p in points}.values())

    def chain(row):
        out: list = []
        for p in row:
            while len(out) > 1 and left_turn(out[-2], out[-1], p) <= 1e-14:
                out.pop()
            out.append(p)
        return out[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def point_to_polygon(c: np.ndarray, polygon: Polygon):
    """Signed distance of a point, the nearest boundary point and the normals that may belong to it."""
    inside = max(n @ (c - p) for p, n in polygon.edges())
    if inside <= 0:
        return [(n @ (c - p), c - n * (n @ (c - p)), n) for p, n in polygon.edges() if n @ (c - p) >= inside - 1e-9]
    best: tuple | None = None
    for p, n in polygon.edges():
        t = np.array([-n[1], n[0]])
        far = polygon.corners[(np.argmin(np.abs(polygon.corners - p).sum(1)) + 1) % len(polygon.corners)]
        foot = p + t * np.clip(t @ (c - p), 0, t @ (far - p))
        d = np.hypot(*(c - foot))
        if best is None or d < best[0]:
            best = (d, foot, (c - foot) / d if d > 1e-10 else n)
    assert best is not None
    edges = [(n @ (c - p), c - n * (n @ (c - p)), n) for p, n in polygon.edges() if n @ (c - p) >= inside - 1e-9]
    if best[0] <= 1e-9:  # on the boundary: at a corner either edge's normal
        return edges
    return [best, *(edge for edge in edges if edge[0] >= best[0] - 1e-9)]


def vertex_to_polygon(v: np.ndarray, polygon: Polygon):
    """By the separating edge: φ = max_e n_e·(v − p_e); ties are all listed."""
    phi = [(n @ (v - p), n) for p, n in polygon.edges()]
    largest = max(value for value, _ in phi)
    return [(value, v - n * value, n) for value, n in phi if value >= largest - 1e-9]


def between(a, b):
    """Groups of alternatives for the ordered pair of outlines: each group is one contact, its entries (φ, p_A, p_B, n) are ties."""
    if isinstance(b, HalfPlane):
        if isinstance(a, Disc):
            phi = b.normal @ a.centre - b.offset - a.radius
            p = a.centre - a.radius * b.normal
            return [[(phi, p, p - phi * b.normal, b.normal)]]
        return [[(b.normal @ v - b.offset, v, v - (b.normal @ v - b.offset) * b.normal, b.normal)] for v in a.corners]
    if isinstance(a, HalfPlane):
        return mirrored(between(b, a))
    if isinstance(a, Disc) and isinstance(b, Disc):
        d = a.centre - b.centre
        r = np.hypot(*d)
        n = d / r if r > 0 else np.array([1.0, 0])
        return [[(r - a.radius - b.radius, a.centre - a.radius * n, b.centre + b.radius * n, n)]]
    if isinstance(a, Disc):
        ways = point_to_polygon(a.centre, b) + (vertex_to_polygon(a.centre, b) if a.radius == 0 else [])  # a point may count as a corner
        return [[(d - a.radius, a.centre - a.radius * n, foot, n) for d, foot, n in ways]]
    if isinstance(b, Disc):
        return mirrored(between(b, a))
    out = [[(phi, v, foot, n) for phi, foot, n in vertex_to_polygon(v, b)] for v in a.corners]
    return out + mirrored([[(phi, v, foot, n) for phi, foot, n in vertex_to_polygon(v, a)] for v in b.corners])


def mirrored(groups):
    """The same contacts seen from the other body."""
    return [[(phi, p_B, p_A, -n) for phi, p_A, p_B, n in group] for group in groups]


def touching_bodies(world: World):
    """Pairs of bodies that may touch: not both immovable (frozen objects do not move), not of one model."""
    solid = [b for b in world.bodies if b.shape is not None]
    for i, a in enumerate(solid):
        for b in solid[i + 1 :]:
            moves = [x.movable and x.model not in world.frozen for x in (a, b)]
            if any(moves) and a.model != b.model:
                yield a, b


def candidates(world: World, places: dict[str, Place]) -> list[list[Candidate]]:
    """All groups of candidates of the scene; the entries of a group are ties of which one counts."""
    out = []
    for a, b in touching_bodies(world):
        groups = between(outline(world.plane, a, places[a.name]), outline(world.plane, b, places[b.name]))
        out += [
            [
                Candidate(a, b, raised(world.plane, pa), raised(world.plane, pb), raised(world.plane, n), float(phi))
                for phi, pa, pb, n in group
            ]
            for group in groups
        ]
    return out


def distance(a, b) -> float:
    """True signed distance of two outlines (of two polygons: the largest separation over their edges, exact if they overlap; else a bound
    from below)."""
    if isinstance(a, Polygon) and isinstance(b, Polygon):
        return max(min(n @ (v - p) for v in other.corners) for one, other in ((a, b), (b, a)) for p, n in one.edges())
    return min(group[0][0] for group in between(a, b))
