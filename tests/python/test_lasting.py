"""Nothing is kept that nobody holds, and threads do not disturb each other (a short version of `./run bench python-soak`)."""

import json
import subprocess
import sys

from conftest import ROOT


def test_memory_stays_and_threads_agree():
    script = ROOT / "benchmarks/peers/package_soak.py"
    found = json.loads(
        subprocess.run([sys.executable, script, "3000", "30", "1000", "3"], capture_output=True, text=True, check=True).stdout
    )
    assert all(found[name]["growth_mb"] < 2 for name in ("steps", "plans", "exceptions")), found
    assert found["threads"]["steps"] > 0 and found["threads"]["wrong"] == 0
