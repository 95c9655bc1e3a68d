"""The types of the extension are written down as they are."""

import subprocess
import sys
from pathlib import Path

import deft


def test_the_stub_is_that_of_the_extension(tmp_path):
    # python -m nanobind.stubgen -P -m deft._core -o python/deft/_core.pyi, with the build's python/ on the path
    package = Path(deft.__file__).parent
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-P",
        "-m",
        "deft._core",
        "-o",
        str(tmp_path / "stub.pyi"),
        "-i",
        str(package.parent),
    ]
    subprocess.run(command, check=True)
    assert (tmp_path / "stub.pyi").read_text() == (package / "_core.pyi").read_text()
