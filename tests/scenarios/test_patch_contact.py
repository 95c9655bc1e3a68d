"""Patch contact against the published numbers, closed forms, and a judge that knows only velocities; other masses, friction, steps and starts too."""
from dataclasses import replace

import numpy as np
import pytest
from reproductions import patch_contact
from reproductions.experiment import Laboratory
from reproductions.patch_reference import Box, Cylinder
from reproductions.patch_runs import simulate, world_of

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


CASES = {
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
def test_other_bodies_and_starts_are_judged_step_by_step(deft, tmp_path, case):
    body, shape, mass, mu, h, ellipsoid, position, quat, velocity = CASES[case]
    scene, duration = ("cube_slides" if body == "cube" else "cylinder_rolls"), 2.0
    geometry = f"{{box: {{size: {[float(s) for s in shape.size]}}}}}" if body == "cube" else f"{{cylinder: {{radius: {float(shape.radius_m)}, length: {float(shape.length)}}}}}"
    options = [*started(body, position, quat, velocity), *sets(step__h=h, friction__ellipsoid=list(map(float, ellipsoid)))]
    options += ["--set", f"bodies.{body}={{shape: {geometry}, mass: {mass}, joint: free, mu: {mu}}}", "--set", f"bodies.ground.mu={mu}"]
    run = replace(simulate(Laboratory(deft, tmp_path), scene, world_of(shape, mass, mu, h, ellipsoid), body, round(duration / h), *options), wrenches=[])
    assert run.run.summary["status"] == "Completed"
    with np.errstate(all="ignore"):
        assert max(run.verdict().values()) < 1e-7, run.verdict()
        assert max(run.second_proposition()) < 1e-7
    assert run.height.min() > -1e-8
    energy = [run.state(k).energy(run.world) for k in range(len(run.position))]
    assert np.diff(energy).max() < 1e-7 * max(1.0, energy[0])
