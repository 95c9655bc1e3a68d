"""Random bodies dropped and thrown on the ground: each run of deft checked step by step by `patch_reference.check_step`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scene_runs import SceneRun, deft_json

from .experiment import Laboratory
from .patch_runs import PatchRun, world_of
from .patch_shapes import Box, Cylinder, Ellipsoid

SHAPES = ("cube", "cylinder", "ellipsoid")
STEPS_S = (0.001, 0.002, 0.005, 0.01, 0.02)
TOLERANCE = 1e-8


@dataclass(frozen=True)
class Throw:
    shape: Box | Cylinder | Ellipsoid
    mass: float
    mu: float
    h: float
    ellipsoid: tuple[float, float, float]
    position: np.ndarray
    quat: np.ndarray
    velocity: np.ndarray  # (ω, v)

    def scene(self) -> str:
        """A scene file with the `body` on the `ground`."""
        shape = self.shape
        numbers = lambda values: [float(x) for x in values]  # noqa: E731
        geometry = (f"box: {{size: {numbers(shape.size)}}}" if isinstance(shape, Box) else f"ellipsoid: {{radii: {numbers(shape.radii)}}}" if isinstance(shape, Ellipsoid)
                    else f"cylinder: {{radius: {float(shape.radius_m)}, length: {float(shape.length)}}}")  # fmt: skip
        return f"""deft: 1
name: throw
bodies:
  body: {{shape: {{{geometry}}}, mass: {self.mass}, joint: free, mu: {self.mu}}}
  ground: {{shape: {{half_space: {{normal: [0, 0, 1], offset: 0}}}}, joint: fixed, mu: {self.mu}}}
gravity: [0, 0, -9.8]
friction: {{ellipsoid: {numbers(self.ellipsoid)}}}
step: {{model: equivalent-contact-point, h: {self.h}}}
configurations:
  start: {{body: {{position: {numbers(self.position)}, quat_wxyz: {numbers(self.quat)}, velocity: {numbers(self.velocity)}}}}}
initial: start
"""


def drawn(rng: np.random.Generator, kind: str) -> Throw:
    """A body of some decimetres above the ground, dropped or thrown, with friction of any strength and shape."""
    shape: Box | Cylinder | Ellipsoid
    if kind == "cube":
        shape = Box((float(rng.uniform(0.2, 1)),) * 3)
    elif kind == "cylinder":
        shape = Cylinder(float(rng.uniform(0.1, 0.6)), float(rng.uniform(0.1, 1.2)))
    else:
        a, b, c = map(float, rng.uniform(0.1, 0.6, 3))
        shape = Ellipsoid((a, b, c))
    quat = rng.normal(size=4)
    thrown = rng.random() < 0.6
    velocity = np.concatenate([3 * rng.normal(size=3), 1.5 * rng.normal(size=3)]) * thrown
    return Throw(shape, float(np.exp(rng.uniform(np.log(0.05), np.log(50)))), float(rng.choice([0.02, 0.2, 0.6, 1.5])), float(rng.choice(STEPS_S)),
                 (1.0, float(rng.uniform(0.5, 1.5)), float(rng.uniform(0.01, 1))), np.array([0, 0, shape.radius + rng.uniform(0, 0.3)]), quat / np.linalg.norm(quat), velocity)  # fmt: skip


def run(lab: Laboratory, throw: Throw, duration: float) -> PatchRun:
    folder = lab.folder / f"throw-{len(list(lab.folder.glob('throw-*')))}"
    file = folder.with_suffix(".deft.yaml")
    file.write_text(throw.scene())
    summary = deft_json(lab.deft, "sim", file, "--steps", round(duration / throw.h), "--out", folder)
    return PatchRun(
        SceneRun("throw", {}, summary, folder), world_of(throw.shape, throw.mass, throw.mu, throw.h, throw.ellipsoid), "body", []
    )


def faults(run: PatchRun) -> dict[str, float]:
    """What breaks a law: {} if nothing does. Energy may grow as `energy_growth` says."""
    found = {} if run.run.summary["status"] == "Completed" else {run.run.summary["status"]: float(run.run.summary["steps"])}
    with np.errstate(all="ignore"):
        found |= {key: value for key, value in run.violations().items() if not value <= TOLERANCE}
        found |= {
            name: value
            for name, value in zip(("forces (24)", "point (27)", "torsion (27)"), run.second_proposition())
            if not value <= TOLERANCE
        }
    found |= {"penetration [m]": -float(run.height.min())} if run.height.min() < -TOLERANCE else {}
    last = run.t > run.t[-1] - 1
    if (
        isinstance(run.world.shape, Box) and run.t[-1] > 2 and np.abs(run.nu[last]).max() < 1e-6
    ):  # what has come to rest stays; round bodies may roll for ever
        creep = max(float(np.abs(run.nu[last]).max()), float(np.abs(run.position[last] - run.position[-1]).max()))
        found |= {"creep": creep} if creep > 1e-9 else {}
    growth = energy_growth(run)
    return found | ({"energy": growth} if growth > 1 else {})


def energy_growth(run: PatchRun) -> float:
    """The largest growth of energy in a step, beyond the work of the normal force, as a share of what the integrator may add: above 1 is a fault.

    E⁺ − E = p_n v_n + (friction's work ≤ 0) − ½ ΔνᵀMΔν + O(h²): the point's height is held at the end of a finite rotation, so that its velocity v_n there
    is up to ½ h ω² r, not zero. That is O(h) of an impact's impulse; the O(h²) is what gyroscopic impulses, and the inertia, at the start of the step leave:
    at most (h ω)² E I_max/I_min.
    """
    energy = np.array([run.state(k).energy(run.world) for k in range(len(run.position))])
    lifting = run.nu[1:, 5] + np.cross(run.nu[1:, :3], run.point - run.position[1:])[:, 2]
    work = run.impulse[:, 0] * np.maximum(np.nan_to_num(lifting), 0)
    omega, inertia = np.linalg.norm(run.nu[:, :3], axis=1), run.world.inertia
    may = (run.world.h * np.maximum(omega[:-1], omega[1:])) ** 2 * energy[:-1] * max(inertia) / min(inertia) + 1e-10 * energy[0]
    return float(((np.diff(energy) - work) / may).max())
