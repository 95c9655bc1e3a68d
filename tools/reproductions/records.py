"""Pages and what they are written from: `docs/reproductions/data/NAME.json`, the facts of a page with where they come from."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .experiment import PAGES, Laboratory, Unfounded, record_words

DATA = PAGES / "data"


def name_of(module: ModuleType) -> str:
    """Of its page: NAME_page where measuring and drawing are two files."""
    return module.__name__.rsplit(".", 1)[1].removesuffix("_page")


def measures(module: ModuleType) -> bool:
    """Whether a page runs deft itself and keeps its facts here; others show what a benchmark recorded."""
    return hasattr(module, "facts")


def plain(value: Any) -> Any:
    """For JSON: arrays as lists, numbers of NumPy as Python's, keys as text. @throws TypeError for anything else."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} is no fact that JSON holds: {value!r}")


def text_of(module: ModuleType) -> str:
    """The page as its data have it; runs nothing. @throws Unfounded where a sentence does not hold, FileNotFoundError where nothing was recorded."""
    if not measures(module):
        return module.text(module.measure(Laboratory(Path(), Path()))).strip() + "\n"
    kept = json.loads(data_of(module).read_text())
    return f"{module.text(kept['facts']).strip()}\n\nRecorded {record_words([kept['source']])}\n"


def data_of(module: ModuleType) -> Path:
    return DATA / f"{name_of(module)}.json"


def file_of(module: ModuleType) -> Path:
    return PAGES / f"{name_of(module)}.md"


def write_page(module: ModuleType) -> Path:
    """Writes docs/reproductions/NAME.md from what was recorded."""
    path = file_of(module)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text_of(module))
    return path


def difference(module: ModuleType) -> str | None:
    """Why a page is not what its data say; None if it is."""
    try:
        text = text_of(module)
    except (Unfounded, FileNotFoundError) as error:
        return str(error)
    written = file_of(module).read_text() if file_of(module).exists() else ""
    if text == written:
        return None
    pairs = zip([*text.splitlines(), ""], [*written.splitlines(), ""])
    number, (wanted, there) = next((k, pair) for k, pair in enumerate(pairs, 1) if pair[0] != pair[1])
    return f"line {number} is {there[:120]!r}, its data say {wanted[:120]!r}"
