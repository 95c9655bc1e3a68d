"""Shared by the scenario tests: the tree, its tools and the built program."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "benchmarks"))  # what pages share with their benchmarks


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def deft() -> Path:
    """The program under test, in $DEFT_BUILD_DIR or build/release."""
    program = Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build" / "release")) / "deft"
    assert program.exists(), f"{program} is not built; run ./run build"
    return program
