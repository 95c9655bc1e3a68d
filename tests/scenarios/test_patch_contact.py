"""Patch contact against the published numbers, closed forms, and a check that knows only velocities; other masses, friction, steps and starts too."""

from dataclasses import replace

import numpy as np
import pytest
from reproductions import patch_contact, patch_throws
from reproductions.experiment import Laboratory
from reproductions.patch_runs import simulate, world_of
from reproductions.patch_shapes import Box, Cylinder

SCENES = ("cube slides", "cylinder rolls", "cube tumbles", "cylinder manipulation", "Euler's disk", "stack tips")


@pytest.fixture(scope="module")
def measured(deft, tmp_path_factory):
    return patch_contact.measure(Laboratory(deft, tmp_path_factory.mktemp("patch")))


@pytest.mark.parametrize("scene", SCENES)
def test_every_number_of_the_page_holds(measured, scene):
    checks = [c for c in measured.checks if c.scene == scene]
    assert len(checks) > 3
    assert not [f"{c.what}: wanted {c.wanted}, found {c.found}" for c in checks if not c.passed]


def sets(**values) -> list[str]:
    return [word for key, value in values.items() for word in ("--set", f"{key.replace('__', '.')}={value}")]


def started(body: str, position, quat=(1, 0, 0, 0), velocity=(0, 0, 0, 0, 0, 0)) -> list[str]:
    return ["--set", f"configurations.start.{body}={{position: {list(map(float, position))}, quat_wxyz: {list(map(float, quat))}, velocity: {list(map(float, velocity))}}}",
            "--set", "wrenches=[]"]  # fmt: skip


def turned(axis, degrees: float) -> np.ndarray:
    axis, half = np.array(axis, float) / np.linalg.norm(axis), np.radians(degrees) / 2
    return np.array([np.cos(half), *(np.sin(half) * axis)])


CASES: dict[str, tuple] = {
    "cube on a corner, other tilt, torsion of its own": ("cube", Box((1, 1, 1)), 2.0, 0.6, 0.01, (1, 1, 0.2), (0, 0, 0.9), turned((1, -0.7, 0.1), 50), (0, 0, 1, 0, 0, 0)),
    "brick thrown, other ellipsoid": ("cube", Box((0.4, 0.3, 0.2)), 5.0, 0.3, 0.005, (1, 0.5, 0.1), (0, 0, 0.4), turned((1, 2, 3), 70), (2, -1, 3, 1, 0.5, 0)),
    "heavy cube, long steps, no slip": ("cube", Box((1, 1, 1)), 300.0, 2.0, 0.02, (1, 1, 1), (0, 0, 0.8), turned((1, 0.2, 0), 35), (0, 0, 0, 0, 0.5, 0)),
    "cube, little friction": ("cube", Box((0.5, 0.5, 0.5)), 0.1, 0.02, 0.01, (1, 1, 0.05), (0, 0, 0.4), turned((0.3, 1, 0), 20), (0, 0, 4, 1, 0, 0)),
    "spinning cube on its face": ("cube", Box((1, 1, 1)), 1.0, 0.4, 0.01, (1, 1, 0.3), (0, 0, 0.5), (1, 0, 0, 0), (0, 0, 6, 1, 0, 0)),
    "cylinder thrown": ("cylinder", Cylinder(0.1, 0.3), 2.0, 0.5, 0.005, (1, 1, 0.05), (0, 0, 0.4), turned((1, 0.5, 0), 60), (1, 2, 1, 0.5, -1, 0)),
    "cylinder on its rim": ("cylinder", Cylinder(0.3, 0.1), 1.0, 0.8, 0.002, (1, 1, 0.1), (0, 0, 0.32), turned((1, 0, 0), 80), (0, 5, 1, 1, 0, 0)),
    "cylinder lies and slides askew": ("cylinder", Cylinder(1, 5), 10.0, 0.3, 0.01, (1, 1, 1), (0, 0, 1), turned((0, 1, 0), 90), (0, 0, 0.5, 1, -2, 0)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_other_bodies_and_starts_are_checked_step_by_step(deft, tmp_path, case):
    body, shape, mass, mu, h, ellipsoid, position, quat, velocity = CASES[case]
    scene, duration = ("cube_slides" if body == "cube" else "cylinder_rolls"), 2.0
    geometry = (
        f"{{box: {{size: {[float(s) for s in shape.size]}}}}}"
        if body == "cube"
        else f"{{cylinder: {{radius: {float(shape.radius_m)}, length: {float(shape.length)}}}}}"
    )
    options = [*started(body, position, quat, velocity), *sets(step__h=h, friction__ellipsoid=list(map(float, ellipsoid)))]
    options += ["--set", f"bodies.{body}={{shape: {geometry}, mass: {mass}, joint: free, mu: {mu}}}", "--set", f"bodies.ground.mu={mu}"]
    run = replace(
        simulate(Laboratory(deft, tmp_path), scene, world_of(shape, mass, mu, h, ellipsoid), body, round(duration / h), *options),
        wrenches=[],
    )
    assert run.run.summary["status"] == "Completed"
    with np.errstate(all="ignore"):
        assert max(run.violations().values()) < 1e-7, run.violations()
        assert max(run.second_proposition()) < 1e-7
    assert run.height.min() > -1e-8
    energy = [run.state(k).energy(run.world) for k in range(len(run.position))]
    # Backward Euler loses energy; the gyroscopic impulse at the start of the step may give back h² of it.
    assert np.diff(energy).max() < h**2 * max(1.0, energy[0]) and max(energy) < energy[0] * (1 + 1e-9)


def moved(deft, folder, scene: str, body: str, world, steps: int, position, quat=(1, 0, 0, 0), velocity=(0, 0, 0, 0, 0, 0)) -> np.ndarray:
    """ν [T+1, 6] of a body started like this."""
    options = [*started(body, position, quat, velocity), *sets(step__h=world.h, friction__ellipsoid=list(map(float, world.ellipsoid)))]
    options += [
        f"--set={key}={value}"
        for key, value in ((f"bodies.{body}.mass", world.mass), (f"bodies.{body}.mu", world.mu), ("bodies.ground.mu", world.mu))
    ]
    return simulate(Laboratory(deft, folder), scene, world, body, steps, *options).nu


@pytest.mark.parametrize(("mu", "ellipsoid", "along"), [(0.12, (1, 1, 1), 0), (0.3, (0.5, 1, 0.2), 0), (0.3, (0.5, 1.2, 0.2), 1)])
def test_steady_sliding_loses_e_mu_g(deft, tmp_path, mu, ellipsoid, along):
    world, velocity = world_of(Box((1, 1, 1)), 2.5, mu, 0.01, ellipsoid), np.zeros(6)
    velocity[3 + along] = 3.0
    nu = moved(deft, tmp_path, "cube_slides", "cube", world, 60, (0, 0, 0.5), velocity=velocity)
    speed = 3.0 - ellipsoid[along] * mu * 9.8 * world.h * np.arange(61)
    assert np.abs(nu[:, 3 + along] - speed).max() < 1e-8
    assert np.abs(np.delete(nu, 3 + along, axis=1)).max() < 1e-8


@pytest.mark.parametrize("torsion", [0.05, 1.0])
def test_steady_spinning_loses_its_torsional_friction(deft, tmp_path, torsion):
    """I dω_z/dt = −μ m g e_r."""
    world = world_of(Box((1, 1, 1)), 2.0, 0.2, 0.01, (1, 1, torsion))
    nu = moved(deft, tmp_path, "cube_slides", "cube", world, 50, (0, 0, 0.5), velocity=(0, 0, 5, 0, 0, 0))
    loss = world.mu * world.mass * 9.8 * torsion * world.h / world.inertia[2]
    assert np.abs(nu[:, 2] - np.maximum(0, 5 - loss * np.arange(51))).max() < 1e-8
    assert np.abs(np.delete(nu, 2, axis=1)).max() < 1e-8


def test_a_cylinder_slides_then_rolls_at_two_thirds_of_its_speed(deft, tmp_path):
    world = world_of(Cylinder(1, 5), 10, 0.3)
    lying = (np.sqrt(0.5), 0, np.sqrt(0.5), 0)
    nu = moved(deft, tmp_path, "cylinder_rolls", "cylinder", world, 100, (0, 0, 1), lying, (0, 0, 0, 0, 1.5, 0))
    k = np.arange(101)
    assert np.abs(nu[:, 4] - np.maximum(1.0, 1.5 - 0.3 * 9.8 * 0.01 * k)).max() < 1e-8
    assert np.abs(nu[:, 0] + np.minimum(1.0, 2 * 0.3 * 9.8 * 0.01 * k)).max() < 1e-8


@pytest.mark.parametrize("shape", patch_throws.SHAPES)
def test_random_throws_obey_every_law(deft, tmp_path, shape):
    rng, lab = np.random.default_rng(8), Laboratory(deft, tmp_path)
    for number in range(5):
        throw = patch_throws.drawn(rng, shape)
        assert not patch_throws.faults(patch_throws.run(lab, throw, 1.5)), (number, throw)
