"""Every module explains itself, is small, documents what it offers, and is tested."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
with (ROOT / "layers.toml").open("rb") as source:
    MODULES = [name for name in tomllib.load(source)["modules"] if name != "cli"]
FAMILIES = list(dict.fromkeys(name.split("/")[0] for name in MODULES))
LINES_OF_A_FOLDER, PAIRS_OF_A_FOLDER, WORDS_OF_A_README = 5000, 15, 1200
# A declaration at namespace scope: something a reader calls or names.
DECLARATION = re.compile(
    r"^(?!\s)(?:template\s*<.*>\s*)?(?:\[\[nodiscard\]\]\s*)?(?:(?:struct|class|enum class|enum)\s+\w+[^;]*\{"
    r"|(?:inline |constexpr |static |explicit |virtual )*[\w:<>,&*\s]+\b[\w~]+\s*\([^{;]*)"
)


def sources(folder):
    """C++ files of a folder, sub-folders not counted."""
    return [p for p in folder.iterdir() if p.suffix in (".hpp", ".cpp", ".inc")]


def test_every_folder_with_sources_is_a_module(root):
    folders = {str(p.parent.relative_to(root / "src/deft")) for p in (root / "src/deft").rglob("*.?pp")}
    assert folders == set(MODULES)


@pytest.mark.parametrize("module", MODULES)
def test_module_has_a_readme_of_two_pages(root, module):
    page = root / "src/deft" / module / "README.md"
    assert page.exists(), f"{page.relative_to(root)} is missing"
    assert page.read_text().startswith("# ") and 60 < len(page.read_text().split()) <= WORDS_OF_A_README


@pytest.mark.parametrize("module", MODULES)
def test_module_can_be_read_in_one_sitting(root, module):
    files = sources(root / "src/deft" / module)
    headers = {p.stem for p in files if p.suffix == ".hpp"}
    alone = {p.stem for p in files} - headers
    extra = {name for name in alone if any(name.startswith(header + "_") for header in headers)}  # second sources of a header
    assert len(headers) + len(alone - extra) <= PAIRS_OF_A_FOLDER
    assert max(len([p for p in files if p.suffix == s]) for s in (".hpp", ".cpp")) <= PAIRS_OF_A_FOLDER
    assert sum(len(p.read_text().splitlines()) for p in files) <= LINES_OF_A_FOLDER


def test_sources_are_named_after_their_header(root):
    """A source holds its header's name, so that one finds it beside it."""
    lost = [
        str(p.relative_to(root))
        for p in (root / "src/deft").rglob("*.cpp")
        if not any(p.stem == h.stem or p.stem.startswith(h.stem + "_") for h in p.parent.glob("*.hpp"))
    ]
    assert lost == []


@pytest.mark.parametrize("family", FAMILIES)
def test_family_has_tests(root, family):
    assert list((root / "tests" / family).rglob("*_test.cpp"))


def undocumented(text):
    """Lines of declarations at namespace scope whose paragraph has no /// comment above them and no comment beside them."""
    found, described = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            described = False
        elif line.startswith("///"):
            described = True
        elif (
            DECLARATION.match(line)
            and not line.startswith(("namespace", "using", "#"))
            and not described
            and not re.search(r"///?<? ", line)
        ):
            found.append(f"{number}: {line}")
    return found


def test_every_public_symbol_is_documented(root):
    missing = [
        f"{path.relative_to(root)}:{line}" for path in sorted((root / "src/deft").rglob("*.hpp")) for line in undocumented(path.read_text())
    ]
    assert missing == []


def test_undocumented_symbols_are_found():
    text = "/// Adds.\nint add(int a, int b);\nint add(int a);\n\nint bare(int a);\n\nstruct Naked {\n};\nenum class E { kA };  // said\n"
    assert undocumented(text) == ["5: int bare(int a);", "7: struct Naked {"]
