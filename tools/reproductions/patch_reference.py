"""A second opinion on patch contact: one free body above the plane z = 0, each step solved by trying the modes of its contact.

The step is that of "Rigid Body Dynamic Simulation with Line and Surface Contact", eq. (7)–(9) and (18)–(19): backward Euler with impulses,

    M (ν⁺ − ν) = W_n p_n + W_t p_t + W_o p_o + W_r p_r + p_app + p_vp,      q⁺ = normalise(q + h/2 (0, ω⁺) ∘ q),  x⁺ = x + h v⁺,

contact and equivalent contact point (ECP) at the end, inertia and gyroscopic impulse −h ω × I ω at the start, friction in the ellipsoid of (e_t, e_o, e_r)
that dissipates most. Nothing is shared with deft: there is no complementarity solver here. Its second proposition says that ν⁺ alone fixes the forces
(24) and then the point and the torsion (27). So a mode (which vertex, edge or face of a box, which rim, line or cap of a cylinder touches; stick or
slip) is six smooth equations in ν⁺ alone: where the point is, and what friction does. Newton's method solves them, with derivatives by complex steps;
a mode counts if what it left out holds: nothing below the plane, p_n ≥ 0, the point inside the patch, friction inside its ellipsoid.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .patch_shapes import Box, Cylinder, Ellipsoid, N, cross, rotation

NEWTON_TOLERANCE = 1e-11  # of scaled residuals
ACCEPT = 1e-9  # of what a mode leaves out: depth / size, distance of the point / size, friction over its bound


def turned(quat, omega, h):
    """q⁺ = normalise(q + h/2 (0, ω) ∘ q), ω in the world."""
    rate = np.concatenate([[-omega @ quat[1:]], quat[0] * omega + cross(omega, quat[1:])])
    q = quat + 0.5 * h * rate
    return q / np.sqrt(q @ q)


@dataclass(frozen=True)
class World:
    """One body on the plane z = 0."""

    shape: Box | Cylinder | Ellipsoid
    mass: float
    inertia: tuple[float, float, float]  # principal, along the body's axes [kg m²]
    mu: float
    h: float
    ellipsoid: tuple[float, float, float] = (1.0, 1.0, 1.0)
    gravity: float = 9.8


@dataclass
class State:
    x: np.ndarray
    quat: np.ndarray
    omega: np.ndarray
    v: np.ndarray
    # Of the step that ended here:
    mode: str = "free"  # kind and "stick" or "slip"
    patch: tuple = ("none", ())
    point: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))
    impulse: np.ndarray = field(default_factory=lambda: np.zeros(4))  # p_n, p_t, p_o [N s], p_r [N m s]
    slip: np.ndarray = field(default_factory=lambda: np.full(3, np.nan))  # v_t, v_o [m/s], v_r [rad/s]

    def energy(self, world: World) -> float:
        R = rotation(self.quat)
        I = R @ np.diag(world.inertia) @ R.T
        return float(0.5 * world.mass * self.v @ self.v + 0.5 * self.omega @ I @ self.omega + world.mass * world.gravity * self.x[2])


class Step:
    """The equations of one step. ν = (ω, v); applied: impulse (p_x, p_y, p_z) and angular impulse without gravity."""

    def __init__(self, world: World, s: State, impulse, angular):
        self.world, self.s = world, s
        R = rotation(s.quat)
        self.I = R @ np.diag(world.inertia) @ R.T
        self.push = np.asarray(impulse, float) - world.mass * world.gravity * world.h * N
        self.turn = np.asarray(angular, float) - world.h * cross(s.omega, self.I @ s.omega)
        self.free = np.concatenate([s.omega + np.linalg.solve(self.I, self.turn), s.v + self.push / world.mass])
        # Scales of a residual: lengths, impulses, velocities.
        self.length, self.velocity = world.shape.radius, max(1.0, world.gravity * world.h)

    def motion(self, nu):
        """End of the step by ν: (x⁺, R⁺, quat⁺)."""
        quat = turned(self.s.quat, nu[:3], self.world.h)
        return self.s.x + self.world.h * nu[3:], rotation(quat), quat

    def contact(self, nu, x):
        """(24) and (27) with d = 0: impulses (p_n, p_t, p_o, p_r), the point's arm r, its slip (v_t, v_o, v_r). Needs p_n ≠ 0."""
        force = self.world.mass * (nu[3:] - self.s.v) - self.push
        moment = self.I @ (nu[:3] - self.s.omega) - self.turn
        # r = (r_x, r_y, −x_z):  r × f = moment − p_r n, rows x and y
        fx, fy, fn = force
        rx = (-x[2] * fx - moment[1]) / fn
        ry = (moment[0] - x[2] * fy) / fn
        r = np.array([rx, ry, -x[2]])
        torsion = moment[2] - (rx * fy - ry * fx)
        velocity = nu[3:] + cross(nu[:3], r)
        return np.array([fn, fx, fy, torsion]), r, np.array([velocity[0], velocity[1], nu[2]])

    def friction(self, sticks, p, w, divided=False):
        """Three equations: no slip, or the ellipsoid's force against the slip; `divided` by the speed, which tiny slips need, but only near a root."""
        if sticks:
            return w / self.velocity
        e2 = np.square(self.world.ellipsoid)
        speed = np.sqrt((e2 * w) @ w)
        if divided:
            return (p[1:] + self.world.mu * p[0] * e2 * w / speed) / np.sqrt(e2) / (self.world.mass * self.velocity)
        return (p[1:] * speed + self.world.mu * p[0] * e2 * w) / np.sqrt(e2) / (self.world.mass * self.velocity**2)

    def residual(self, nu, patch, sticks, divided=False):
        x, R, _ = self.motion(nu)
        p, r, w = self.contact(nu, x)
        geometry, _ = self.world.shape.conditions(patch, x, R, x + r)
        return np.concatenate([geometry / self.length, self.friction(sticks, p, w, divided)])

    def solve(self, patch, sticks, nu):
        """A root of the mode from ν, polished; None if Newton's method does not arrive."""
        root = self.newton(patch, sticks, nu)
        if root is None or sticks:
            return root
        polished = self.newton(patch, sticks, root, divided=True)
        return root if polished is None else polished

    def newton(self, patch, sticks, nu, divided=False, iterations=40):
        """Damped Newton from ν; None if it does not arrive."""
        nu = np.array(nu, float)
        with np.errstate(all="ignore"):
            f = self.residual(nu, patch, sticks, divided)
            for _ in range(iterations):
                size = np.abs(f).max()
                if not np.isfinite(size):
                    return None
                J = np.empty((6, 6))
                for i in range(6):
                    z = nu.astype(complex)
                    z[i] += 1e-30j
                    J[:, i] = self.residual(z, patch, sticks, divided).imag * 1e30
                try:
                    d = np.linalg.solve(J, -f)
                except np.linalg.LinAlgError:
                    return None
                if size < NEWTON_TOLERANCE:  # the last digits: friction is lost in tiny slips otherwise
                    trial = self.residual(nu + d, patch, sticks, divided)
                    if not np.linalg.norm(trial) < np.linalg.norm(f):
                        return nu
                    nu, f = nu + d, trial
                    continue
                step = 1.0
                while step > 1e-4:
                    trial = self.residual(nu + step * d, patch, sticks, divided)
                    if np.isfinite(trial).all() and np.linalg.norm(trial) < (1 - 0.1 * step) * np.linalg.norm(f):
                        break
                    step *= 0.5
                else:
                    return None
                nu, f = nu + step * d, trial
        return None

    def violation(self, nu, patch, sticks):
        """The largest violation of what the mode left out, relative; and the state."""
        world, shape = self.world, self.world.shape
        x, R, quat = self.motion(nu)
        p, r, w = self.contact(nu, x)
        _, inside = shape.conditions(patch, x, R, x + r)
        bound = world.mu * p[0]
        used = np.linalg.norm(p[1:] / np.array(world.ellipsoid))
        scale = world.mass * max(world.gravity * world.h, 1e-12)
        wrong = max(-shape.lowest(x, R) / self.length, -p[0] / scale, float((-inside).max(initial=-1)))
        wrong = max(wrong, (used - bound) / scale if sticks else abs(used - bound) / scale)
        end = State(x, quat, nu[:3], nu[3:], f"{patch[0]} {'stick' if sticks else 'slip'}", patch, x + r, p, w)
        return wrong, end

    def free_end(self):
        x, _, quat = self.motion(self.free)
        return State(x, quat, self.free[:3], self.free[3:])

    def starts(self, patch):
        """Where Newton begins: as before, the free motion, and the free motion stopped at the patch."""
        yield np.concatenate([self.s.omega, self.s.v])
        shifted = self.free.copy()
        shifted[5] = (self.world.shape.radius * 0.5 - self.s.x[2]) / self.world.h * 0 + max(self.free[5], 0.0)
        yield shifted
        stopped = self.stopped(patch)
        if stopped is not None:
            yield stopped
            yield 0.5 * (stopped + self.free)
        yield np.concatenate([np.zeros(3), 0.3 * self.s.v])

    def stopped(self, patch):
        """The plastic impact of the free motion on the patch where the body is now: least change in energy with the patch at rest along n, by one linear solve."""
        world, s = self.world, self.s
        M = np.zeros((6, 6))
        M[:3, :3], M[3:, 3:] = self.I, world.mass * np.eye(3)
        base = np.concatenate([s.omega * 0, s.v * 0])

        def heights(nu):
            x, R, _ = self.motion(nu)
            probe = np.array([x[0], x[1], 0.0])
            g, _ = world.shape.conditions(patch, x, R, probe)
            return np.array([g[0]]) if patch[0] == "point" else g[:2] if patch[0] == "line" else g

        with np.errstate(all="ignore"):
            g0 = heights(base)
            G = np.empty((len(g0), 6))
            for i in range(6):
                z = base.astype(complex)
                z[i] += 1e-30j
                G[:, i] = heights(z).imag * 1e30
            K = np.block([[M, -G.T], [G, np.zeros((len(g0), len(g0)))]])
            try:
                nu = np.linalg.solve(K, np.concatenate([M @ self.free, -g0]))[:6]
            except np.linalg.LinAlgError:
                return None
        return nu if np.isfinite(nu).all() else None


def advance(world: World, s: State, impulse=(0, 0, 0), angular=(0, 0, 0)) -> State:
    """One step. The mode of the last one is tried first. @throws RuntimeError if no mode holds."""
    step = Step(world, s, impulse, angular)
    free = step.free_end()
    if world.shape.lowest(free.x, rotation(free.quat)) >= 0:
        return free
    patches = sorted(world.shape.patches(), key=lambda p: (p != s.patch, world.shape.depth(p, free.x, rotation(free.quat))))
    best = None
    for patch in patches:
        for sticks in (True, False) if s.mode.endswith("stick") else (False, True):
            for start in step.starts(patch):
                nu = step.solve(patch, sticks, start)
                if nu is None:
                    continue
                wrong, end = step.violation(nu, patch, sticks)
                if wrong <= ACCEPT:
                    return end
                if best is None or wrong < best[0]:
                    best = (wrong, end)
                break  # the equations have a root; another start finds the same, as a rule
    for patch in patches:  # once more, from every start
        for sticks in (True, False):
            for start in step.starts(patch):
                nu = step.solve(patch, sticks, start)
                if nu is not None:
                    wrong, end = step.violation(nu, patch, sticks)
                    if wrong <= ACCEPT:
                        return end
                    if best is None or wrong < best[0]:
                        best = (wrong, end)
    raise RuntimeError(f"no mode holds: nearest {best and (best[0], best[1].mode, best[1].patch)}, from {s.mode} {s.patch} at x = {s.x}")


def simulate(world: World, start: State, steps: int, wrench=None) -> list[State]:
    """`steps` steps; wrench(k, state) gives impulse and angular impulse of step k. @returns steps + 1 states."""
    found = [start]
    for k in range(steps):
        impulse, angular = wrench(k, found[-1]) if wrench else ((0, 0, 0), (0, 0, 0))
        found.append(advance(world, found[-1], impulse, angular))
    return found


def check_step(world: World, before: State, nu, impulse=(0, 0, 0), angular=(0, 0, 0)) -> dict[str, float]:
    """What is wrong with a step that somebody else made, from its velocities ν⁺ = (ω, v) alone; all relative to m g h, the size and g h.

    depth: below the plane; pull: −p_n; distance: p_n · gap; outside: of the point, out of the body, times p_n; cone: friction over its bound;
    dissipation: |p_f √(wᵀE²w) + μ p_n E² w|, zero for sticking, and for the force that dissipates most.
    """
    step, shape = Step(world, before, impulse, angular), world.shape
    x, R, _ = step.motion(np.asarray(nu, float))
    weight, gap = world.mass * world.gravity * world.h, shape.lowest(x, R)
    found = {"depth": max(0.0, -gap) / step.length}
    normal = world.mass * (nu[5] - before.v[2]) - step.push[2]
    if normal < 1e-9 * weight:  # flies: then nothing else may act
        off = (np.asarray(nu) - step.free) * [*[step.length] * 3, 1, 1, 1] / step.velocity
        return found | {"pull": max(0.0, -normal / weight), "free": float(np.abs(off).max()) if gap > 1e-9 * step.length else 0.0}
    p, r, w = step.contact(np.asarray(nu, float), x)
    load, e = p[0] / weight, np.array(world.ellipsoid)
    inside = R.T @ r  # the point in the body's frame
    out = shape.outside(inside)
    speed = float(np.sqrt((e**2 * w) @ w))
    return found | {"distance": abs(load * gap) / step.length, "outside": max(0.0, out) / step.length * min(load, 1.0), "cone": max(0.0, float(np.linalg.norm(p[1:] / e)) - world.mu * p[0]) / max(weight, p[0]),
                    "dissipation": float(np.abs((p[1:] * speed + world.mu * p[0] * e**2 * w) / e).max()) / (max(weight, p[0]) * step.velocity)}  # fmt: skip
