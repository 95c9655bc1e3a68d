"""Pages of docs/reproductions say what their data say: no page differs from them, no measured number is typed, and prose that compares is checked by code."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import reproduce  # noqa: E402
from reproductions.experiment import Unfounded, claim  # noqa: E402
from reproductions.marked import stale_tables  # noqa: E402
from reproductions.records import difference, plain  # noqa: E402

MEASURED = re.compile(r"(?<![\w.])\d[\d.,]*(?:e-?\d+)? ?(?:s|ms|µs|%|×|Hz|mm)(?![\w·/²])")  # a number with one of these units
SETTING = re.compile(
    r"`[^`]*`|[=±≤≥<>] *\d[\d.,]*(?: (?:or|and|to|…) \d[\d.,]*)* ?(?:s|ms|µs|%|Hz|mm)(?!\w)|× ?(?!as |more|less|faster|slower|the )"
)  # code, a number behind one of these signs, sizes
GIVEN = re.compile(r"^\s*(?:Source|\*\*Given\*\*|After |Published )")  # lines that report what a cited source says
COMPARING = re.compile(
    r"\b(?:flat|nowhere|everywhere|faster|slower|better|worse|nearer|agrees?|halves|overlaps?|indistinguishable|as published|no longer)\b"
)


def page_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions of the modules of pages that return text, with the module's name."""
    for name, module in reproduce.PAGES_BY_NAME.items():
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "str":
                yield name, node


def prose(node: ast.AST, first: bool = True) -> Iterator[str]:
    """Literal text below a node; without docstrings, arguments of `claim`, and formats. A literal of several lines begins and ends in the middle of one."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "claim":
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    if isinstance(node, ast.JoinedStr):  # as one text, so that a line keeps its beginning
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "\0" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from prose(part.value, False)
        return
    body = ast.iter_child_nodes(node)
    if isinstance(node, ast.FunctionDef):
        body = iter(node.body[1:] if ast.get_docstring(node) is not None else node.body)
    for child in body:
        yield from prose(child, False)


def found(pattern: re.Pattern[str]) -> list[str]:
    lines = []
    for name, function in page_functions():
        for text in prose(function):
            lines += [
                f"{name}: {line.strip()[:160]}"
                for line in text.splitlines()
                if not GIVEN.match(line) and pattern.search(SETTING.sub("", line))
            ]
    return lines


@pytest.mark.parametrize("name", reproduce.PAGES_BY_NAME)
def test_a_page_is_what_its_data_say(name):
    assert difference(reproduce.PAGES_BY_NAME[name]) is None, f"./run reproduce {name} writes it"


def test_measured_numbers_are_not_typed():
    assert found(MEASURED) == []


def test_readme_files_hold_no_measured_number_outside_generated_tables(tracked):
    lines = []
    for file in tracked:
        if file.suffix == ".md" and "reproductions" not in file.parts and file.name != "CHANGELOG.md":
            text = re.sub(r"<!-- data: .*?<!-- end of data -->", "", file.read_text(), flags=re.S)
            lines += [
                f"{file}: {line[:160]}" for line in text.splitlines() if "**Source" not in line and MEASURED.search(SETTING.sub("", line))
            ]
    assert lines == [], "settings stand in code spans, results in pages and in tables of recorded data"


def test_tables_of_readme_files_are_what_was_recorded():
    assert stale_tables() == [], "./run reproduce tables writes them"


def test_prose_that_compares_is_a_claim():
    assert found(COMPARING) == []


def test_claims_depend_on_data():
    for name, module in reproduce.PAGES_BY_NAME.items():
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "claim":
                assert len(node.args) == 2 and not isinstance(node.args[1], ast.Constant), (name, ast.unparse(node))
    assert claim("it holds", True) == "it holds"
    with pytest.raises(Unfounded, match="it holds"):
        claim("it holds", False)


def test_facts_are_plain():
    import numpy as np

    assert plain({0.1: np.arange(2), "x": (np.float64(1.5), None, np.bool_(True))}) == {"0.1": [0, 1], "x": [1.5, None, True]}
    with pytest.raises(TypeError, match="set"):
        plain({"x": {1}})


def test_the_patterns_find_what_they_are_for():
    assert all(MEASURED.search(text) for text in ("takes 3.2 ms", "60 %", "1e-3 mm", "5s", "4 × as many", "200 Hz"))
    assert not any(MEASURED.search(text) for text in ("\0 ms", "h = 0.1", "N = 10", "10 N", "3 systems", "K = 1000 N/m", "5 m/s"))
    assert COMPARING.search("errors are flat") and not COMPARING.search("floats")
