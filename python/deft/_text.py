"""Python values as YAML in flow style, which the readers of scenes take."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_yaml(value: Any) -> str:
    """Text that reads back as the same value; NumPy's arrays and numbers are lists and numbers."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key), ensure_ascii=False)}: {to_yaml(item)}" for key, item in value.items()) + "}"
    if hasattr(value, "tolist"):
        return to_yaml(value.tolist())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(to_yaml(item) for item in value) + "]"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isinf(value):
            return ".inf" if value > 0 else "-.inf"
        return ".nan" if math.isnan(value) else repr(value)
    if hasattr(value, "__fspath__"):
        return json.dumps(str(value), ensure_ascii=False)
    raise TypeError(f"{type(value).__name__} has no place in a scene; valid: numbers, texts, lists, dicts, arrays, True, False and None")
