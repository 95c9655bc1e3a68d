"""Runs of scenes/patch_contact in the terms of their source: equivalent contact point, impulses and slips per step, and what a second opinion says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scene_runs import SceneRun, deft_json

from .experiment import ROOT, Laboratory
from .patch_reference import State, Step, World, advance, check_step
from .patch_shapes import Box, Cylinder, Ellipsoid, rotation

SCENES = ROOT / "scenes" / "patch_contact"
TOUCHES_M = 1e-7  # what is this near to the ground touches it
NOTHING = np.zeros(3)


@dataclass(frozen=True)
class Wrench:
    """Of a scene's `wrenches:`, on its one body: a force and torque from `begin` to `end`, or impulses at `begin` (end −1), or whenever ω_z is below 1e-6 (begin −1)."""

    linear: np.ndarray
    angular: np.ndarray
    begin: float
    end: float


def wrenches_of(file: Path) -> list[Wrench]:
    """The wrenches of a scene, read again without the program."""
    found = []
    for line in file.read_text().splitlines():
        entry = re.match(r"\s*- \{body: \w+, (.*)\}", line)
        if not entry:
            continue
        vectors = {key: np.array([float(x) for x in text.split(",")]) for key, text in re.findall(r"(\w+): \[([^\]]*)\]", entry[1])}
        times = {key: float(text) for key, text in re.findall(r"(from|to|at): ([-+.\de]+)", entry[1])}
        linear = vectors.get("force_W", vectors.get("impulse_W", NOTHING))
        angular = vectors.get("torque_W", vectors.get("angular_impulse_W", NOTHING))
        found.append(Wrench(linear, angular, times.get("from", times.get("at", -1.0)), times.get("to", -1.0)))
    return found


@dataclass
class PatchRun:
    """A run of one free body on the ground. Arrays of steps [T] tell their ends; states [T+1] begin with the start."""

    run: SceneRun
    world: World
    body: str
    wrenches: list[Wrench]

    @cached_property
    def position(self) -> np.ndarray:
        return self.run.position(self.body)

    @cached_property
    def quaternion(self) -> np.ndarray:
        return self.run.quaternion(self.body)

    @cached_property
    def nu(self) -> np.ndarray:
        """(ω, v) [T+1, 6]."""
        names = self.run.data["names_v"]
        return self.run.data["v"][:, [names.index(f"{self.body}/{c}") for c in ("wx", "wy", "wz", "vx", "vy", "vz")]]

    @cached_property
    def axes(self) -> np.ndarray:
        """R_WB [T+1, 3, 3]."""
        return np.array([rotation(q) for q in self.quaternion])

    @property
    def t(self) -> np.ndarray:
        return self.run.t

    def of_ground(self, quantity: str) -> np.ndarray:
        found = self.run.between(self.body, "ground", quantity)
        pressed = np.linalg.norm(np.nan_to_num(self.run.between(self.body, "ground", "force_W")), axis=1) > 0
        return np.where(pressed if found.ndim == 1 else pressed[:, None], found, np.nan)

    @cached_property
    def point(self) -> np.ndarray:
        """The equivalent contact point [T, 3]; NaN where the body flies."""
        return self.of_ground("point_W")

    @cached_property
    def impulse(self) -> np.ndarray:
        """(p_n, p_t, p_o, p_r) of the ground on the body [T, 4]; zeros where it flies."""
        force, torque = np.nan_to_num(self.of_ground("force_W")), np.nan_to_num(self.of_ground("torque_W"))
        return self.world.h * np.column_stack([force[:, 2], force[:, 0], force[:, 1], torque[:, 2]])

    @cached_property
    def slip(self) -> np.ndarray:
        """(v_t, v_o, v_r) of the body at the point [T, 3], from the velocities."""
        arm = self.point - self.position[1:]
        velocity = self.nu[1:, 3:] + np.cross(self.nu[1:, :3], arm)
        return np.column_stack([velocity[:, :2], np.where(np.isnan(arm[:, 0]), np.nan, self.nu[1:, 2])])

    @cached_property
    def facets(self) -> np.ndarray:
        """How many surfaces of the body touch the ground at the point: 3 a point (a cylinder's rim: 2), 2 a line (side line: 1), 1 a face; 0: it flies. From the pose."""
        found = np.zeros(len(self.point), int)
        for k in np.flatnonzero(~np.isnan(self.point[:, 0])):
            x, R = self.position[k + 1], self.axes[k + 1]
            if isinstance(self.world.shape, Box):
                touching = int((x[2] + self.world.shape.vertices() @ R[2] < TOUCHES_M).sum())
                found[k] = {1: 3, 2: 2}.get(touching, 1)
            elif isinstance(self.world.shape, Ellipsoid):
                found[k] = 3
            else:
                found[k] = 1 if abs(R[2, 2]) < 1e-6 or abs(R[2, 2]) > 1 - 1e-12 else 2
        return found

    @cached_property
    def kinds(self) -> list[str]:
        """ "point", "line", "surface" or "flies" per step, from the pose."""
        if not isinstance(self.world.shape, Cylinder):
            return [("flies", "surface", "line", "point")[n] for n in self.facets]
        return [
            "flies" if n == 0 else "point" if n == 2 else "line" if abs(R[2, 2]) < 0.5 else "surface"
            for n, R in zip(self.facets, self.axes[1:])
        ]

    def misnamed(self) -> tuple[int, int, float]:
        """Against the records of the run: steps whose kind is not that of the pose; whose stick or slip is not that of the velocities; largest difference of slip."""
        kind, state, slip = (self.of_ground(quantity) for quantity in ("kind", "state", "slip"))
        touches = ~np.isnan(self.point[:, 0])
        words = np.array(["flies", "point", "line", "surface"])[np.nan_to_num(kind).astype(int)]
        slides = np.abs(self.slip).max(axis=1) > 1e-8
        return (
            int((words[touches] != np.array(self.kinds)[touches]).sum()),
            int(((state == 2) != slides)[touches].sum()),
            float(np.abs(slip - self.slip)[touches].max()),
        )

    @cached_property
    def height(self) -> np.ndarray:
        """Of the lowest point of the body [T+1]."""
        return np.array([self.world.shape.lowest(x, R) for x, R in zip(self.position, self.axes)])

    def state(self, k: int) -> State:
        return State(self.position[k], self.quaternion[k], self.nu[k, :3], self.nu[k, 3:])

    def applied(self, k: int, s: State) -> tuple[np.ndarray, np.ndarray]:
        """Impulse and angular impulse of step k [N s, N m s], gravity apart."""
        h, linear, angular = self.world.h, np.zeros(3), np.zeros(3)
        for w in self.wrenches:
            t = k * h + 1e-9
            share = (
                float(abs(s.omega[2]) < 1e-6)
                if w.begin < 0
                else float(w.begin <= t < w.begin + h)
                if w.end < 0
                else h * float(w.begin <= t < w.end)
            )
            linear, angular = linear + share * w.linear, angular + share * w.angular
        return linear, angular

    def violations(self) -> dict[str, float]:
        """The worst of `check_step` over all steps."""
        worst: dict[str, float] = {}
        for k in range(len(self.point)):
            for key, value in check_step(self.world, self.state(k), self.nu[k + 1], *self.applied(k, self.state(k))).items():
                worst[key] = max(worst.get(key, 0.0), float(value))
        return worst

    def second_proposition(self) -> tuple[float, float, float]:
        """Forces by (24), point and torsion by (27) from the velocities, against the recorded ones: largest differences (forces and torsion relative to the
        larger of p_n and m g h, and that times the size; point · p_n / larger [m])."""
        worst = np.zeros(3)
        weight = self.world.mass * self.world.gravity * self.world.h
        for k in map(int, np.flatnonzero(~np.isnan(self.point[:, 0]))):
            step = Step(self.world, self.state(k), *self.applied(k, self.state(k)))
            p, r, _ = step.contact(self.nu[k + 1], self.position[k + 1])
            scale = max(weight, p[0])
            off = np.abs(p - self.impulse[k])
            worst = np.maximum(
                worst, [off[:3].max() / scale, np.abs(self.position[k + 1] + r - self.point[k])[:2].max() * p[0] / scale, off[3] / scale]
            )
        forces, torsion, point = (float(x) for x in worst)
        return forces, torsion, point

    def reference(self, steps: int) -> list[State]:
        """The same motion by trying modes, from the start, on its own."""
        found = [self.state(0)]
        for k in range(steps):
            found.append(advance(self.world, found[-1], *self.applied(k, found[-1])))
        return found

    def away_from(self, reference: list[State], begin: int = 0) -> float:
        """Largest difference of a coordinate of the centre [m] from the reference, from state `begin` on."""
        return float(np.abs(self.position[begin : len(reference)] - np.array([s.x for s in reference[begin:]])).max())


def run_steps(lab: Laboratory, scene: str, steps: int, *options: str) -> SceneRun:
    folder = lab.folder / f"{scene}-{len(list(lab.folder.glob(f'{scene}-*')))}"
    return SceneRun(
        scene, {}, deft_json(lab.deft, "sim", SCENES / f"{scene}.deft.yaml", "--steps", steps, "--out", folder, *options), folder
    )


def simulate(lab: Laboratory, scene: str, world: World, body: str, steps: int, *options: str) -> PatchRun:
    return PatchRun(run_steps(lab, scene, steps, *options), world, body, wrenches_of(SCENES / f"{scene}.deft.yaml"))


def solid(shape: Box | Cylinder | Ellipsoid, mass: float) -> tuple[float, float, float]:
    """Principal inertia of the solid [kg m²]."""
    if isinstance(shape, Box):
        a, b, c = np.square(shape.size)
        return mass * (b + c) / 12, mass * (a + c) / 12, mass * (a + b) / 12
    if isinstance(shape, Ellipsoid):
        a, b, c = np.square(shape.radii)
        return mass * (b + c) / 5, mass * (a + c) / 5, mass * (a + b) / 5
    across = mass * (shape.radius_m**2 / 4 + shape.length**2 / 12)
    return across, across, mass * shape.radius_m**2 / 2


def world_of(shape: Box | Cylinder | Ellipsoid, mass: float, mu: float, h: float = 0.01, ellipsoid=(1.0, 1.0, 1.0)) -> World:
    return World(shape, mass, solid(shape, mass), mu, h, ellipsoid)
