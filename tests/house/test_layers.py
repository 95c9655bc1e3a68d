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


# module whose file is seeded, the line planted, words the message must hold
SEEDED_INCLUDES = [
    ("math", "seed.cpp", '#include "deft/scene/scene.hpp"', "math may not include scene"),
    ("solvers/contact", "seed.cpp", '#include "deft/contact/contact_problem.hpp"', "solvers/contact may not include contact"),
    (
        "solvers/contact/certificate",
        "seed.cpp",
        '#include "deft/solvers/contact/interior/kkt_state.hpp"',
        "solvers/contact/certificate may not include solvers/contact/interior",
    ),
    (
        "solvers/contact/certificate",
        "seed.cpp",
        '#include "deft/solvers/contact/contact_solver.hpp"',
        "solvers/contact/certificate may not include solvers/contact",
    ),
    (
        "solvers/contact/certificate",
        "seed.cpp",
        '#include "deft/solvers/linear/tile_cholesky.hpp"',
        "solvers/contact/certificate may not include solvers/linear",
    ),
    (
        "solvers/contact/interior",
        "seed.cpp",
        '#include "deft/solvers/contact/contact_solver.hpp"',
        "solvers/contact/interior may not include solvers/contact",
    ),
    ("solvers/lcp", "seed.cpp", '#include "deft/solvers/mcp/mcp_solver.hpp"', "solvers/lcp may not include solvers/mcp"),
    ("solvers/horizon", "seed.cpp", '#include "deft/solvers/lcp/lemke.hpp"', "solvers/horizon may not include solvers/lcp"),
    ("dynamics/convex", "seed.cpp", '#include "deft/multibody/model.hpp"', "dynamics/convex may not include multibody"),
    (
        "dynamics/convex",
        "seed.cpp",
        '#include "deft/dynamics/models/make_step_model.hpp"',
        "dynamics/convex may not include dynamics/models",
    ),
    ("dynamics", "seed.cpp", '#include "deft/io/scene/scene_file.hpp"', "dynamics may not include io/scene"),
    ("viewer", "seed.cpp", '#include "deft/io/runs/run_folder.hpp"', "viewer may not include io/runs"),
    ("scene", "seed.cpp", "#include <pinocchio/multibody/model.hpp>", "scene may not include pinocchio"),
    ("multibody", "seed.cpp", "#include <coal/collision.h>", "multibody may not include coal"),
    ("scene", "seed.cpp", "#include <yaml.h>", "scene may not include yaml"),
    ("dynamics", "seed.cpp", "#  include  <hdf5.h>", "dynamics may not include hdf5"),
    ("io/problems", "seed.cpp", '#include "deft/solvers/lcp/complementarity_solver.hpp"', "io/problems may include data only"),
    ("io/runs", "seed.cpp", '#include "deft/dynamics/step_model.hpp"', "io/runs may include data only"),
    ("io/text", "seed.cpp", "#include <sys/socket.h>", "io/text may not include sockets"),
    ("io/text", "seed.cpp", "#include <CLI/CLI.hpp>", "io/text may not include cli11"),
    ("solvers/lcs", "seed.cpp", "#include <thread>", "solvers/lcs may not include threads"),
    ("multibody", "seed.hpp", "#include <pinocchio/multibody/model.hpp>", "is heavy"),
    ("io/text", "seed.hpp", "#include <yaml.h>", "is heavy"),
    ("core", "seed.hpp", "#include <spdlog/spdlog.h>", "is heavy"),
    ("scene", "seed.cpp", "#include <curl/curl.h>", "belongs to no third party"),
    ("scene", "seed.cpp", '#include "scene.hpp"', "no header of a module"),
    ("scene", "seed.cpp", '#include "deft/scene/absent.hpp"', "does not exist"),
    ("attic", "seed.cpp", '#include "deft/core/log.hpp"', "module attic is missing"),
    ("solvers/attic", "seed.cpp", '#include "deft/core/log.hpp"', "module solvers/attic is missing"),
]


@pytest.mark.parametrize("module, name, line, message", SEEDED_INCLUDES, ids=str)
def test_planted_include_is_found(copy, module, name, line, message):
    plant(copy / "src/deft" / module / name, "\n" + line)
    found = sole_violation(copy)
    assert message in found
    assert found.startswith(f"src/deft/{module}/{name}:3:"), "the message points at the line"


def test_internal_header_stays_in_its_family(copy):
    plant(copy / "apps/cli/seed.cpp", '#include "deft/io/text/json_field.hpp"')
    assert "internal to io" in sole_violation(copy)


def test_circle_of_headers_is_found(copy):
    plant(copy / "src/deft/scene/first.hpp", '#include "deft/scene/second.hpp"')
    plant(copy / "src/deft/scene/second.hpp", '#include "deft/scene/first.hpp"')
    assert "circle: deft/scene/" in sole_violation(copy)


def test_upward_row_is_found(copy):
    plant(copy / "layers.toml", 'math = ["core", "scene"]', old='math = ["core"]')
    found = check_layers.violations(copy)
    assert any("math names scene, which is not above it" in f for f in found)
    assert any("deft_module(math) links" in f for f in found), "CMake no longer agrees either"


# file, planted text, what it replaces (None: appended), words of the message
MATH = "deft_module(math MODULES core)"
SEEDED_CMAKE = [
    ("CMakeLists.txt", MATH.replace(")", " scene)"), MATH, "deft_module(math) links"),
    ("CMakeLists.txt", MATH.replace(")", " PRIVATE coal::coal)"), MATH, "links coal::coal"),
    ("CMakeLists.txt", "add_compile_options(-march=native)", None, "'-march=native'"),
    ("cmake/Seed.cmake", "target_compile_options(deft_scene PRIVATE -mavx2)", None, "'-mavx2'"),
    ("cmake/DeftKernels.cmake", "add_compile_options(-ffast-math)", None, "'-ffast-math'"),
    ("apps/cli/CMakeLists.txt", 'set(CMAKE_CXX_FLAGS "-Ofast")', None, "'-Ofast'"),
    ("CMakePresets.json", '"CMAKE_CXX_FLAGS": "-march=x86-64-v3"', None, "in a preset"),
]


@pytest.mark.parametrize("name, text, old, message", SEEDED_CMAKE, ids=str)
def test_planted_cmake_is_found(copy, name, text, old, message):
    plant(copy / name, text, old)
    assert message in sole_violation(copy)


def test_module_without_target_is_found(copy):
    plant(copy / "layers.toml", 'core = []\nattic = ["core"]', old="core = []")
    assert "module attic of layers.toml has no deft_module()" in sole_violation(copy)
