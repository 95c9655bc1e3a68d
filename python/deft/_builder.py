"""Scenes made in code."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._scene import Scene, loads


class SceneBuilder:
    """Collects what a scene file would say: models, bodies, robots, configurations, goals, settings. Methods return the builder.

    Everything is checked by `build`, whose errors name keys as a file's do. Names of files are looked up from `directory`.
    """

    def __init__(self, name: str = "scene", directory: str | os.PathLike[str] = "."):
        self._directory = directory
        self._scene: dict[str, Any] = {"deft": 1, "name": name}
        self._settings: dict[str, Any] = {}

    def add_model(self, file: str | os.PathLike[str], name: str, weld: str | Mapping[str, Any] | None = None) -> SceneBuilder:
        """A model file as model `name`. weld: the link that is fixed to the world where it stands, or {"child": link, "parent":
        frame, "position": …, "quat_wxyz": …}; without it the model's root is free unless its file fixes it."""
        directives = self._scene.setdefault("directives", [])
        directives.append({"add_model": {"name": name, "file": os.fspath(file)}})
        if weld is not None:
            place = {"child": weld} if isinstance(weld, str) else dict(weld)
            child = place.pop("child", None)
            if child is None:
                raise ValueError("weld: expected a link, or a dict with 'child'")
            parent = place.pop("parent", "world")
            directive: dict[str, Any] = {"parent": parent, "child": child if "::" in child else f"{name}::{child}"}
            pose: dict[str, Any] = {}
            if "position" in place:
                pose["translation"] = place.pop("position")
            if "quat_wxyz" in place:
                pose["rotation"] = {"quat_wxyz": place.pop("quat_wxyz")}
            if place:
                raise ValueError(f"weld: unknown {', '.join(place)}; valid: child, parent, position, quat_wxyz")
            if pose:
                directive["X_PC"] = pose
            directives.append({"add_weld": directive})
        return self

    def add_body(self, name: str, shape: Mapping[str, Any] | Sequence[Mapping[str, Any]], **keys: Any) -> SceneBuilder:
        """A body of one shape or several; keywords are the keys of `bodies:` (mass, joint, mu, pose, …)."""
        shapes = {"shape": shape} if isinstance(shape, Mapping) else {"shapes": list(shape)}
        self._scene.setdefault("bodies", {})[name] = {**shapes, **keys}
        return self

    def robot(self, name: str, stiffness: Any = None, **keys: Any) -> SceneBuilder:
        """Makes a model or body a robot; further keywords are the keys of `robots:`."""
        stated = {} if stiffness is None else {"stiffness": stiffness}
        self._scene.setdefault("robots", []).append({"name": name, **stated, **keys})
        return self

    def object(self, name: str, **keys: Any) -> SceneBuilder:
        """Names a body as an object, whose motion plans are about; keywords are the keys of `objects:`."""
        self._scene.setdefault("objects", []).append({"name": name, **keys})
        return self

    def configuration(self, name: str, models: Mapping[str, Any]) -> SceneBuilder:
        """A configuration by name: {"hand": [joints…], "ball": {"position": …, "quat_wxyz": …}}; the first is the initial one."""
        self._scene.setdefault("configurations", {})[name] = dict(models)
        self._scene.setdefault("initial", name)
        return self

    def goal(self, name: str, target: Mapping[str, Any], tolerance: Mapping[str, float] | None = None) -> SceneBuilder:
        """A goal: where objects should come to, within {"position": m, "rotation": rad, "joint": …}."""
        stated = {} if tolerance is None else {"tolerance": dict(tolerance)}
        self._scene.setdefault("goals", {})[name] = {**target, **stated}
        return self

    def set(self, key: str, value: Any) -> SceneBuilder:
        """Any other value by its key: set("step.h", 0.05), set("gravity", [0, 0, -9.81])."""
        self._settings[key] = value
        return self

    def build(self) -> Scene:
        """The scene. Raises InputError with everything that is wrong with it."""
        return loads(self._scene, self._directory, set=self._settings)
