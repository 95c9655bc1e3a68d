"""Heaps of boxes on the ground: one list of boxes, written for deft, MuJoCo and Drake.

A heap is a blunt pyramid of boxes of different sizes, each turned and shifted a little, which come to lie across several
of the layer below. They start some millimetres apart and fall.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DENSITY = 1000.0  # kg/m³
MU = 0.5
GRAVITY = 9.81
H = 0.01  # s
LAYERS = 5


@dataclass
class Box:
    """Side lengths [m], position [m] and orientation (w, x, y, z) of the centre."""

    size: np.ndarray
    position: np.ndarray
    quat_wxyz: np.ndarray

    @property
    def mass(self) -> float:
        return DENSITY * float(np.prod(self.size))

    @property
    def inertia(self) -> np.ndarray:
        """Principal moments of the uniform solid [kg m²]."""
        squares = self.size**2
        return self.mass / 12 * (squares.sum() - squares)


def quaternion(vector: np.ndarray) -> np.ndarray:
    """The rotation by |vector| about it, (w, x, y, z)."""
    angle = np.linalg.norm(vector)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * vector / max(angle, 1e-12))])


def heap(count: int, seed: int = 0, centre: tuple[float, float] = (0.0, 0.0)) -> list[Box]:
    """`count` boxes of 9.5 to 10.5 cm in up to five layers, each a row narrower than the one below; the same for the same seed."""
    random = np.random.default_rng(seed)
    side, pitch, layer = 1, 0.125, 0
    boxes: list[Box] = []
    while sum((side - k) ** 2 for k in range(min(side, LAYERS))) < count:
        side += 1
    while len(boxes) < count:
        for k in range(min((side - layer) ** 2, count - len(boxes))):
            place = (np.array([k % (side - layer), k // (side - layer)]) - 0.5 * (side - layer - 1)) * pitch
            place += random.uniform(-0.005, 0.005, 2)
            turn = quaternion(np.append(random.uniform(-0.02, 0.02, 2), random.uniform(-0.1, 0.1)))
            boxes.append(Box(random.uniform(0.095, 0.105, 3), np.array([*(place + centre), 0.06 + 0.112 * layer]), turn))
        layer += 1
    return boxes


def islands(piles: int, boxes_each: int) -> list[Box]:
    """Many small heaps, two metres apart."""
    side = int(np.ceil(piles**0.5))
    return [box for k in range(piles) for box in heap(boxes_each, seed=k, centre=(2.0 * (k % side), 2.0 * (k // side)))]


def placed(boxes: list[Box], q: np.ndarray) -> list[Box]:
    """The boxes at a configuration of deft, [qw qx qy qz x y z] each."""
    return [Box(box.size, pose[4:], pose[:4]) for box, pose in zip(boxes, np.reshape(q, (-1, 7)), strict=True)]


def numbers(values) -> str:
    return ", ".join(repr(float(x)) for x in values)


def deft_scene(boxes: list[Box], model: str, margin: float = 0.01) -> str:
    """The scene file. Forces are any that the solver finds: choosing the least ones is a dense computation per island."""
    lines = [
        "deft: 1",
        "name: pile",
        "bodies:",
        f"  ground: {{shape: {{half_space: {{normal: [0, 0, 1], offset: 0}}}}, joint: fixed, mu: {MU}}}",
    ]
    lines += [
        f"  b{k}: {{shape: {{box: {{size: [{numbers(b.size)}]}}}}, mass: {b.mass!r}, joint: free, mu: {MU}}}" for k, b in enumerate(boxes)
    ]
    lines += [
        f"gravity: [0, 0, {-GRAVITY}]",
        f"step: {{h: {H}, model: {model}, cone: pyramid, rays: 4, contact_margin: {margin}, forces: any}}",
        "configurations:",
        "  start:",
    ]
    lines += [
        f"    b{k}: {{position: [{numbers(b.position)}], rotation: {{quat_wxyz: [{numbers(b.quat_wxyz)}]}}}}" for k, b in enumerate(boxes)
    ]
    return "\n".join([*lines, "initial: start", ""])


def mjcf(boxes: list[Box], option: str = "") -> str:
    """The MuJoCo model; `option` holds attributes of <option>."""
    bodies = "".join(
        f'<body pos="{numbers(b.position).replace(",", "")}" quat="{numbers(b.quat_wxyz).replace(",", "")}"><freejoint/>'
        f'<geom type="box" size="{numbers(b.size / 2).replace(",", "")}" mass="{b.mass!r}" friction="{MU} 0.005 0.0001"/></body>'
        for b in boxes
    )
    return (
        f'<mujoco><size memory="4G"/><option timestep="{H}" gravity="0 0 {-GRAVITY}" {option}/><worldbody>'
        f'<geom type="plane" size="0 0 1" friction="{MU} 0.005 0.0001"/>{bodies}</worldbody></mujoco>'
    )
