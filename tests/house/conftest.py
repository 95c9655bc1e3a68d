"""Shared by the tests of the rules of the project: where the tree and its build are, and tools/ on the import path."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from project_files import project_files  # noqa: E402 (behind the path)


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def build() -> Path:
    """Finished release build: $DEFT_BUILD_DIR, else build/release."""
    folder = Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build" / "release")).resolve()
    assert (folder / "build.ninja").exists(), f"{folder} is no build; run ./run build"
    return folder


@pytest.fixture(scope="session")
def tracked(root) -> list[Path]:
    """Every file of the project: known to git, or new and not ignored."""
    if not (root / ".git").exists():
        pytest.skip("not a git checkout: there is no list of tracked files")
    return project_files(root)
