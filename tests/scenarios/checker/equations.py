"""The equations of one step, rebuilt at the state where it starts:

  L δ = r + S Jᵀf,   φ⁺ = φ + J_n δ,   s = J_t δ,

δ the displacement of the step, f the contact forces [N]. Objects on supports: δ = h A Jᵀf; velocity-controlled robots: δ = h(u + c B Jᵀf);
springs: K δ = K(u − q) + Jᵀf; perfect tracking: δ = u − q; objects of both: 0 = τ + Jᵀf; from rest: M_u/h² δ = τ + Jᵀf; with momentum:
M/h² δ = M v/h + τ − C v + Jᵀf.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .world import PLANE_NORMAL, Place, World, cross


@dataclass
class Contact:
    """A contact of the run, or one of ours: bodies, witness points, normal from b to a, gap, friction, and the forces found."""

    a: str
    b: str
    p_A: np.ndarray
    p_B: np.ndarray
    n: np.ndarray
    gap: float
    mu: float
    force: np.ndarray | None = None
    gap_end: float = 0.0
    mu_own: float = 0.0  # friction by the check's own reading of the scene


@dataclass
class Equations:
    """The step in numbers. `tangents` has the directions of one contact as rows: one in a plane, two in space."""

    L: np.ndarray
    r: np.ndarray
    S: np.ndarray
    J_n: np.ndarray
    J_t: list
    phi: np.ndarray
    mu: np.ndarray
    normals: np.ndarray
    tangents: list = field(default_factory=list)


def tangents(n: np.ndarray, plane: str | None) -> np.ndarray:
    """In a plane e × n; in space t₁ = e_j × n normalised, j where |n_j| is smallest (first within 1e-9), t₂ = n × t₁."""
    if plane is not None:
        return np.cross(np.eye(3)[PLANE_NORMAL[plane]], n)[None, :]
    size = np.abs(n)
    j = int(np.flatnonzero(size <= size.min() + 1e-9)[0])
    t1 = np.cross(np.eye(3)[j], n)
    t1 /= np.linalg.norm(t1)
    return np.array([t1, np.cross(n, t1)])


def rows(world: World, places: dict[str, Place], contacts: list[Contact]):
    """J_n (nc × nv), the list of J_t, and the tangents; columns of frozen objects are zero."""
    still = [v for name in world.frozen for v in world.columns(name)]
    J_n, J_t, ts = np.zeros((len(contacts), world.nv)), [], []
    for i, c in enumerate(contacts):
        motion = places[c.a].velocity_rows(c.p_A) - places[c.b].velocity_rows(c.p_B)
        motion[:, still] = 0
        t = tangents(c.n, world.plane)
        J_n[i] = c.n @ motion
        J_t.append(t @ motion)
        ts.append(t)
    return J_n, J_t, ts


def support_matrix(text, theta: float, plane: str) -> np.ndarray:
    """A = R̃ Ã R̃ᵀ in the joint's coordinates, Ã in the body's."""
    A = np.array(text, float)
    A = np.diag(A) if A.ndim == 1 else A
    c, s = np.cos(theta), np.sin(theta)
    if plane == "xz":  # a turn about y takes z to x
        s = -s
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return R @ A @ R.T


def limit_surface(world: World, q: np.ndarray, u: np.ndarray) -> tuple:
    """L, r, S of `limit-surface`; objects with an exact support get S = 0 and are checked by `support_errors`."""
    h, c = world.h, float(world.step.get("gain", 0))
    L, r, S = np.eye(world.nv), np.zeros(world.nv), np.zeros((world.nv, world.nv))
    for name, robot in world.robots.items():
        columns = world.columns(name)
        B = np.broadcast_to(np.array(robot.get("admittance", 1), float), (len(columns),))
        r[columns] = h * u[columns]
        S[columns, columns] = h * c * B
    for b in world.objects:
        text = world.doc["bodies"][b.model]["limit_surface"]
        if b.model in world.frozen or isinstance(text, dict):
            continue
        columns = world.columns(b.model)
        S[np.ix_(columns, columns)] = h * support_matrix(text, q[b.q + 2], world.plane)
    return L, r, S


def inertia_and_bias(world: World, q: np.ndarray, v: np.ndarray, places: dict[str, Place]) -> tuple:
    """Mass matrix M(q), C(q, v)v (with the rates of the Jacobians by differences along v) and the load of gravity by body."""
    M, bias = np.zeros((world.nv, world.nv)), np.zeros(world.nv)
    weight: dict = {}
    eps = 1e-6
    ahead, behind = (world.places(moved(world, q, s * eps * v)) for s in (1, -1))
    for b in world.bodies:
        if b.mass == 0 or not b.movable:
            continue
        place = places[b.name]
        com = lambda at, b=b: at.J[3:] - cross(at.R @ b.com) @ at.J[:3]  # noqa: E731
        I = place.R @ b.inertia @ place.R.T
        Jv, Jw = com(place), place.J[:3]
        M += b.mass * Jv.T @ Jv + Jw.T @ I @ Jw
        rate_v = (com(ahead[b.name]) - com(behind[b.name])) @ v / (2 * eps)
        rate_w = (ahead[b.name].J[:3] - behind[b.name].J[:3]) @ v / (2 * eps)
        spin = Jw @ v
        bias += b.mass * Jv.T @ rate_v + Jw.T @ (I @ rate_w + np.cross(spin, I @ spin))
        weight[b.model] = weight.get(b.model, 0) + b.mass * Jv.T @ world.gravity
    return M, bias, weight


WITH_MOMENTUM = ("stewart-trinkle", "convex-second-order")


def springs_and_masses(world: World, model: str, q: np.ndarray, v: np.ndarray, u: np.ndarray, places: dict[str, Place]) -> tuple:
    """L, r, S of the convex models, perfect tracking, impedance and Stewart and Trinkle's model."""
    h, nv = world.h, world.nv
    M, bias, weight = inertia_and_bias(world, q, v if model in WITH_MOMENTUM else np.zeros(nv), places)
    L, r, S = np.zeros((nv, nv)), np.zeros(nv), np.eye(nv)
    here = np.zeros(nv)
    for name, robot in world.robots.items():
        columns = world.columns(name)
        first = world.first[name][0]
        here[columns] = q[first : first + len(columns)]
        K = np.broadcast_to(np.array(robot["stiffness"], float), (len(columns),))
        if model == "perfect-tracking":
            L[columns, columns], r[columns], S[columns, columns] = 1, u[columns] - here[columns], 0
        else:
            L[columns, columns], r[columns] = K, K * (u[columns] - here[columns])
    if model in WITH_MOMENTUM:
        L += M / h**2
        r += M @ v / h - bias
    elif model == "convex" and world.step.get("dynamics", "quasidynamic") == "quasidynamic":
        for b in world.objects:
            block = np.ix_(world.columns(b.model), world.columns(b.model))
            L[block] += M[block] / h**2
    for b in world.objects:
        r += weight.get(b.model, 0)
    return L, r, S


def moved(world: World, q: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """q ⊕ δ: free bodies by p + δ_v and Exp(δ_ω) R, everything else by sums."""
    out, free = np.array(q, float), {b.v: b for b in world.bodies if b.joint == "free"}
    v = i = 0
    while v < world.nv:
        if v in free:
            angle = np.linalg.norm(delta[v : v + 3])
            half = np.array([np.cos(angle / 2), *(np.sinc(angle / 2 / np.pi) / 2 * delta[v : v + 3])])
            out[i : i + 4] = product(half, q[i : i + 4])
            out[i + 4 : i + 7] += delta[v + 3 : v + 6]
            v, i = v + 6, i + 7
        else:
            out[i] += delta[v]
            v, i = v + 1, i + 1
    return out


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton's product of [w x y z]."""
    return np.array([a[0] * b[0] - a[1:] @ b[1:], *(a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))])


def displacement(world: World, q: np.ndarray, q_next: np.ndarray) -> np.ndarray:
    """δ with q ⊕ δ = q_next."""
    delta, free = np.zeros(world.nv), {b.v: b for b in world.bodies if b.joint == "free"}
    v = i = 0
    while v < world.nv:
        if v in free:
            step = product(q_next[i : i + 4], q[i : i + 4] * [1, -1, -1, -1])
            step = step if step[0] >= 0 else -step
            size = np.linalg.norm(step[1:])
            delta[v : v + 3] = step[1:] * (2 * np.arctan2(size, step[0]) / size if size > 0 else 2)
            delta[v + 3 : v + 6] = q_next[i + 4 : i + 7] - q[i + 4 : i + 7]
            v, i = v + 6, i + 7
        else:
            delta[v] = q_next[i] - q[i]
            v, i = v + 1, i + 1
    return delta


def build(world: World, model: str, q: np.ndarray, v: np.ndarray, u: np.ndarray, contacts: list[Contact]) -> Equations:
    """The equations of the step from q under the command u with these contacts."""
    places = world.places(q)
    L, r, S = limit_surface(world, q, u) if model == "limit-surface" else springs_and_masses(world, model, q, v, u, places)
    still = [i for name in world.frozen for i in world.columns(name)]
    L[still] = np.eye(world.nv)[still]
    r[still], S[still] = 0, 0
    J_n, J_t, ts = rows(world, places, contacts)
    return Equations(
        L,
        r,
        S,
        J_n,
        J_t,
        np.array([c.gap for c in contacts]),
        np.array([c.mu for c in contacts]),
        np.array([c.n for c in contacts]).reshape(-1, 3),
        ts,
    )


def load(equations: Equations, contacts: list[Contact]) -> np.ndarray:
    """Jᵀf of all contacts."""
    out = np.zeros(equations.L.shape[0])
    for i, c in enumerate(contacts):
        out += equations.J_n[i] * (c.n @ c.force) + (equations.tangents[i] @ c.force) @ equations.J_t[i]
    return out
