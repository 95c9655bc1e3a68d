"""Every room explains itself, documents what it offers, and is tested."""
import re
import tomllib

import pytest

ROOMS = ["core", "math", "solvers", "multibody", "collision", "scene", "contact", "dynamics", "plant", "planning", "control", "io", "viewer"]
# A declaration at namespace scope: something a reader calls or names.
DECLARATION = re.compile(r"^(?!\s)(?:template\s*<.*>\s*)?(?:\[\[nodiscard\]\]\s*)?(?:(?:struct|class|enum class|enum)\s+\w+[^;]*\{"
                         r"|(?:inline |constexpr |static |explicit |virtual )*[\w:<>,&*\s]+\b[\w~]+\s*\([^{;]*)")


def test_layers_name_the_rooms(root):
    with (root / "layers.toml").open("rb") as source:
        assert list(tomllib.load(source)["rooms"]) == [*ROOMS, "cli"]


@pytest.mark.parametrize("room", ROOMS)
def test_room_has_a_readme(root, room):
    page = root / "src/deft" / room / "README.md"
    assert page.exists(), f"{page.relative_to(root)} is missing"
    assert page.read_text().startswith("# ") and len(page.read_text().split()) > 60


@pytest.mark.parametrize("room", ROOMS)
def test_room_has_tests(root, room):
    assert list((root / "tests" / room).glob("*_test.cpp"))


def undocumented(text):
    """Lines of declarations at namespace scope whose paragraph has no /// comment above them and no comment beside them."""
    found, described = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            described = False
        elif line.startswith("///"):
            described = True
        elif (DECLARATION.match(line) and not line.startswith(("namespace", "using", "#")) and not described
              and not re.search(r"///?<? ", line)):
            found.append(f"{number}: {line}")
    return found


def test_every_public_symbol_is_documented(root):
    missing = [f"{path.relative_to(root)}:{line}" for path in sorted((root / "src/deft").rglob("*.hpp"))
               for line in undocumented(path.read_text())]
    assert missing == []


def test_undocumented_symbols_are_found():
    text = "/// Adds.\nint add(int a, int b);\nint add(int a);\n\nint bare(int a);\n\nstruct Naked {\n};\nenum class E { kA };  // said\n"
    assert undocumented(text) == ["5: int bare(int a);", "7: struct Naked {"]
