"""The programs of examples/ run as they stand, those in C++ as a project of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import deft

EXAMPLES = ROOT / "examples"
NEEDS = {"fit_friction": "torch"}  # run by tests/extras
SAYS = {
    "first_scene": r"moved 0\.1\d\d m, status Solved",
    "own_problem": r"10 degrees: Solved, force 9\.66 N .*\n25 degrees: Solved, force 9\.30 N .* moves 1\d\.\d mm",
    "own_robot": r"robots \['finger'\].*\nSolved: off by",
    "read_run": r"21 times, 2\.0 s, q \(21, 7\), u \(20, 4\)\nleft/link_2 on ball/ball: \d",
    "track_in_mujoco": r"plan: Solved.*\nin MuJoCo: Completed, arrived: True",
}


def run(command, folder):
    environment = {**os.environ, "PYTHONPATH": str(Path(deft.__file__).parents[1])}  # of this package, installed or not
    done = subprocess.run([str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_has_its_words():
    names = {path.stem for path in EXAMPLES.glob("*.py")} | {path.stem for path in EXAMPLES.glob("*.cpp")}
    assert names == set(SAYS) | set(NEEDS)


@pytest.mark.parametrize("name", sorted(SAYS))
def test_python(name, tmp_path):
    assert re.search(SAYS[name], run([sys.executable, EXAMPLES / f"{name}.py"], tmp_path))


@pytest.mark.installed
@pytest.mark.parametrize("place", ["package", "installation"])
def test_cpp(place, tmp_path):
    installed = ROOT / "build/install"
    if place == "package":
        found = [f"-Ddeft_DIR={deft.cmake_dir()}"]  # which finds Eigen beside itself
    else:
        assert installed.exists(), "`./run wheel` installs the library there"
        found = [
            f"-DCMAKE_PREFIX_PATH={installed}",
            f"-DEigen3_ROOT={eigen()}",
            "-DCMAKE_CXX_FLAGS=-mavx2 -mfma",
        ]  # other than the library's
    run(["cmake", "-G", "Ninja", "-S", EXAMPLES, "-B", tmp_path, "-DCMAKE_BUILD_TYPE=Release", *found], tmp_path)
    run(["ninja", "-C", tmp_path], tmp_path)
    for name in ("first_scene", "own_problem"):
        assert re.search(SAYS[name], run([tmp_path / name], tmp_path))


def eigen():
    return subprocess.run([sys.executable, "-m", "cmeel", "cmake"], capture_output=True, text=True, check=True).stdout.strip()
