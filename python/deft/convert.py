"""Configurations and velocities to and from MuJoCo, Drake and Pinocchio, by the names of joints.

A joint of the scene, "hand/joint_1", is one of the other model with that name, or with the end of it ("joint_1"), whatever
separates the parts ("/", "::", "_"). What the scene does not have keeps the other model's default.

| | free body: q | v | ball joint: q | v |
|---|---|---|---|---|
| deft | quat_wxyz, p_WB | ω_W, v_W of the origin | quat_wxyz | ω in the parent's frame |
| MuJoCo | p_WB, quat_wxyz | v_W, ω_B | quat_wxyz | ω in the child's frame |
| Drake | quat_wxyz, p_WB | ω_W, v_W | roll, pitch, yaw | ω in the parent's frame |
| Pinocchio | p_WB, quat_xyzw | v_B, ω_B | quat_xyzw | ω in the child's frame |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._errors import InputError
from ._scene import Scene

Rotation = np.ndarray  # (3, 3)


class _Joint(NamedTuple):
    """A joint of the scene or of the other model, and where its entries begin in q and in v."""

    name: str
    kind: str  # "free", "ball" or "axis"
    q: int
    v: int
    names: tuple[str, ...] = ()  # others by which it goes


_WIDTHS = {"free": (7, 6), "ball": (4, 3), "axis": (1, 1)}


def joints_of(scene: Scene) -> list[_Joint]:
    """The joints of a scene in the order of q and v: free bodies, ball joints, single axes."""
    names = [coordinate.name for coordinate in scene.coordinates]
    joints: list[_Joint] = []
    q = v = 0
    while q < len(names):
        path, _, last = names[q].rpartition("/")
        is_turn = last == "qw" and names[q + 1 : q + 4] == [f"{path}/{key}" for key in ("qx", "qy", "qz")]
        kind = "axis" if not is_turn else "free" if names[q + 4 : q + 5] == [f"{path}/x"] and v + 6 <= scene.n_v else "ball"
        joints.append(_Joint(path if is_turn else names[q], kind, q, v))
        q, v = q + _WIDTHS[kind][0], v + _WIDTHS[kind][1]
    return joints


def _matched(scene: Scene, others: list[_Joint], what: str) -> list[tuple[_Joint, _Joint]]:
    """Each joint of the scene with its twin."""
    by_name: dict[tuple[str, str], _Joint | None] = {}
    for other in others:
        for name in {other.name, *other.names}:
            key = (other.kind, name.replace("::", "/"))
            by_name[key] = None if key in by_name else other  # of several it means none
    own = joints_of(scene)
    pairs: list[tuple[_Joint, _Joint]] = []
    taken: dict[int, str] = {}
    for joint in own:
        parts = joint.name.split("/")
        forms = [form for k in range(len(parts)) for form in ("/".join(parts[k:]), "_".join(parts[k:]))]
        if joint.kind == "free":
            forms.append(parts[0])
        twin = next((by_name[joint.kind, form] for form in forms if by_name.get((joint.kind, form)) is not None), None)
        same_kind = [other for other in others if other.kind == joint.kind]
        if twin is None and joint.kind == "free" and len(same_kind) == 1 and sum(each.kind == "free" for each in own) == 1:
            twin = same_kind[0]  # a base by any name
        if twin is None:
            valid = ", ".join(other.name for other in same_kind) or "none of this kind"
            raise InputError(f"joint '{joint.name}' ({joint.kind}): {what} has no joint of that name; it has: {valid}")
        if twin.q in taken:
            raise InputError(f"joints '{taken[twin.q]}' and '{joint.name}' are both '{twin.name}' in {what}")
        taken[twin.q] = joint.name
        pairs.append((joint, twin))
    return pairs


def _rotation(quat_wxyz: np.ndarray) -> Rotation:
    w, x, y, z = quat_wxyz / np.linalg.norm(quat_wxyz)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def _rpy_to_quat(rpy: np.ndarray) -> np.ndarray:
    quat = np.array([1.0, 0, 0, 0])
    for axis, angle in ((3, rpy[2]), (2, rpy[1]), (1, rpy[0])):  # R = Rz(yaw) Ry(pitch) Rx(roll)
        turn = np.zeros(4)
        turn[0], turn[axis] = np.cos(angle / 2), np.sin(angle / 2)
        w, x = quat[0], quat[1:]
        quat = np.concatenate([[w * turn[0] - x @ turn[1:]], w * turn[1:] + turn[0] * x + np.cross(x, turn[1:])])
    return quat


def _quat_to_rpy(quat_wxyz: np.ndarray) -> np.ndarray:
    R = _rotation(quat_wxyz)
    return np.array([np.arctan2(R[2, 1], R[2, 2]), np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])), np.arctan2(R[1, 0], R[0, 0])])


Converter = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


class _Convention(NamedTuple):
    """What a simulator makes of the entries of a joint of deft, and back."""

    widths: dict[str, tuple[int, int]]
    free: Converter
    free_back: Converter
    ball: Converter
    ball_back: Converter


def _xyzw(quat_wxyz: np.ndarray) -> np.ndarray:
    return np.roll(quat_wxyz, -1)


def _wxyz(quat_xyzw: np.ndarray) -> np.ndarray:
    return np.roll(quat_xyzw, 1)


_MUJOCO = _Convention(
    _WIDTHS,
    lambda q, v: (np.concatenate([q[4:], q[:4]]), np.concatenate([v[3:], _rotation(q[:4]).T @ v[:3]])),
    lambda q, v: (np.concatenate([q[3:], q[:3]]), np.concatenate([_rotation(q[3:]) @ v[3:], v[:3]])),
    lambda q, v: (q, _rotation(q).T @ v),
    lambda q, v: (q, _rotation(q) @ v),
)
_DRAKE = _Convention(
    _WIDTHS | {"ball": (3, 3)},
    lambda q, v: (q, v),
    lambda q, v: (q, v),
    lambda q, v: (_quat_to_rpy(q), v),
    lambda q, v: (_rpy_to_quat(q), v),
)
_PINOCCHIO = _Convention(
    _WIDTHS,
    lambda q, v: (np.concatenate([q[4:], _xyzw(q[:4])]), np.concatenate([_rotation(q[:4]).T @ v[3:], _rotation(q[:4]).T @ v[:3]])),
    lambda q, v: (
        np.concatenate([_wxyz(q[3:]), q[:3]]),
        np.concatenate([_rotation(_wxyz(q[3:])) @ v[3:], _rotation(_wxyz(q[3:])) @ v[:3]]),
    ),
    lambda q, v: (_xyzw(q), _rotation(q).T @ v),
    lambda q, v: (_wxyz(q), _rotation(_wxyz(q)) @ v),
)


def _same(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return q, v


def _vector(values: Any, name: str, size: int) -> np.ndarray:
    return _core.vector(values, name, size)


def _there(
    scene: Scene, others: list[_Joint], what: str, convention: _Convention, q: Any, v: Any, q_there: np.ndarray, v_there: np.ndarray
):
    q, v = _vector(q, "q", scene.n_q), _vector(np.zeros(scene.n_v) if v is None else v, "v", scene.n_v)
    for own, other in _matched(scene, others, what):
        nq, nv = _WIDTHS[own.kind]
        mq, mv = convention.widths[own.kind]
        if own.kind != "axis":
            q[own.q : own.q + 4] /= np.linalg.norm(q[own.q : own.q + 4])
        convert = {"free": convention.free, "ball": convention.ball, "axis": _same}[own.kind]
        q_there[other.q : other.q + mq], v_there[other.v : other.v + mv] = convert(q[own.q : own.q + nq], v[own.v : own.v + nv])
    return q_there, v_there


def _back(scene: Scene, others: list[_Joint], what: str, convention: _Convention, q_there: Any, v_there: Any, sizes: tuple[int, int]):
    q_there = _vector(q_there, "q", sizes[0])
    v_there = _vector(np.zeros(sizes[1]) if v_there is None else v_there, "v", sizes[1])
    q, v = np.zeros(scene.n_q), np.zeros(scene.n_v)
    for own, other in _matched(scene, others, what):
        nq, nv = _WIDTHS[own.kind]
        mq, mv = convention.widths[own.kind]
        convert = {"free": convention.free_back, "ball": convention.ball_back, "axis": _same}[own.kind]
        q[own.q : own.q + nq], v[own.v : own.v + nv] = convert(q_there[other.q : other.q + mq], v_there[other.v : other.v + mv])
    return q, v


def _mujoco_joints(model: Any) -> list[_Joint]:
    kinds = {0: "free", 1: "ball", 2: "axis", 3: "axis"}
    joints = []
    for i in range(model.njnt):
        body = model.body(model.jnt_bodyid[i]).name
        kind = kinds[int(model.jnt_type[i])]
        joints.append(
            _Joint(
                model.joint(i).name or body, kind, int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i]), (body,) if kind == "free" else ()
            )
        )
    return joints


def to_mujoco(scene: Scene, mj_model: Any, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(qpos, qvel) of a compiled MuJoCo model; v without it: 0."""
    return _there(scene, _mujoco_joints(mj_model), "the MuJoCo model", _MUJOCO, q, v, np.array(mj_model.qpos0), np.zeros(mj_model.nv))


def from_mujoco(scene: Scene, mj_model: Any, qpos: Any, qvel: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the scene."""
    return _back(scene, _mujoco_joints(mj_model), "the MuJoCo model", _MUJOCO, qpos, qvel, (mj_model.nq, mj_model.nv))


def _drake_joints(plant: Any) -> list[_Joint]:
    kinds = {"quaternion_floating": "free", "ball_rpy": "ball", "revolute": "axis", "prismatic": "axis"}
    joints = []
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() == 0:
            continue
        kind = kinds.get(joint.type_name())
        if kind is None:
            raise InputError(f"joint '{joint.name()}' of the Drake plant is of type '{joint.type_name()}'; valid: {', '.join(kinds)}")
        instance, body = plant.GetModelInstanceName(joint.model_instance()), joint.child_body().name()
        names = (joint.name(), *((f"{instance}/{body}", body, instance) if kind == "free" else ()))
        joints.append(_Joint(f"{instance}/{joint.name()}", kind, joint.position_start(), joint.velocity_start(), names))
    return joints


def to_drake(scene: Scene, plant: Any, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of a finalised MultibodyPlant."""
    start = np.array(plant.GetPositions(plant.CreateDefaultContext()))
    return _there(scene, _drake_joints(plant), "the Drake plant", _DRAKE, q, v, start, np.zeros(plant.num_velocities()))


def from_drake(scene: Scene, plant: Any, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the scene."""
    return _back(scene, _drake_joints(plant), "the Drake plant", _DRAKE, q, v, (plant.num_positions(), plant.num_velocities()))


def _pinocchio_joints(model: Any) -> list[_Joint]:
    kinds = {(7, 6): "free", (4, 3): "ball", (1, 1): "axis"}
    joints = []
    for i in range(1, model.njoints):
        joint = model.joints[i]
        kind = kinds.get((joint.nq, joint.nv))
        if kind is None:
            raise InputError(
                f"joint '{model.names[i]}' of the Pinocchio model has nq {joint.nq}, nv {joint.nv}; valid: free flyers, spherical joints, one axis"
            )
        bodies = tuple(frame.name for frame in model.frames if frame.parentJoint == i and frame.type.name == "BODY")
        joints.append(_Joint(model.names[i], kind, joint.idx_q, joint.idx_v, bodies if kind == "free" else ()))
    return joints


def to_pinocchio(scene: Scene, model: Any, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of a Pinocchio model; its root joint is the scene's one free body whatever it is called."""
    neutral = np.zeros(model.nq)
    for joint in _pinocchio_joints(model):
        if joint.kind != "axis":
            neutral[joint.q + _WIDTHS[joint.kind][0] - 1] = 1
    return _there(scene, _pinocchio_joints(model), "the Pinocchio model", _PINOCCHIO, q, v, neutral, np.zeros(model.nv))


def from_pinocchio(scene: Scene, model: Any, q: Any, v: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """(q, v) of the scene."""
    return _back(scene, _pinocchio_joints(model), "the Pinocchio model", _PINOCCHIO, q, v, (model.nq, model.nv))
