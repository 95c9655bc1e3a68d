"""Scenes: what there is, by name, and what a configuration of it looks like."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from . import _core
from ._errors import InputWarning
from ._resources import SCENES
from ._text import to_yaml


class Coordinate(NamedTuple):
    """One entry of q."""

    name: str  # "hand/joint_0", "ball/qw"
    unit: str  # "rad", "m" or "1"
    lower: float  # of a joint; -inf: none
    upper: float


Overlay = "str | os.PathLike[str] | Mapping[str, Any]"


def _settings(changes: Mapping[str, Any] | None) -> list[str]:
    return [f"{key}={to_yaml(value)}" for key, value in (changes or {}).items()]


def _load(
    path: str, texts: dict[str, str], overlays: Iterable[Any], changes: Mapping[str, Any] | None, package_path: Iterable[Any]
) -> Scene:
    files = []
    folder = os.path.dirname(path)
    if isinstance(overlays, (str, os.PathLike, Mapping)):
        raise TypeError("overlays: expected a list of paths and dicts")
    if isinstance(package_path, (str, os.PathLike)):
        raise TypeError("package_path: expected a list of folders")
    for number, overlay in enumerate(overlays):
        if isinstance(overlay, Mapping):
            file = os.path.join(folder, f"<overlay {number + 1}>")
            texts[file] = to_yaml(overlay)
        else:
            file = os.fspath(overlay)
        files.append(file)
    core, found = _core.load(path, files, texts, _settings(changes), [os.fspath(folder) for folder in package_path], str(SCENES))
    for warning in found:
        place = f"{warning.file}:{warning.line}: " if warning.line else f"{warning.file}: " if warning.file else ""
        warnings.warn(place + warning.message, InputWarning, stacklevel=3)
    return Scene(core)


def load(
    path: str | os.PathLike[str],
    overlays: Iterable[str | os.PathLike[str] | Mapping[str, Any]] = (),
    set: Mapping[str, Any] | None = None,
    package_path: Iterable[str | os.PathLike[str]] = (),
) -> Scene:
    """Reads a scene file (deft, q_sys, Drake's directives) or a model file (URDF, SDFormat, MJCF), which is a scene of one model.

    overlays: files or dicts merged over it, later ones win. set: single values by key, {"step.h": 0.05}, after the overlays.
    package_path: folders in which package:// names are looked up first.
    Raises InputError with file, line and column of every problem; warns of what is suspicious (InputWarning).
    """
    return _load(os.fspath(path), {}, overlays, set, package_path)


def loads(
    text: str | Mapping[str, Any],
    directory: str | os.PathLike[str] = ".",
    overlays: Iterable[str | os.PathLike[str] | Mapping[str, Any]] = (),
    set: Mapping[str, Any] | None = None,
    package_path: Iterable[str | os.PathLike[str]] = (),
) -> Scene:
    """The same for YAML text or a dict; names of files are looked up from `directory`."""
    file = os.path.join(os.fspath(directory), "<scene>")
    return _load(file, {file: text if isinstance(text, str) else to_yaml(text)}, overlays, set, package_path)


class Scene:
    """A world of bodies, robots and objects with its settings: immutable, cheap to copy, shared by threads.

    Vectors: q of n_q coordinates (a free body: quat_wxyz, then position [m]), v of n_v velocities (a free body: angular, then
    linear, world axes), u of n_u commands (joint targets [rad, m]).
    """

    __slots__ = ("_core", "_dict")

    def __init__(self, core: _core.Scene):
        self._core = core
        self._dict: dict[str, Any] | None = None

    @property
    def name(self) -> str:
        """Of runs and pages."""
        return self._core.name

    @property
    def file(self) -> str:
        """From which it was read."""
        return self._core.file

    @property
    def n_q(self) -> int:
        """Entries of a configuration q."""
        return self._core.n_q

    @property
    def n_v(self) -> int:
        """Entries of a velocity v or a displacement dq."""
        return self._core.n_v

    @property
    def n_u(self) -> int:
        """Entries of a command u."""
        return self._core.n_u

    @property
    def bodies(self) -> list[str]:
        """Names of all bodies; the first is the world."""
        return self._core.bodies

    @property
    def robots(self) -> list[str]:
        """Names of the robots, in the order of their commands in u."""
        return self._core.robots

    @property
    def objects(self) -> list[str]:
        """Names of what moves by contact alone."""
        return self._core.objects

    @property
    def goals(self) -> list[str]:
        """Names of the goals."""
        return self._core.goals

    @property
    def configurations(self) -> list[str]:
        """Names of the configurations."""
        return self._core.configurations

    @property
    def coordinates(self) -> list[Coordinate]:
        """Name, unit and limits of every entry of q."""
        return [Coordinate(*fields) for fields in self._core.coordinates]

    @property
    def command_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper limits of the commanded joints, (n_u,) each [rad, m]."""
        all_limits = np.array([(each.lower, each.upper) for each in self.coordinates]).reshape(-1, 2)[self._core.command_coordinates]
        return all_limits[:, 0], all_limits[:, 1]

    @property
    def names_u(self) -> list[str]:
        """Names of the commanded joints."""
        return self._core.names_u

    @property
    def names_v(self) -> list[str]:
        """Names of the velocities: "ball/wx", "hand/joint_0"."""
        return self._core.names_v

    @property
    def settings(self) -> dict[str, Any]:
        """`step:` with every value, and the other settings (`plan:`, `optimize:`, `track:`, `control:`) as they are stated."""
        return {key: self.to_dict().get(key, {}) for key in ("step", "plan", "optimize", "track", "control")}

    def to_dict(self) -> dict[str, Any]:
        """The whole scene, overlays and changes merged; `loads` makes an equal one of it."""
        if self._dict is None:
            self._dict = cast(dict[str, Any], _core.yaml_to_objects(self._core.merged_yaml))
        return _copied(self._dict)

    def index(self, name: str) -> int:
        """The entry of q of a coordinate: scene.index("hand/joint_0")."""
        return self._core.index(name)

    def slice(self, name: str) -> slice:
        """The entries of q of a robot, object or other model."""
        return self._core.slice_q(name)

    def slice_v(self, name: str) -> Any:
        """Its entries of v."""
        return self._core.slice_v(name)

    def slice_u(self, name: str) -> Any:
        """The entries of u of a robot."""
        return self._core.slice_u(name)

    def q(self, name: str | None = None) -> np.ndarray:
        """A configuration by name, (n_q,); the initial one without a name."""
        return self._core.q() if name is None else self._core.q(name)

    def v(self, name: str | None = None) -> np.ndarray:
        """The velocity at the start, (n_v,), 0 where none is stated; of another configuration 0."""
        if name is None:
            return self._core.v()
        self._core.q(name)
        return np.zeros(self.n_v)

    def u(self, name: str | None = None) -> np.ndarray:
        """The commands that hold a configuration, (n_u,): where its commanded joints are."""
        return self.q(name)[self._core.command_coordinates]

    def pack(self, models: Mapping[str, Any]) -> np.ndarray:
        """q, (n_q,), of {"hand": [joints…], "ball": {"position": …, "quat_wxyz": …}}; what is left out has its default."""
        return self._core.pack(dict(models))

    def unpack(self, q: Sequence[float] | np.ndarray) -> dict[str, Any]:
        """The inverse of `pack`: {model: {coordinate: number}}, of a free body {"position": …, "quat_wxyz": …}."""
        values = _core.vector(q, "q", self.n_q)
        out: dict[str, Any] = {}
        for coordinate, value in zip(self._core.names_q, values):
            *path, key = coordinate.split("/")
            model = out
            for part in path:
                model = model.setdefault(part, {})
            model[key] = float(value)
        for model in out.values():
            _gather_poses(model)
        return out

    def with_(self, set: Mapping[str, Any] | None = None, overlays: Iterable[str | os.PathLike[str] | Mapping[str, Any]] = ()) -> Scene:
        """A changed copy: overlays, then single values, {"step.h": 0.05}."""
        folder = os.path.dirname(self.file)
        return loads(self._core.merged_yaml, folder, overlays, set)

    def body_pose(self, q: Any, body: str) -> np.ndarray:
        """X_WB at q, (4, 4), of a body by its name in `bodies`."""
        return self._core.body_pose(q, body)

    def jacobian(self, q: Any, body: str) -> np.ndarray:
        """Twist of a body per unit of v, (6, n_v): angular rows first, world axes, linear rows at the body's origin."""
        return self._core.jacobian(q, body)

    def integrate(self, q: Any, dq: Any) -> np.ndarray:
        """q ⊕ dq, (n_q,): rotations by R⁺ = Exp(dq_ω) R."""
        return self._core.integrate(q, dq)

    def difference(self, q0: Any, q1: Any) -> np.ndarray:
        """dq with q0 ⊕ dq = q1, (n_v,)."""
        return self._core.difference(q0, q1)

    def goal(self, name: str | None = None) -> _core.Goal:
        """A goal by name, the first without one: distances and errors of configurations. InputError for unknown names."""
        return _core.make_goal(self._core, name or "")

    def contacts(self, q: Any) -> _core.Contacts:
        """Contact points at q that are nearer than `step.contact_margin`."""
        return self._core.contacts(q)

    def __repr__(self) -> str:
        return f"<deft.Scene {self.name!r}: n_q {self.n_q}, n_v {self.n_v}, n_u {self.n_u}>"

    def __copy__(self) -> Scene:
        return self

    def __deepcopy__(self, memo: Any) -> Scene:
        return self

    def __reduce__(self) -> Any:
        return loads, (self._core.merged_yaml, os.path.dirname(self.file))


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _gather_poses(model: dict[str, Any]) -> None:
    for item in model.values():
        if isinstance(item, dict):
            _gather_poses(item)
    if all(key in model for key in ("qw", "qx", "qy", "qz")):
        model["quat_wxyz"] = [model.pop(key) for key in ("qw", "qx", "qy", "qz")]
        if all(key in model for key in ("x", "y", "z")):
            model["position"] = [model.pop(key) for key in ("x", "y", "z")]


def scene_path(name: str) -> Path:
    """The file of a bundled scene: scene_path("planning/planar_hand")."""
    path = SCENES / f"{name}.deft.yaml"
    if not path.is_file():
        from difflib import get_close_matches

        near = get_close_matches(name, scenes(), 3, 0.3)
        raise KeyError(f"there is no bundled scene {name!r}; valid: {', '.join(near or scenes())}")
    return path


def scenes() -> list[str]:
    """Names of the bundled scenes."""
    return sorted(str(path.relative_to(SCENES)).removesuffix(".deft.yaml") for path in SCENES.rglob("*.deft.yaml"))
