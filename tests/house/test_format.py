"""The sources are formatted, ruff and mypy find nothing in the Python; each of them finds what is planted."""

import os
import shutil
import subprocess
import sys

import formatting
import linting
import project_files
import pytest

pytestmark = pytest.mark.skipif(
    not (formatting.TOOLS / "mypy").exists(), reason="the formatters are in .venv-dev, which ./run test and ./run format make"
)


def relative(files, root):
    return [str(p.relative_to(root)) for p in files]


def test_python_is_formatted(root):
    files = project_files.project_files(root, (".py",))
    assert len(files) > 100
    assert relative(formatting.unformatted_python(files), root) == [], "./run format"


def test_cpp_is_formatted(root):
    files = formatting.cpp_files(root)
    assert len(files) > 500
    assert relative(formatting.unformatted_cpp(files), root) == [], "./run format"


def test_client_is_formatted(root):
    assert relative(formatting.unformatted_client(root), root) == [], "./run format"


def test_ruff_finds_nothing(root):
    assert linting.ruff(project_files.project_files(root, (".py",))) == ""


def test_types_fit():
    assert linting.types() == ""


def test_unformatted_python_is_found_and_formatted(tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text("x = 1\n")
    bad.write_text("x=1\n")
    assert formatting.unformatted_python([good, bad]) == [bad.resolve()]
    assert formatting.format_python([good, bad]) == [bad.resolve()]
    assert bad.read_text() == "x = 1\n"


def test_python_that_is_none_is_found(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("def f(:\n")
    assert formatting.unformatted_python([bad]) == [bad.resolve()]
    with pytest.raises(formatting.FormatError, match=r"bad\.py"):
        formatting.format_python([bad])


def test_unformatted_cpp_is_found_and_formatted(root, tmp_path):
    shutil.copy(root / ".clang-format", tmp_path)
    good, bad = tmp_path / "good.hpp", tmp_path / "bad.cpp"
    good.write_text("#pragma once\nint* p();\n")
    bad.write_text("#include <vector>\n#include <cmath>\nint *p() {  return nullptr ;}\n")
    assert formatting.unformatted_cpp([good, bad]) == [bad]
    assert formatting.format_cpp([good, bad]) == [bad]
    assert bad.read_text() == "#include <cmath>\n#include <vector>\nint* p() { return nullptr; }\n"


def test_unformatted_client_is_found_and_formatted(root, tmp_path):
    client = tmp_path / formatting.CLIENT
    shutil.copytree(root / formatting.CLIENT, client, ignore=shutil.ignore_patterns("node_modules", "dist"))
    (tmp_path / "build/format/client").mkdir(parents=True)
    (tmp_path / "build/format/client/node_modules").symlink_to(formatting.client_copy(root) / "node_modules")
    bad = client / "src/planted.ts"
    bad.write_text("export const  x:number=1\n")
    assert formatting.unformatted_client(tmp_path) == [bad]
    assert formatting.format_client(tmp_path) == [bad]
    assert bad.read_text() == "export const x: number = 1;\n"


def test_planted_mistakes_are_found(tmp_path):
    bad = tmp_path / "planted_mistakes.py"
    bad.write_text("import os\n\n\ndef f(x: int) -> str:\n    return x\n")
    assert "F401" in linting.ruff([bad])
    assert 'Incompatible return value type (got "int", expected "str")' in linting.types(((str(bad),),))


def test_findings_are_read_where_tools_would_colour_them(root):
    """prettier and ruff colour what they print where CI is set, and a coloured name is not the name that is looked for."""
    again = [sys.executable, "-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider", __file__, "-k", "is_found or are_found"]
    colouring = dict.fromkeys(project_files.COLOURING, "1")
    done = subprocess.run(again, cwd=root, env={**os.environ, **colouring}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
