"""deft solve: the real problems against their references, results to the letter, malformed files."""

import gzip
import json

import numpy as np
import pytest
from conftest import parse

KEYS = ["name", "kind", "status", "time_s", "iterations", "residuals", "solution", "solver"]
SEQUENCES = [f"{system}_{model}" for system in ("allegro", "pick_place_grasp", "planar_hand") for model in ("cone", "pyr")]


def load(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        return json.load(file)


def dense_Q(problem):
    Q = np.zeros((problem["nv"], problem["nv"]))
    for block in problem["Q_blocks"]:
        s, k = block["start"], block["size"]
        Q[s : s + k, s : s + k] = np.reshape(block["data"], (k, k))
    return Q


def rows_of(contact):
    return [contact["normal"], *contact.get("tangents", [])]


def energy(problem, delta):
    delta = np.asarray(delta)
    return 0.5 * delta @ dense_Q(problem) @ delta + np.dot(problem["b"], delta)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_real_problems_agree_with_their_references(deft, problems, sequence):
    files = sorted((problems / sequence).glob("*.json.gz"))
    assert len(files) == 40
    references = {s["name"]: s for s in load(problems / f"solutions_{sequence}.json.gz")["solutions"]}
    output = deft.json("solve", *files)
    assert output["summary"]["solved"] == 40 and output["summary"]["failed"] == 0
    assert 0 < output["summary"]["time_s"]["median"] <= output["summary"]["time_s"]["p95"]
    for file, result in zip(files, output["results"]):
        problem, reference = load(file), references[result["name"]]
        assert result["name"] == problem["name"] and result["status"] == "Solved"
        assert max(result["residuals"]["scaled"].values()) <= 1e-8
        # Energy, recomputed here from the file, against the reference's.
        solution = result["solution"]
        error = energy(problem, solution["delta"]) - energy(problem, reference["delta"])
        assert abs(error) <= 1e-6 * reference["E0"], (result["name"], error)
        # Balance of forces and gaps, by hand.
        balance = dense_Q(problem) @ solution["delta"] + problem["b"]
        for contact, force, gap in zip(problem["contacts"], solution["force"], solution["gap"], strict=True):
            for row, f in zip(rows_of(contact), force, strict=True):
                np.add.at(balance, row["cols"], -f * np.array(row["vals"]))
            normal = contact["normal"]
            assert gap == pytest.approx(contact["gap"] + np.dot(normal["vals"], np.take(solution["delta"], normal["cols"])), abs=1e-12)
            assert gap >= -1e-9 and force[0] >= 0
            assert np.abs(force[1:]).max() <= contact["mu"] * force[0] + 1e-9
        assert np.abs(balance).max() <= 1e-8 * max(1.0, np.abs(problem["b"]).max())


def example():
    """A unit mass pressed on a floor with 2 N and pulled sideways with 0.6 N: it sticks, the friction is 0.6 N."""
    return {
        "format": "deft-problem",
        "version": 1,
        "kind": "contact",
        "name": "block",
        "source": "by hand",
        "nv": 3,
        "Q": {"rows": 3, "cols": 3, "triplets": [[0, 0, 1], [1, 1, 1], [2, 2, 1]]},
        "b": [-0.6, 0, 2],
        "contacts": [
            {
                "gap": 0,
                "mu": 0.5,
                "normal": {"cols": [2], "vals": [1]},
                "tangents": [{"cols": [0], "vals": [1]}, {"cols": [1], "vals": [1]}],
            }
        ],
        "model": "cone",
        "kappa": None,
    }


@pytest.fixture
def solve(deft, tmp_path):
    def run(problem, *arguments, code=0):
        (tmp_path / "p.json").write_text(json.dumps(problem))
        return deft.json("solve", "p.json", *arguments, code=code)

    return run


@pytest.mark.parametrize("model", ["cone", "pyramid"])
def test_a_problem_solved_by_hand(solve, model):
    result = solve(example() | {"model": model, "rays": 4})
    assert [key for key in result if key in KEYS] == KEYS
    assert (result["name"], result["kind"], result["status"], result["solver"]) == (
        "block",
        "contact",
        "Solved",
        "ipm" if model == "cone" else "active-set",
    )
    assert list(result["residuals"]) == ["scaled", "absolute"]
    for residuals in result["residuals"].values():
        assert list(residuals) == ["stationarity", "primal", "complementarity"] and max(residuals.values()) <= 1e-8
    solution = result["solution"]
    assert list(solution)[:5] == ["delta", "force", "gap", "bound_multipliers", "linear_multipliers"]
    assert solution["delta"] == pytest.approx([0, 0, 0], abs=1e-9)
    assert solution["force"] == [pytest.approx([2, -0.6, 0], abs=1e-9)]
    assert solution["motion_unique"] is True and solution["forces_unique"] is True


def test_forces_of_least_norm_on_request(solve):
    """Three unlike supports along a line carry a body (height, angle) of 6 N: least norm is the elastic answer."""
    problem = {key: example()[key] for key in ["format", "version", "kind", "kappa"]}
    arms = [-1, 0, 2]
    problem |= {
        "nv": 2,
        "b": [6, 0],
        "Q": {"rows": 2, "cols": 2, "triplets": [[0, 0, 1], [1, 1, 1]]},
        "model": "cone",
        "contacts": [{"gap": 0, "frictionless": True, "normal": {"cols": [0, 1], "vals": [1, arm]}} for arm in arms],
    }
    solution = solve(problem, "--forces", "least_norm")["solution"]
    assert solution["forces_unique"] is False
    # f_i = (a + b x_i)/w_i², w_i² = 1 + x_i² in the metric of Q: the stationary point of Σ w²f² under both balances.
    weights = np.array([1 / (1 + arm**2) for arm in arms])
    rows = np.array([np.ones(3), arms])
    expected = weights * (rows.T @ np.linalg.solve(rows * weights @ rows.T, [6, 0]))
    assert (expected > 0).all()
    assert np.ravel(solution["force"]) == pytest.approx(expected, abs=1e-10)


def test_frictionless_smoothed_force_times_gap_is_one_over_kappa(solve):
    problem = example()
    problem["contacts"] = [{"gap": 0.01, "mu": 0, "frictionless": True, "normal": {"cols": [2], "vals": [1]}}]
    result = solve(problem | {"kappa": 50.0})
    (force,), gap = result["solution"]["force"][0], result["solution"]["gap"][0]
    assert force * gap == pytest.approx(1 / 50, rel=1e-9)
    assert result["solution"]["delta"][2] == pytest.approx(gap - 0.01, abs=1e-12)


def test_bounds_and_linear_rows_have_multipliers(solve):
    problem = example() | {"contacts": [], "b": [-3, 0, 2]}
    problem["bounds"] = {"lower": ["-inf", "-inf", -1], "upper": [1, "inf", "inf"]}
    problem["linear"] = {"G": {"rows": 1, "cols": 3, "data": [0, 1, 0]}, "g": [0.25]}
    solution = solve(problem)["solution"]
    assert solution["delta"] == pytest.approx([1, 0.25, -1], abs=1e-9)
    assert solution["bound_multipliers"] == pytest.approx([-2, 0, 1], abs=1e-9)
    assert solution["linear_multipliers"] == pytest.approx([0.25], abs=1e-9)


def test_outcomes_have_words_and_exit_codes(solve):
    empty = example() | {"bounds": {"lower": [1, 0, 0], "upper": [-1, 0, 0]}}
    assert solve(empty, code=1)["status"] == "Infeasible"
    jammed = example() | {"contacts": []}
    jammed["linear"] = {"G": {"rows": 2, "cols": 3, "data": [1, 0, 0, -1, 0, 0]}, "g": [1, 1]}
    contradiction = solve(jammed, code=1)
    assert contradiction["status"] == "Infeasible"
    assert contradiction["solution"]["proof"] == pytest.approx([1, 1])  # x ≥ 1 and −x ≥ 1 add up to 0 ≥ 2
    falling = example() | {"contacts": [], "Q": {"rows": 3, "cols": 3, "triplets": [[0, 0, 1], [1, 1, 1]]}}
    fall = solve(falling, code=1)
    assert fall["status"] == "Unbounded"
    assert fall["solution"]["proof"][:2] == pytest.approx([0, 0]) and fall["solution"]["proof"][2] < 0
    loose = falling | {"b": [0, 0, 0]}
    result = solve(loose)
    assert result["status"] == "NotUnique" and result["solution"]["motion_unique"] is False
    assert "proof" not in result["solution"]


@pytest.mark.parametrize("change", [{"b": [1e200, 0, 2]}, {"bounds": {"lower": [1e300, 0, 0], "upper": ["inf", 0, 0]}}])
def test_overflow_is_a_numerical_failure_and_prints_no_nan(solve, change):
    assert solve(example() | change, code=3)["status"] == "NumericalFailure"


def test_a_time_limit_is_a_status(deft, problems):
    process = deft.start("solve", problems / "pick_place_grasp_cone" / "010.json.gz", "--time-limit", 0, "--json")
    result = parse(process.communicate()[0])
    assert result["status"] == "TimeLimit" and result["iterations"] == 0
    usable = result["residuals"]["scaled"]["primal"] <= 1e-6
    assert process.returncode == (1 if usable else 3)


def test_options_of_solve(solve):
    result = solve(example(), "--solver", "ipm", "--uniqueness", "check", "--tolerance", "1e-10", "--time-limit", "10", "--repeat", "5")
    assert result["status"] == "Solved" and result["time_s"] > 0


def test_for_people_one_line_each_and_a_summary(deft, problems):
    files = sorted((problems / "planar_hand_pyr").glob("00?.json.gz"))
    lines = deft.run("solve", *files).stdout.splitlines()
    assert len(lines) == 11 and all("Solved" in line for line in lines[:10])
    assert lines[-1].startswith("10 solved, 0 failed  median ") and "p95" in lines[-1]
    assert "stationarity" in deft.run("solve", files[0]).stdout


@pytest.mark.parametrize(
    "field, change",
    [
        ("contacts[0].normal.cols[0]", lambda p: p["contacts"][0]["normal"].update(cols=[3])),
        ("contacts[0].mu", lambda p: p["contacts"][0].pop("mu")),
        ("b[1]", lambda p: p.update(b=[0, "x", 0])),
        ("b", lambda p: p.update(b=[0])),
        ("h", lambda p: p.update(kind="ecp")),
        ("q", lambda p: p.update(kind="lcp")),
        ("kind", lambda p: p.update(kind="qp")),
        ("model", lambda p: p.update(model="soft")),
    ],
)
def test_a_malformed_file_names_its_field(deft, tmp_path, field, change):
    problem = example()
    change(problem)
    (tmp_path / "p.json").write_text(json.dumps(problem))
    done = deft.run("solve", "p.json", "--json", code=2)
    assert done.stdout == "" and f"p.json: field '{field}': error: " in done.stderr


@pytest.mark.parametrize("text", ["", "{", "[1, 2", '{"nv": NaN}', "[" * 100 + "]" * 100, "\x00"])
def test_what_is_not_json_is_bad_input(deft, tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    assert "p.json" in deft.run("solve", "p.json", code=2).stderr


def test_a_bad_file_among_good_ones_is_counted(deft, problems, tmp_path):
    (tmp_path / "p.json").write_text("{}")
    good = problems / "allegro_pyr" / "000.json.gz"
    output = deft.json("solve", good, "p.json", good, code=2)
    assert output["summary"]["solved"] == 2 and output["summary"]["failed"] == 1
    assert "error" in output["results"][1] and output["results"][2]["status"] == "Solved"
