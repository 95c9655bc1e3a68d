"""The package that is installed, else that of the build folder $DEFT_BUILD_DIR (build/release; configured with DEFT_PACKAGE)."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
if importlib.util.find_spec("deft") is None:
    sys.path.insert(0, str(Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")) / "python"))

import deft  # noqa: E402

INSTALLED = not (Path(deft.__file__).parents[1] / "CMakeFiles").exists()  # not in a build folder


def pytest_configure(config):
    config.addinivalue_line("markers", "installed: about the package as it is installed; nothing to test in a build folder")


def pytest_collection_modifyitems(config, items):
    if not INSTALLED:
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("installed")])
        items[:] = [item for item in items if not item.get_closest_marker("installed")]


@pytest.fixture(scope="session")
def hand():
    """A planar hand of two fingers around a ball."""
    return deft.load(deft.scene_path("planning/planar_hand"))


@pytest.fixture(scope="session")
def touching():
    """A hand of sixteen joints with a free ball between its fingers."""
    return deft.load(deft.scene_path("planning/allegro_ball"))
