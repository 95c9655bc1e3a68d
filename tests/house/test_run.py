"""The script `run`: its answers where it cannot work, and that it asks for nothing twice."""

import os
import re
import subprocess

import pytest


@pytest.fixture
def run(root):
    def call(*arguments, **environment):
        return subprocess.run(
            ["bash", root / "run", *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment}
        )

    return call


def test_unknown_command_is_a_usage_error(run):
    result = run("tset")
    assert result.returncode == 2
    assert "unknown command 'tset'" in result.stderr and "./run test" in result.stderr


def test_help_names_every_command(run, root):
    commands = re.findall(r"^  (\w+)\)", (root / "run").read_text(), re.M)
    assert {"demo", "test", "build", "bench", "clean"} <= set(commands)
    listed = run("help").stdout
    assert all(f"./run {c}" in listed for c in commands)


def call_function(root, folder, script, path=None):
    """Runs a piece of shell with the functions of `run` at hand, in `folder` instead of the tree."""
    functions = (root / "run").read_text().split("\ncommand=${1:-help}\n")[0]
    functions = "\n".join(line for line in functions.splitlines() if not line.startswith("cd "))
    return subprocess.run(
        ["bash", "-c", functions + "\n" + script],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **({"PATH": path} if path else {})},
    )


@pytest.fixture
def plain_user(tmp_path):
    """A PATH on which nobody is root, sudo refuses, and apt-get leaves a trace if it is called."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, body in {"id": "echo 1000", "sudo": "exit 1", "apt-get": "echo called >>apt.log"}.items():
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
    return f"{tools}:{os.environ['PATH']}"


def test_without_root_the_one_line_to_run_is_printed(root, tmp_path, plain_user):
    result = call_function(root, tmp_path, "loud_stage packages install_packages no-such-a no-such-b", plain_user)
    assert result.returncode == 2
    assert "sudo apt-get update && sudo apt-get install -y --no-install-recommends no-such-a no-such-b" in result.stdout
    assert "stage 'packages' failed (exit 2)" in result.stderr
    assert not (tmp_path / "apt.log").exists()


def test_failing_stage_is_named_and_its_last_lines_shown(root, tmp_path):
    result = call_function(root, tmp_path, "stage compile bash -c 'echo the reason; exit 7'; echo not reached")
    assert result.returncode == 7
    assert "the reason" in result.stderr
    assert "stage 'compile' failed (exit 7)" in result.stderr and "out/logs/compile.log" in result.stderr
    assert "not reached" not in result.stdout


def test_stage_reads_no_input_and_prints_its_time(root, tmp_path):
    result = call_function(root, tmp_path, "stage quick cat")
    assert result.returncode == 0
    assert re.search(r"^== quick\n   quick: done in \d+\.\d s$", result.stdout, re.M)


def test_environment_is_made_once(root, tmp_path):
    """With a made-up interpreter that only notes what it is asked to do."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text("""#!/bin/bash
        case "$*" in
          -V) echo Python 3.11.2 ;;
          "-m venv "*) mkdir -p $3/bin; cp $0 $3/bin/python; echo venv >>asked ;;
          "-m pip install "*) echo "$*" >>asked ;;
        esac
        """)
    (tools / "python3").chmod(0o755)
    (tmp_path / "some.lock").write_text("one")
    script = """environment place some.lock; environment place some.lock; echo two >some.lock; environment place some.lock"""
    result = call_function(root, tmp_path, script, f"{tools}:{os.environ['PATH']}")
    assert result.returncode == 0 and result.stdout == "place holds some.lock already\n"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [a.split()[0] for a in asked] == ["venv", "-m", "venv", "-m"], "made, kept, renewed for the changed lock"
    assert all("--require-hashes --only-binary :all: -r some.lock" in a for a in asked[1::2])


def test_compiler_jobs_fit_the_machine(root, tmp_path):
    assert 1 <= int(call_function(root, tmp_path, "compiler_jobs").stdout) <= len(os.sched_getaffinity(0))


def test_ci_runs_the_tests_and_nothing_else(root):
    lines = [line for line in (root / ".ci/run").read_text().splitlines() if not line.startswith("#")]
    assert lines == ['cd "$(dirname "$0")/.." && exec bash ./run test']


@pytest.mark.parametrize(
    "lock",
    [
        "requirements.lock",
        "requirements-bench.lock",
        "requirements-docs.lock",
        "requirements-dev.lock",
        "requirements-python.lock",
        "requirements-extras.lock",
        "requirements-drake.lock",
        "requirements-hands.lock",
    ],
)
def test_lock_pins_every_wheel_by_hash(root, lock):
    text = re.sub(r"\\\n\s*", "", (root / lock).read_text())
    pins = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert len(pins) > 5
    assert [p for p in pins if not re.match(r"^[a-z0-9-]+==[\w.]+ (; [^-]+)?(--hash=sha256:[0-9a-f]{64} ?)+$", p)] == []


@pytest.mark.parametrize(
    "name",
    [
        "requirements",
        "requirements-bench",
        "requirements-docs",
        "requirements-dev",
        "requirements-python",
        "requirements-extras",
        "requirements-drake",
        "requirements-hands",
    ],
)
def test_lock_holds_what_the_requirements_ask_for(root, name):
    asked = re.findall(r"^([\w-]+)", (root / f"{name}.in").read_text(), re.M)
    locked = (root / f"{name}.lock").read_text()
    assert len(asked) >= 2
    assert [a for a in asked if f"\n{a.lower()}==" not in locked] == []


def test_tests_import_only_what_the_lock_holds(root):
    """A test that imports a package which merely happens to be installed would fail on a bare machine."""
    import ast
    import sys

    def locked(name):
        return {p.replace("-", "_") for p in re.findall(r"^([a-z0-9-]+)==", (root / name).read_text(), re.M)}

    own = {p.stem for p in [*root.glob("tools/*.py"), *root.glob("tests/**/*.py")]} | {
        p.parent.name for p in [*root.glob("tools/*/__init__.py"), *root.glob("tests/*/*/__init__.py")]
    }
    shared = [*root.glob("benchmarks/peers/plant_*.py"), *root.glob("benchmarks/suites/plants.py")]  # what tests take from the benchmarks
    own |= {p.stem for p in shared} | {"suites", "deft"}  # deft: of the build
    known = {"yaml", "mujoco"} | own | set(sys.stdlib_module_names)  # of PyYAML and mujoco-core
    foreign = set()
    for path in [*(p for p in root.glob("tests/**/*.py") if p.parent.name not in ("extras", "drake")), *shared]:
        installed = known | (
            locked("requirements-python.lock") | {"pinocchio"} if path.parent.name == "python" else locked("requirements.lock")  # of pin
        )
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""] if node.level == 0 else []  # from . import: our own
            else:
                continue
            foreign |= {f"{path.relative_to(root)}: {n}" for n in names if n.split(".")[0] not in installed}
    assert foreign == set()
