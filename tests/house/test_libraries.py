"""One copy of every library in each program; the programs see no flag that splits Eigen's memory."""

import json
import re

import check_libraries
import pytest


@pytest.fixture(scope="module")
def prefix(build):
    """The prefix that the build was configured with."""
    cache = (build / "CMakeCache.txt").read_text()
    match = re.search(r"^pinocchio_DIR:PATH=(.+?)/lib(?:64)?/cmake/pinocchio$", cache, re.M)
    assert match, "the build knows no pinocchio_DIR"
    return check_libraries.Path(match[1])


def test_every_program_has_one_copy_of_each_library(build, prefix):
    programs = [build / "deft", *sorted((build / "tests").glob("test_*[a-z]"))]
    assert len(programs) > 1
    problems = {p.name: found for p in programs if (found := check_libraries.check(p, prefix))}
    assert problems == {}


def test_deft_takes_pinocchio_from_the_prefix(build, prefix):
    listed = check_libraries.subprocess.run(["ldd", build / "deft"], capture_output=True, text=True, check=True).stdout
    assert re.search(rf"libpinocchio_default\.so\S* => {re.escape(str(prefix))}/", listed)


@pytest.fixture
def small_prefix(tmp_path):
    (tmp_path / "lib").mkdir()
    for name in ("libboost_filesystem.so.1.90.0", "libz.so.1", "libcoal.so"):
        (tmp_path / "lib" / name).touch()
    return tmp_path


def ldd_line(soname, path):
    return f"\t{soname} => {path} (0x00007f0000000000)\n"


def test_second_copy_is_found(small_prefix):
    text = ldd_line("libboost_filesystem.so.1.90.0", f"{small_prefix}/lib/libboost_filesystem.so.1.90.0")
    assert check_libraries.problems_of(text, small_prefix) == []
    text += ldd_line("libboost_filesystem.so.1.74.0", "/usr/lib/libboost_filesystem.so.1.74.0")
    found = check_libraries.problems_of(text, small_prefix)
    assert any("more than once" in p for p in found)
    assert any("but the prefix holds it" in p for p in found)


def test_system_copy_of_a_prefix_library_is_found(small_prefix):
    assert check_libraries.problems_of(ldd_line("libcoal.so", "/usr/lib/libcoal.so"), small_prefix) != []


def test_zlib_is_the_one_exception(small_prefix):
    assert check_libraries.problems_of(ldd_line("libz.so.1", "/usr/lib/libz.so.1"), small_prefix) == []
    assert check_libraries.SHARED_WITH_SYSTEM == {"libz"}


def test_missing_library_is_found(small_prefix):
    assert check_libraries.problems_of("\tlibcoal.so => not found\n", small_prefix) == ["libcoal.so is not found"]


def test_instruction_sets_reach_the_kernels_only(build):
    """-march or -mavx2 on code that owns Eigen memory corrupts the heap that it shares with Pinocchio and Coal."""
    commands = json.loads((build / "compile_commands.json").read_text())
    flagged = [c["file"] for c in commands if re.search(r"\s-m(?:arch|avx|fma|sse[34]|tune|bmi)\S*", c["command"])]
    assert [f for f in flagged if "/src/deft/solvers/kernels/" not in f] == []
    assert all(
        "EIGEN_MALLOC_ALREADY_ALIGNED=1" in c["command"]
        for c in commands
        if c["file"] not in flagged and "/solvers/kernels/" not in c["file"]
    )
