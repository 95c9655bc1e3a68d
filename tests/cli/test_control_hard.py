"""Control problems in which rounding decides: nearly weightless inputs, multipliers that hardly act and have no bound. The optima are those of
a commercial solver with the pairs as SOS1 constraints."""

import json
from pathlib import Path

import pytest

PROBLEMS = Path(__file__).parent / "control_problems"
OPTIMA = {
    "nearly_free_input": 7.8437,
    "nearly_free_input_long": 34.830,
    "full_working_set": 304.405,
    "weak_input": 1.0,
    "weak_multipliers": 1.0,
    "weak_slack": 0.000396,
}
SOLVED = {"weak_input", "weak_multipliers"}
# What is proven at least, whether or not a trajectory is found, with the kernels of every instruction set: rounding costs full_working_set its
# bound where there is no AVX2 (304.40 elsewhere).
PROVEN = {
    "nearly_free_input": 7.843,
    "nearly_free_input_long": 31.0,
    "full_working_set": 0.0,
    "weak_input": 0.999,
    "weak_multipliers": 0.999,
    "weak_slack": 0.0,
}


@pytest.mark.parametrize("name", OPTIMA)
def test_says_nothing_wrong(deft, name):
    result = deft.json("solve", PROBLEMS / f"{name}.json", "--time-limit", "20", code=None)
    optimum = OPTIMA[name]
    assert result["status"] != "Infeasible"
    assert PROVEN[name] <= float(result["solution"]["bound"]) <= optimum * (1 + 1e-4)
    if result["status"] == "Solved":
        assert result["solution"]["cost"] == pytest.approx(optimum, rel=1e-4)
    assert (result["status"] == "Solved") >= (name in SOLVED)


@pytest.mark.parametrize("change", [{"gamma_max": [-1e-7, 1]}, {"u_min": [1e-9, 0], "u_max": [0, 1]}])
def test_bounds_that_cross_by_little_are_infeasible(deft, tmp_path, change):
    problem = json.loads((PROBLEMS / "weak_multipliers.json").read_text())
    inputs, pairs = problem["B"]["cols"], problem["C"]["cols"]
    change = {key: (values * 4)[: pairs if key == "gamma_max" else inputs] for key, values in change.items()}
    path = tmp_path / "crossed.json"
    path.write_text(json.dumps(problem | change))
    assert deft.json("solve", path, code=1)["status"] == "Infeasible"
