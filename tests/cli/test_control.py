"""deft solve on files of kind `lcs_mpc`, against published costs and against the exported program by brute force."""

import itertools
import json

import numpy as np
import pytest
from control_models import Problem, read_lp
from test_control_export import least, matrix, random_problem

LEAST = {"corner_n5": 155.904711933, "corner_n10": 284.036637098, "cart_pole_walls": 108.177880331, "push_block": 3.95566069}


@pytest.fixture
def solve(deft, tmp_path):
    def run(document, *arguments, code=0):
        (tmp_path / "p.json").write_text(json.dumps(document))
        return deft.json("solve", "p.json", *arguments, code=code)

    return run


def check(problem, result):
    """The trajectory of a result obeys the system and costs what it says; everything recomputed here."""
    found = result["solution"]
    x, u, gamma = (np.array(found[key]).reshape(-1, n) for key, n in (("x", problem.nx), ("u", problem.nu), ("gamma", problem.ng)))
    assert x.shape == (problem.N + 1, problem.nx) and u.shape[0] == gamma.shape[0] == problem.N
    assert np.abs(x[0] - problem.x0).max() <= 1e-8
    for k in range(problem.N):
        slack = problem.slack(x[k], x[k + 1], u[k], gamma[k])
        assert np.abs(problem.A @ x[k] + problem.B @ u[k] + problem.C @ gamma[k] + problem.F - x[k + 1]).max() <= 1e-8
        assert np.abs(np.minimum(gamma[k], slack)).max(initial=0) <= 1e-8
        assert (u[k] >= problem.u_min[k] - 1e-8).all() and (u[k] <= problem.u_max[k] + 1e-8).all()
        hard = np.isinf(problem.price)
        assert (x[k + 1] >= problem.x_min - 1e-8)[hard].all() and (x[k + 1] <= problem.x_max + 1e-8)[hard].all()
    assert found["cost"] == pytest.approx(problem.cost(x, u), rel=1e-9, abs=1e-9)
    assert found["bound"] <= found["cost"] + 1e-9 * abs(found["cost"]) and found["gap"] >= 0


@pytest.mark.parametrize("name", sorted(LEAST))
def test_examples_are_solved_to_their_published_costs(deft, root, name):
    path = root / "scenes" / "control" / f"{name}.json"
    result = deft.json("solve", path, "--time-limit", "60")
    assert (result["kind"], result["status"], result["solver"]) == ("lcs_mpc", "Solved", "bnb")
    assert result["solution"]["cost"] == pytest.approx(LEAST[name], rel=1e-6) and result["solution"]["gap"] <= 1.000001e-7
    assert max(result["residuals"]["absolute"].values()) <= 1e-8 and result["solution"]["nodes"] >= 1
    check(Problem(json.loads(path.read_text())), result)


def optimum(deft, tmp_path, document):
    """By brute force over the binaries of the exported program."""
    (tmp_path / "q.json").write_text(json.dumps(document))
    deft.run("solve", "q.json", "--export", "q.lp")
    model = read_lp((tmp_path / "q.lp").read_text())
    names = sorted(model.binaries)
    return min(least(model, dict(zip(names, bits, strict=True))) for bits in itertools.product((0, 1), repeat=len(names)))


def test_the_cost_is_that_of_the_best_modes(deft, solve, tmp_path):
    rng = np.random.default_rng(12)
    compared = 0
    for round_ in range(10):
        document = random_problem(rng, soft=round_ % 2 == 0)
        best = optimum(deft, tmp_path, document)
        if best == np.inf:
            assert solve(document, code=1)["status"] == "Infeasible"
            continue
        result = solve(document)
        assert result["status"] == "Solved"
        check(Problem(document), result)
        assert result["solution"]["cost"] == pytest.approx(best, rel=1e-6, abs=1e-6)
        compared += 1
    assert compared >= 7


def test_what_has_no_trajectory_is_infeasible(solve):
    result = solve(random_problem(np.random.default_rng(1)) | {"x_min": [5, -4]}, code=1)
    assert result["status"] == "Infeasible" and result["solution"]["x"] is None and result["solution"]["cost"] == "inf"
    crossed = random_problem(np.random.default_rng(2)) | {"u_min": [2], "u_max": [1]}
    assert solve(crossed, code=1)["status"] == "Infeasible"


def test_limits_keep_what_is_known(deft, root):
    path = root / "scenes" / "control" / "corner_n20.json"
    done = deft.run("solve", path, "--time-limit", "0", "--json", code=None)
    result = json.loads(done.stdout)
    assert result["status"] == "TimeLimit"
    assert done.returncode == (3 if result["solution"]["x"] is None else 1)
    loose = deft.json("solve", path, "--tolerance", "0.5", "--time-limit", "60")
    assert loose["status"] == "Solved" and loose["solution"]["gap"] <= 0.5


def test_options_and_the_table(deft, root):
    folder = root / "scenes" / "control"
    text = deft.run("solve", folder / "cart_pole_walls.json", "--solver", "bnb", "--threads", "2", "--repeat", "3").stdout
    assert "4 states, 1 inputs, 2 pairs, N 10" in text and "cost        108.17788" in text and "bnb," in text
    assert len([line for line in text.splitlines() if line.split() and line.split()[0].isdigit()]) == 10
    many = deft.json("solve", folder / "corner_n5.json", folder / "cart_pole_walls.json")
    assert many["summary"]["solved"] == 2 and [r["name"] for r in many["results"]] == ["corner_n5", "cart_pole_walls"]
    assert "is not for kind 'lcs_mpc'; valid: auto, bnb" in deft.run("solve", folder / "corner_n5.json", "--solver", "ipm", code=2).stderr


def test_bad_files_are_refused(deft, solve, tmp_path):
    document = random_problem(np.random.default_rng(1))
    for change, message in [
        ({"Q": matrix([[1, 2], [2, 1]])}, "field 'Q': error: has the negative eigenvalue -1"),
        ({"u_max": [[1]]}, "field 'u_max': error: has 1 vectors, needs one vector, or 2 of them (N)"),
        ({"N": 0}, "field 'N': error: must be an integer from 1"),
    ]:
        (tmp_path / "p.json").write_text(json.dumps(document | change))
        assert message in deft.run("solve", "p.json", code=2).stderr
