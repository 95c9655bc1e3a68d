"""The layering check finds nothing in this tree and finds every kind of violation that is planted in a copy of it."""
import functools
import shutil
from pathlib import Path

import check_layers
import pytest


def test_this_tree_is_clean(root):
    assert check_layers.violations(root) == []


@pytest.fixture
def copy(root, tmp_path):
    """A copy of everything the check reads."""
    for top in ("src", "apps", "benchmarks", "cmake"):
        shutil.copytree(root / top, tmp_path / top, ignore=shutil.ignore_patterns("client", "node_modules", "data"))
    (tmp_path / "tests").mkdir()
    for name in ("layers.toml", "CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(root / name, tmp_path / name)
    return tmp_path


def plant(path, text, old=None):
    """Appends text to a file (made if missing), or puts it in the place of `old`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = path.read_text() if path.exists() else ""
    if old is None:
        path.write_text(content + "\n" + text + "\n")
    else:
        assert old in content, f"{path.name} no longer holds {old!r}: renew this test"
        path.write_text(content.replace(old, text, 1))


@functools.cache
def own_violations():
    return set(check_layers.violations(Path(check_layers.__file__).parents[1]))


def sole_violation(tree):
    """The one violation that was planted; those that the tree itself has are the matter of test_this_tree_is_clean."""
    found = [f for f in check_layers.violations(tree) if f not in own_violations()]
    assert len(found) == 1, found
    return found[0]


# room whose file is seeded, the line planted, words the message must hold
SEEDED_INCLUDES = [
    ("math", "seed.cpp", '#include "deft/scene/scene.hpp"', "math may not include scene"),
    ("solvers", "seed.cpp", '#include "deft/contact/contact_problem.hpp"', "solvers may not include contact"),
    ("dynamics", "seed.cpp", '#include "deft/multibody/model.hpp"', "dynamics may not include multibody"),
    ("dynamics", "seed.cpp", '#include "deft/io/scene_file.hpp"', "dynamics may not include io"),
    ("viewer", "seed.cpp", '#include "deft/io/run_folder.hpp"', "viewer may not include io"),
    ("scene", "seed.cpp", "#include <pinocchio/multibody/model.hpp>", "scene may not include pinocchio"),
    ("multibody", "seed.cpp", "#include <coal/collision.h>", "multibody may not include coal"),
    ("scene", "seed.cpp", "#include <yaml-cpp/yaml.h>", "scene may not include yaml"),
    ("dynamics", "seed.cpp", "#  include  <hdf5.h>", "dynamics may not include hdf5"),
    ("io", "seed.cpp", '#include "deft/solvers/contact_ipm.hpp"', "io may include data only"),
    ("io", "seed.cpp", '#include "deft/dynamics/step_model.hpp"', "io may include data only"),
    ("io", "seed.cpp", "#include <sys/socket.h>", "io may not include sockets"),
    ("io", "seed.cpp", "#include <CLI/CLI.hpp>", "io may not include cli11"),
    ("solvers", "seed.cpp", "#include <thread>", "solvers may not include threads"),
    ("multibody", "seed.hpp", "#include <pinocchio/multibody/model.hpp>", "is heavy"),
    ("io", "seed.hpp", "#include <yaml-cpp/yaml.h>", "is heavy"),
    ("core", "seed.hpp", "#include <spdlog/spdlog.h>", "is heavy"),
    ("scene", "seed.cpp", "#include <curl/curl.h>", "belongs to no third party"),
    ("scene", "seed.cpp", '#include "scene.hpp"', "no header of a room"),
    ("scene", "seed.cpp", '#include "deft/scene/absent.hpp"', "does not exist"),
    ("attic", "seed.cpp", '#include "deft/core/log.hpp"', "room attic is missing"),
]


@pytest.mark.parametrize("room, name, line, message", SEEDED_INCLUDES, ids=lambda value: str(value))
def test_planted_include_is_found(copy, room, name, line, message):
    plant(copy / "src/deft" / room / name, "\n" + line)
    found = sole_violation(copy)
    assert message in found
    assert found.startswith(f"src/deft/{room}/{name}:3:"), "the message points at the line"


def test_internal_header_stays_in_its_room(copy):
    plant(copy / "apps/cli/seed.cpp", '#include "deft/io/json_field.hpp"')
    assert "internal to io" in sole_violation(copy)


def test_circle_of_headers_is_found(copy):
    plant(copy / "src/deft/scene/first.hpp", '#include "deft/scene/second.hpp"')
    plant(copy / "src/deft/scene/second.hpp", '#include "deft/scene/first.hpp"')
    assert "circle: deft/scene/" in sole_violation(copy)


def test_upward_row_is_found(copy):
    plant(copy / "layers.toml", 'math      = ["core", "scene"]', old='math      = ["core"]')
    found = check_layers.violations(copy)
    assert any("math names scene, which is not above it" in f for f in found)
    assert any("deft_room(math) links rooms" in f for f in found), "CMake no longer agrees either"


# file, planted text, what it replaces (None: appended), words of the message
SEEDED_CMAKE = [
    ("CMakeLists.txt", "deft_room(math      ROOMS core scene)", "deft_room(math      ROOMS core)", "deft_room(math) links rooms"),
    ("CMakeLists.txt", "deft_room(math      ROOMS core PRIVATE coal::coal)", "deft_room(math      ROOMS core)", "links coal::coal"),
    ("CMakeLists.txt", "add_compile_options(-march=native)", None, "'-march=native'"),
    ("cmake/Seed.cmake", "target_compile_options(deft_scene PRIVATE -mavx2)", None, "'-mavx2'"),
    ("cmake/DeftKernels.cmake", "add_compile_options(-ffast-math)", None, "'-ffast-math'"),
    ("apps/cli/CMakeLists.txt", 'set(CMAKE_CXX_FLAGS "-Ofast")', None, "'-Ofast'"),
    ("CMakePresets.json", '"CMAKE_CXX_FLAGS": "-march=x86-64-v3"', None, "in a preset"),
]


@pytest.mark.parametrize("name, text, old, message", SEEDED_CMAKE, ids=lambda value: str(value))
def test_planted_cmake_is_found(copy, name, text, old, message):
    plant(copy / name, text, old)
    assert message in sole_violation(copy)


def test_room_without_target_is_found(copy):
    plant(copy / "layers.toml", 'core      = []\nattic     = ["core"]', old="core      = []")
    assert "room attic of layers.toml has no deft_room()" in sole_violation(copy)
