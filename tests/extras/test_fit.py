"""The example that fits friction and mass."""

import re
import subprocess
import sys

from conftest import ROOT


def test_the_example_finds_what_it_did_not_know(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples/fit_friction.py")], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    found = re.search(r"fitted: friction ([\d.]+) .*, mass ([\d.]+) kg", done.stdout)
    assert abs(float(found[1]) - 0.32) < 0.01 and abs(float(found[2]) - 0.85) < 0.02
