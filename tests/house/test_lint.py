"""What ./run lint looks at, and that clang-tidy finds a planted bug with the checks of this tree."""

import json
import shutil

import linting
import pytest


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small tree in the place of this one: two sources, a header of either, one that both include, one that nobody does."""
    texts = {
        "src/deft/math/a.cpp": '#include "deft/math/a.hpp"\n#include "deft/math/both.hpp"\n',
        "src/deft/math/a.hpp": "",
        "src/deft/math/b.cpp": '#include "deft/math/both.hpp"\n',
        "src/deft/math/both.hpp": "",
        "src/deft/math/alone.hpp": "",
        "apps/cli/main.cpp": '#include "json.hpp"\n',
        "apps/cli/json.hpp": "",
        "tests/math/a_test.cpp": "",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    database = tmp_path / "build/lint/compile_commands.json"
    database.parent.mkdir(parents=True)
    database.write_text(json.dumps([{"file": str(tmp_path / name)} for name in texts if name.endswith(".cpp")]))
    monkeypatch.setattr(linting, "ROOT", tmp_path)
    monkeypatch.setattr(linting, "DATABASE", database)
    return tmp_path


@pytest.mark.parametrize(
    "changed, seen",
    [
        ("src/deft/math/b.cpp", ["src/deft/math/b.cpp"]),
        ("src/deft/math/a.hpp", ["src/deft/math/a.cpp"]),
        ("src/deft/math/both.hpp", ["src/deft/math/a.cpp"]),
        ("src/deft/math/alone.hpp", []),
        ("apps/cli/json.hpp", ["apps/cli/main.cpp"]),
        ("tests/math/a_test.cpp", []),
    ],
)
def test_a_change_is_seen_through_a_source(tree, changed, seen):
    sources = linting.sources_of([tree / changed], linting.sources_of_database())
    assert [str(s.relative_to(tree)) for s in sources] == seen


def test_a_header_is_reported_once(tree, monkeypatch):
    said = ["h.hpp:1:2: error: bad [x]\n  int a;\n  ^", "{}.cpp:3:4: error: worse [y]"]
    monkeypatch.setattr(linting, "tidy", lambda source: [finding.format(source.stem) for finding in said])
    findings = linting.tidy_all([tree / "a.cpp", tree / "b.cpp"], 1)
    assert [f.splitlines()[0] for f in findings] == [
        "h.hpp:1:2: error: bad [x]",
        "a.cpp:3:4: error: worse [y]",
        "b.cpp:3:4: error: worse [y]",
    ]
    assert findings[0].endswith("  ^")


@pytest.mark.skipif(not shutil.which("clang-tidy"), reason="clang-tidy is installed by ./run lint")
def test_clang_tidy_finds_a_planted_bug(root, tree):
    shutil.copy(root / ".clang-tidy", tree)
    source = tree / "src/deft/math/b.cpp"
    source.write_text("#include <string>\n#include <utility>\nint f(std::string s) {\n  std::string t = std::move(s);\n"
                      "  return static_cast<int>(s.size() + t.size());\n}\n")  # fmt: skip
    command = f"c++ -std=c++20 -Wno-not-known-to-clang -c {source}"
    linting.DATABASE.write_text(json.dumps([{"file": str(source), "directory": str(tree), "command": command}]))
    assert any("bugprone-use-after-move" in finding for finding in linting.tidy(source))
    source.write_text("int f() { return 1; }\n")
    assert linting.tidy(source) == []
