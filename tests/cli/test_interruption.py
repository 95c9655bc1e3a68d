"""A run that ends early keeps what it finished: SIGKILL at random moments, and Ctrl-C."""

import random
import signal
import time

import h5py
import numpy as np
import pytest
from conftest import parse

LONG = ["--steps", 1_000_000]
MAX_LOSS_S = 1.0


def wait_for(holds, what, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.005)


def steps_in(file):
    """Finished steps that a reader finds."""
    with h5py.File(file) as run:
        return len(run["t"]) - 1


@pytest.mark.parametrize("moment_s", [round(random.Random(seed).uniform(0.0, 2.5), 3) for seed in range(10)])
def test_a_killed_run_opens_and_lacks_at_most_the_last_second(deft, scenes, tmp_path, moment_s):
    """What a reader found before the kill is there after it. Every step leaves a problem file, so that the steps which were done and when are known
    without the run itself."""
    process = deft.start("sim", scenes / "pick_and_place" / "scene.deft.yaml", *LONG, "--out", "run", "--dump-problems", "dump")
    file = tmp_path / "run" / "run.h5"
    wait_for(file.exists, file)
    first = steps_in(file)
    wait_for(lambda: steps_in(file) > first, "another write")
    time.sleep(moment_s)
    before = steps_in(file)
    process.send_signal(signal.SIGKILL)
    killed_at = time.time()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    done_before = [
        int(file.name[-14:-8]) + 1 for file in (tmp_path / "dump").glob("*.json.gz") if file.stat().st_mtime < killed_at - MAX_LOSS_S
    ]

    assert steps_in(file) >= before > 0
    with h5py.File(file) as run:
        t, q = run["t"][:], run["q"][:]
        steps = len(t) - 1
        assert steps >= max(done_before, default=0)
        assert len(q) == steps + 1 and len(run["u"]) == steps and len(run["steps/status"]) == steps
        assert np.isfinite(t).all() and (np.diff(t) > 0).all() and np.isfinite(q).all()
        assert len(run["contacts/offset"]) == steps + 1 and run["contacts/offset"][-1] == len(run["contacts/gap"])

    (page,) = deft.json("view", "run", "--no-open")["files"]
    assert (tmp_path / page).stat().st_size > 10_000


def test_ctrl_c_keeps_what_was_finished(deft, scenes, tmp_path):
    process = deft.start("sim", scenes / "pick_and_place" / "scene.deft.yaml", *LONG, "--out", "run", "--json")
    wait_for((tmp_path / "run" / "run.h5").exists, "the run")
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    summary = parse(stdout)
    assert summary["status"] == "Interrupted" and summary["steps"] > 0
    assert all((tmp_path / file).exists() for file in summary["files"])
    with h5py.File(tmp_path / "run" / "run.h5") as run:
        assert len(run["t"]) == summary["steps"] + 1
        assert list(run["q"][-1]) == list(summary["q"].values())
