"""Pushed, turned, rolled and jammed: steps whose result is a formula."""

import json
import math
import subprocess

import h5py
import numpy as np
import pytest
import yaml

POINT = {"shape": {"sphere": {"radius": 0}}, "joint": {"translation": "xy"}}


class Table:
    """A scene on a table in the making: runs it and returns q, forces and the summary."""

    def __init__(self, deft, folder, h=0.02, gain=0.0, **step):
        self.deft, self.folder = deft, folder
        self.doc: dict = {
            "deft": 1,
            "bodies": {},
            "robots": [],
            "friction": {"default": 0, "pairs": []},
            "plane": "xy",
            "step": {"model": "limit-surface", "h": h, "gain": gain, "contact_margin": math.inf, **step},
            "configurations": {"start": {}},
            "initial": "start",
            "commands": {"type": "velocity", "interpolation": "hold", "knots": [{"t": 0}]},
        }

    def disc(self, name, radius, at, A, mu=0):
        self.doc["bodies"][name] = {
            "shape": {"cylinder": {"radius": radius, "length": 0.1}},
            "joint": {"planar": "xy"},
            "mass": 1,
            "mu": mu,
            "limit_surface": np.asarray(A, float).tolist(),
        }
        self.doc["configurations"]["start"][name] = at

    def box(self, name, size, at, A, mu=0):
        self.doc["bodies"][name] = {
            "shape": {"box": {"size": [*size, 0.1]}},
            "joint": {"planar": "xy"},
            "mass": 1,
            "mu": mu,
            "limit_surface": np.asarray(A, float).tolist(),
        }
        self.doc["configurations"]["start"][name] = at

    def finger(self, name, at, u, B=1.0, mu=0, **body):
        self.doc["bodies"][name] = POINT | {"mu": mu} | body
        self.doc["configurations"]["start"][name] = at
        self.doc["robots"].append({"name": name, "admittance": B})
        self.doc["commands"]["knots"][0][name] = u

    def wall(self, name, normal, offset, mu=0):
        self.doc["bodies"][name] = {"shape": {"half_space": {"normal": normal, "offset": offset}}, "joint": "fixed", "mu": mu}

    def run(self, steps=1, code=0):
        path = self.folder / "table.deft.yaml"
        path.write_text(yaml.safe_dump(self.doc, sort_keys=False))
        out = self.folder / f"out-{len(list(self.folder.iterdir()))}"
        done = subprocess.run(
            [self.deft, "sim", path, "--steps", str(steps), "--out", out, "--json"], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == code, done.stderr + done.stdout
        with h5py.File(out / "run.h5") as f:
            names = [str(n) for n in f.attrs["names_q"]]
            q = {name: np.array(f["q"])[:, i] for i, name in enumerate(names)}
            force = np.array(f["contacts/force_W"])
        return q, force, json.loads(done.stdout)


@pytest.fixture
def table(deft, tmp_path):
    return lambda **options: Table(deft, tmp_path, **options)


@pytest.mark.parametrize("c", [0, 1e-6, 0.01, 3.0])
@pytest.mark.parametrize("angle", [0.0, 2.3])
def test_disc_pushed_through_its_centre(table, c, angle):
    """λ = v/(nᵀAn + cB) with A = a 1: the disc moves at v a/(a + cB)."""
    a, B, v, h, r = 0.7, 1.9, 0.3, 0.05, 0.4
    t = table(h=h, gain=c)
    n = np.array([math.cos(angle), math.sin(angle)])
    t.disc("disc", r, [0.2, -0.1, 0.5], [a, a, 3.0])
    t.finger("tip", (np.array([0.2, -0.1]) - r * n).tolist(), (v * n).tolist(), B)
    q, force, _ = t.run(20)
    moved = np.array([q["disc/x"][-1] - 0.2, q["disc/y"][-1] + 0.1])
    assert moved == pytest.approx(20 * h * v * a / (a + c * B) * n, abs=1e-9)
    assert q["disc/theta"][-1] == pytest.approx(0.5, abs=1e-12)
    assert np.linalg.norm(force, axis=1) == pytest.approx(v / (a + c * B), rel=1e-8)


def test_ellipsoid_turns_with_its_object(table):
    """Frictionless push along x on a disc whose Ã is not aligned: V = R̃ÃR̃ᵀ(λ, 0, 0), λ = v/(A₁₁ + cB)."""
    A = np.array([[1.0, 0.4, 0.3], [0.4, 0.6, -0.2], [0.3, -0.2, 2.0]])
    theta, h, v, c, B = 0.9, 0.01, 0.5, 0.2, 0.8
    R = np.array([[math.cos(theta), -math.sin(theta), 0], [math.sin(theta), math.cos(theta), 0], [0, 0, 1]])
    world = R @ A @ R.T
    t = table(h=h, gain=c)
    t.disc("disc", 0.3, [0, 0, theta], A)
    t.finger("tip", [-0.3, 0], [v, 0], B)
    q, _, _ = t.run(1)
    load = v / (world[0, 0] + c * B)
    moved = [q[f"disc/{k}"][1] - start for k, start in (("x", 0), ("y", 0), ("theta", theta))]
    assert moved == pytest.approx(h * world[:, 0] * load, abs=1e-11)


@pytest.mark.parametrize("c", [0, 1e-3, 1.0])
def test_two_fingers_turn_a_box_on_the_spot(table, c):
    """A couple of arms y: λ = v/(2 y² a₃ + cB), ω = −2 y a₃ λ."""
    y, a3, B, v, h = 0.2, 4.0, 0.5, 0.3, 0.01
    t = table(h=h, gain=c)
    t.box("box", (1.0, 0.8), [0, 0, 0], [1, 2, a3])
    t.finger("left", [-0.5, y], [v, 0], B)
    t.finger("right", [0.5, -y], [-v, 0], B)
    q, _, _ = t.run(1)
    load = v / (2 * y * y * a3 + c * B)
    assert [q["box/x"][1], q["box/y"][1]] == pytest.approx([0, 0], abs=1e-12)
    assert q["box/theta"][1] == pytest.approx(-2 * h * y * a3 * load, rel=1e-9)


@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3, 0.4, 0.6, 2.0])
@pytest.mark.parametrize("c", [0, 0.05])
def test_disc_slides_or_rolls_along_a_wall(table, mu, c):
    """Pushed at the angle α into a wall, N = λ sin α; the wall's friction is −aλ cos α/(a + a₃r²) while rolling, −μN while sliding."""
    alpha, a, a3, r, v, h, B = 0.8, 1.5, 2.0, 0.25, 0.2, 0.01, 1.0
    t = table(h=h, gain=c)
    n = np.array([math.cos(alpha), -math.sin(alpha)])
    t.disc("disc", r, [0.0, r, 0.0], [a, a, a3], mu=mu)
    t.wall("wall", [0, 1, 0], 0.0, mu=mu)
    t.finger("tip", (np.array([0, r]) - r * n).tolist(), (v * n).tolist(), B)
    rolling = a * math.cos(alpha) / (a + a3 * r * r)
    friction = min(rolling, mu * math.sin(alpha))  # per λ, backwards
    speed = a * (math.cos(alpha) - friction)  # per λ
    load = v / (speed * math.cos(alpha) + c * B)
    q, _, _ = t.run(1)
    assert q["disc/x"][1] == pytest.approx(h * speed * load, rel=1e-9)
    assert q["disc/y"][1] == pytest.approx(r, abs=1e-12)
    assert q["disc/theta"][1] == pytest.approx(-h * a3 * r * friction * load, abs=1e-11)


@pytest.mark.parametrize("theta", [0.3, 0.9])
@pytest.mark.parametrize("margin", [0.95, 1.05])
def test_disc_in_a_nip_jams_where_the_friction_angle_says(table, theta, margin):
    """Between a wall and a plate that closes at the angle θ a disc is caught if μ > tan(θ/2) and leaves if not."""
    mu, r = margin * math.tan(theta / 2), 0.2
    t = table(h=0.01, gain=0.0)
    t.disc("disc", r, [0, r, 0], [1, 1, 5], mu=mu)
    t.wall("wall", [0, 1, 0], 0.0, mu=mu)
    # The plate above touches at angle θ from the vertical: its edge's outward normal points down on the disc.
    n = np.array([math.sin(theta), -math.cos(theta)])  # from the plate to the disc
    touch = np.array([0, r]) - r * n
    along = np.array([n[1], -n[0]])
    corners = [touch + s * along * 0.3 - d * 0.1 * n for s, d in ((-1, 0), (1, 0), (1, 1), (-1, 1))]
    area = sum(p[0] * q[1] - p[1] * q[0] for p, q in zip(corners, corners[1:] + corners[:1], strict=True))
    corners = corners if area > 0 else corners[::-1]
    t.finger(
        "plate",
        [0, 0],
        (0.1 * n).tolist(),
        1.0,
        mu=mu,
        inertia=[0.1, 0.1, 0.1],
        mass=1,
        shape={"prism": {"vertices": [[float(x) for x in p] for p in corners], "height": 0.1}},
    )
    q, _, summary = t.run(1, code=1 if margin > 1 else 0)
    assert summary["status"] == ("Infeasible" if margin > 1 else "Completed")
    if margin < 1:
        assert q["disc/x"][1] > 0  # out of the nip


@pytest.mark.parametrize("c", [1e-6, 1e-3, 1.0])
def test_squeeze_holds_with_the_force_of_the_gain(table, c):
    """A box between a finger and a wall: nothing moves, λ = v/(cB)."""
    t = table(gain=c)
    t.box("box", (0.4, 0.4), [0, 0, 0], [[2, 0.3, 0], [0.3, 1, 0.1], [0, 0.1, 3]], mu=0.7)
    t.wall("wall", [-1, 0, 0], -0.2, mu=0.7)
    t.finger("tip", [-0.2, 0], [0.3, 0], 2.0, mu=0.7)
    q, force, _ = t.run(3)
    assert max(np.abs(q[f"box/{k}"]).max() for k in ("x", "y", "theta")) <= 1e-12
    assert np.abs(force).max() == pytest.approx(0.3 / (2 * c), rel=1e-8)


def test_motions_apart_by_rounding_are_one(deft, tmp_path):
    """A finger pushes a box on smooth ground, which may slide ahead, and stops beside it: other motions by 1e-18 m are none."""
    path = tmp_path / "stopped.deft.yaml"
    path.write_text("""
deft: 1
name: stopped
bodies:
  ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.2}
  box: {shape: {box: {size: [0.16098721618416834, 0.23129548864256916, 0.11422065558401923]}}, mass: 1.1050909371618072, joint: {planar: yz}, mu: 0}
  tip: {shape: {sphere: {radius: 0.014040081833345212}}, mass: 0.3725298541238242, joint: {translation: yz}, mu: 0.5}
robots: [{name: tip, stiffness: [112.67946509742463, 642.5669423583691]}]
gravity: [0, 0, -10]
step: {model: perfect-tracking, h: 0.005, contact_margin: 0.1, uniqueness: check}
configurations: {start: {box: [0, 0.05711032779200961, 0], tip: [-0.1326878261546298, 0.06999322368950572]}}
initial: start
commands: {knots: [{t: 0, tip: [-0.1326878261546298, 0.06999322368950572]}, {t: 0.04, tip: [-0.1243965327857744, 0.06999322368950572]}]}
plane: yz
""")
    done = subprocess.run(
        [deft, "sim", path, "--steps", "16", "--out", tmp_path / "out", "--json"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "out/run.h5") as f:
        q, second = np.array(f["q"]), np.array(f["steps/second_delta"])
    apart = np.abs(second - np.diff(q, axis=0)).max(axis=1)  # in a plane q is a vector
    assert json.loads(done.stdout)["statuses"]["NotUnique"] == np.count_nonzero(np.isfinite(apart))
    assert np.nanmin(apart) > 1e-6
