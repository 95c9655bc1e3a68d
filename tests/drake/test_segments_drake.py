"""What the page of segments in Drake concludes (docs/reproductions/sim_to_sim.md), from a small version of what it runs."""

import json
import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
from suites.programs import DeftRuns  # noqa: E402
from suites.sim_to_sim import FOLDER, segments_of  # noqa: E402

ARRIVED_RAD = 0.1  # what plans that hold are asked for


def test_first_plans_do_not_hold_in_drake_and_turn_further_off_in_space(tmp_path):
    settings = json.loads((FOLDER / "settings.json").read_text())
    settings["approximations"] = ["lagged"]
    runs = DeftRuns(Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")), tmp_path)
    segments = {name: segments_of(runs, settings, name, settings["seeds"]["pilot"][0]) for name in ("planar_bimanual", "allegro_pen")}
    assert all(row["status"] == "Completed" and row["moved_rotation_rad"] > 0 for rows in segments.values() for row in rows)
    in_plane, in_space = (
        {key: np.median([row[key] for row in rows]) for key in ("position_m", "rotation_rad")} for rows in segments.values()
    )
    assert in_plane["position_m"] < in_space["position_m"]
    assert in_plane["rotation_rad"] < in_space["rotation_rad"]
    assert in_space["rotation_rad"] > ARRIVED_RAD
    # The plane's segments follow the plan: they are off by less than they move.
    assert in_plane["rotation_rad"] < np.median([row["moved_rotation_rad"] for row in segments["planar_bimanual"]])
