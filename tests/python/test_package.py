"""The package as it is installed: in one process with others, its command, its files."""

import subprocess
import sys
from pathlib import Path

import pytest

import deft

OTHERS = ("h5py", "mujoco", "pinocchio", "yaml")
USE = """
scene = deft.load(deft.scene_path("planning/planar_hand"))
assert deft.StepModel(scene).step(scene.q(), scene.u()).status == 0
run = deft.simulate(scene, steps=2)
run.save("run", force=True)
assert deft.Run.open("run").q.shape == (3, 7)
assert len(deft.page(run)) > 1000
"""


def run(code, folder):
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("other", OTHERS)
def test_gets_on_with_others_imported_before_and_after(other, tmp_path):
    run(f"import {other}\nimport deft{USE}", tmp_path)
    run(f"import deft{USE}import {other}{USE}", tmp_path)


def test_pinocchio_is_loaded_once(tmp_path):
    said = run("import pinocchio, deft\ndeft.load(deft.scene_path('planning/planar_hand'))\nprint(deft.doctor())", tmp_path)
    lines = [line.split() for line in said.splitlines() if line.split()[:1] == ["libpinocchio_default"]]
    assert len(lines) == 1


@pytest.mark.installed
def test_files_are_beside_the_package():
    package = Path(deft.__file__).parent
    assert Path(deft.scene_path("planning/planar_hand")).is_relative_to(package)
    assert Path(deft.cmake_dir()).is_relative_to(package)
    assert (package / "share/deft/licenses/NOTICES.txt").stat().st_size > 10000
    for library in (package / "lib/libdeft.so", *package.glob("_core*.so")):
        assert str(Path(__file__).resolve().parents[2]).encode() not in library.read_bytes()


@pytest.mark.installed
def test_the_command_is_installed(tmp_path):
    command = Path(sys.executable).parent / "deft"
    assert subprocess.run([command, "--version"], capture_output=True, text=True).stdout == f"deft {deft.__version__}\n"
    scene = deft.scene_path("planning/planar_hand")
    done = subprocess.run([command, "plan", scene, "--first", "--out", "plan"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "plan/run.html").exists()
