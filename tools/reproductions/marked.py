"""Tables in README files, written from what benchmarks recorded: what stands between `<!-- data: NAME -->` and `<!-- end of data -->`."""

from __future__ import annotations

import re
from pathlib import Path

from .experiment import ROOT, baseline, record_words, table

PLACE = "(<!-- data: {} -->\n)(.*?)(<!-- end of data -->)"


def plants() -> str:
    """Errors of passive motions, by scene and plant."""
    recorded = baseline("plants")
    rows = recorded.get("rows", [])
    who = list(dict.fromkeys(row["who"] for row in rows))
    error = {(row["scene"], row["who"]): f"{100 * row['error']:.3f} %" for row in rows}
    scenes = list(dict.fromkeys(row["scene"] for row in rows))
    lines = table(["scene", *who], [[scene, *(error.get((scene, name), "–") for name in who)] for scene in scenes])
    return f"{lines}\n\nRecorded {record_words(recorded['sources'])}\n" if rows else ""


TABLES = {"plants": ("scenes/plants/README.md", plants)}  # by name: the file, and what belongs there


def renewed(name: str) -> tuple[Path, str, str]:
    """The file of a table, what it holds, and what it should hold. @throws ValueError where the file has no such place."""
    relative, made = TABLES[name]
    file = ROOT / relative
    before = file.read_text()
    after, count = re.subn(PLACE.format(name), lambda found: found[1] + made() + found[3], before, flags=re.S)
    if count != 1:
        raise ValueError(f"{file}: {count} places for data: {name}")
    return file, before, after


def write_tables() -> list[Path]:
    """Writes all tables anew. @returns the files that changed."""
    changed = [(file, after) for file, before, after in map(renewed, TABLES) if before != after]
    for file, after in changed:
        file.write_text(after)
    return [file for file, _ in changed]


def stale_tables() -> list[str]:
    """Names of those that are not what was recorded."""
    return [f"{file.relative_to(ROOT)}: data: {name}" for name in TABLES for file, before, after in [renewed(name)] if before != after]
