"""Every option of the program and every key of its settings occurs in a test other than this one."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
COMMAND = re.compile(r"^  ([a-z]+) {3,}\S", re.M)
OPTION = re.compile(r"^  ((?:-\w,)?--[\w-]+|-\w\b)", re.M)
KEY = re.compile(r"^([a-z_]+)\.([\w./]+) ", re.M)


@pytest.fixture(scope="module")
def tested() -> str:
    """All that tests say."""
    files = [file for file in TESTS.rglob("*") if file.suffix in (".py", ".cpp", ".hpp", ".yaml") and file != Path(__file__)]
    return "\n".join(file.read_text() for file in files)


def occurs(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def test_options(deft, tested):
    commands = COMMAND.findall(deft.run("--help").stdout.split("Subcommands:")[1])
    assert "linearize" in commands
    options = {word for command in commands for words in OPTION.findall(deft.run(command, "--help").stdout) for word in words.split(",")}
    assert {"--package-path", "-v", "--mu-gradient"} <= options
    assert sorted(word for word in options if not occurs(word, tested)) == []


def test_keys_of_settings(deft, tested):
    keys = KEY.findall(deft.run("info", "--settings").stdout)
    assert ("plan", "attempts") in keys and len(keys) > 100
    assert sorted(f"{section}.{name}" for section, name in keys if not occurs(name, tested)) == []
