"""deft solve on files of kinds `lcp` and `mcp`."""

import json

import numpy as np
import pytest

HEAD = {"format": "deft-problem", "version": 1, "name": "p"}


def problem(M, q, free=None, **more):
    M = np.asarray(M, float)
    body = {"M": {"rows": M.shape[0], "cols": M.shape[1], "data": M.ravel().tolist()}, "q": list(q)}
    return HEAD | {"kind": "lcp"} | body | more if free is None else HEAD | {"kind": "mcp"} | body | {"free": free} | more


@pytest.fixture
def solve(deft, tmp_path):
    def run(document, *arguments, code=0):
        (tmp_path / "p.json").write_text(json.dumps(document))
        return deft.json("solve", "p.json", *arguments, code=code)

    return run


def block(mu=0.5, push=0.3):
    """A unit mass on the ground, pressed with the impulse 1 and pushed sideways: f_n, β₊, β₋, λ."""
    return problem([[1, 0, 0, 0], [0, 1, -1, 1], [0, -1, 1, 1], [mu, -1, -1, 0]], [-1, push, -push, 0])


@pytest.mark.parametrize("solver", ["auto", "lemke", "newton"])
@pytest.mark.parametrize("push, slides", [(0.3, False), (2.0, True)])
def test_a_pushed_block(solve, solver, push, slides):
    result = solve(block(push=push), "--solver", solver)
    assert (result["name"], result["kind"], result["status"]) == ("p", "lcp", "Solved")
    assert result["solver"] == ("lemke" if solver == "auto" else solver)
    z, w = (np.array(result["solution"][key]) for key in "zw")
    assert z[0] == pytest.approx(1) and z[2] - z[1] == pytest.approx(0.5 if slides else push)
    assert z[3] == pytest.approx(1.5 if slides else 0, abs=1e-12)  # λ is the speed
    assert np.abs(np.minimum(z, w)).max() <= 1e-12
    assert result["solution"]["uniqueness"] == "unknown" and result["solution"]["second"] is None
    for group in result["residuals"].values():
        assert list(group) == ["stationarity", "primal", "complementarity"] and max(group.values()) <= 1e-12


def test_free_rows_hold_and_their_order_does_not_matter(solve):
    """min ½|x|² − cᵀx, x₀ + x₁ ≥ 1, c = (−1, 0.1)."""
    M, q = [[1, 0, -1], [0, 1, -1], [1, 1, 0]], [1, -0.1, -1]
    for free in ([0, 1], [1, 0]):
        result = solve(problem(M, q, free), "--uniqueness", "check")
        assert result["kind"] == "mcp" and result["solution"]["uniqueness"] == "unique"
        assert result["solution"]["z"] == pytest.approx([-0.05, 1.05, 0.95], abs=1e-12)


def test_an_empty_list_of_free_indices_is_still_mixed(solve):
    assert solve(problem([[1]], [-2], []))["kind"] == "mcp"


def test_a_second_solution_is_shown(solve):
    """0 ≤ z ⟂ 1 − z ≥ 0: z = 0 and z = 1."""
    result = solve(problem([[-1]], [1]), "--uniqueness", "check")
    assert result["status"] == "NotUnique" and result["solution"]["uniqueness"] == "not_unique"
    both = sorted([result["solution"]["z"][0], result["solution"]["second"]["z"][0]])
    assert both == pytest.approx([0, 1])
    assert "second" in result["message"]
    # If only the sum of two indifferent forces moves anything, the motion is unique.
    shared = problem([[1, 1], [1, 1]], [-1, -1])
    assert solve(shared, "--uniqueness", "check")["status"] == "NotUnique"
    assert solve(shared | {"motion": {"rows": 1, "cols": 2, "data": [1, 1]}}, "--uniqueness", "check")["status"] == "Solved"


def test_infeasible_with_a_proof_that_can_be_checked(solve):
    M, q = np.array([[1.0, -1], [-1, 1]]), np.array([-1.0, -1])
    result = solve(problem(M, q), code=1)
    assert result["status"] == "Infeasible" and result["proof_error"] <= 1e-12
    (part,) = result["solution"]["proof"]
    y = np.array(part["y"])
    assert part["z_zero"] == part["w_zero"] == [] and (y >= 0).all() and (M.T @ y <= 1e-12).all() and q @ y < 0


def test_infeasible_mode_by_mode(deft, tmp_path):
    """Each part of each proof is checked here, and that together they leave no mode out."""
    rng = np.random.default_rng(2)
    drawn = [(rng.normal(size=(6, 6)), rng.normal(size=6)) for _ in range(40)]
    for k, (M, q) in enumerate(drawn):
        (tmp_path / f"{k:02}.json").write_text(json.dumps(problem(M, q)))
    found = 0
    for (M, q), result in zip(drawn, deft.json("solve", *(f"{k:02}.json" for k in range(40)), code=1)["results"], strict=True):
        assert result["status"] in ("Solved", "Infeasible")
        if result["status"] != "Infeasible" or len(result["solution"]["proof"]) < 2:
            continue
        found += 1
        modes = set()
        for part in result["solution"]["proof"]:
            y = np.array(part["y"])
            slope = M.T @ y
            assert q @ y < 0
            assert all(y[i] >= -1e-9 for i in range(6) if i not in part["w_zero"])
            assert all(slope[i] <= 1e-9 for i in range(6) if i not in part["z_zero"])
            modes |= {m for m in range(64) if all(not m >> i & 1 for i in part["z_zero"]) and all(m >> i & 1 for i in part["w_zero"])}
        assert len(modes) == 64
    assert found >= 5


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_units_do_not_matter(solve, scale):
    rows, cols = np.array([1e-6, 1e3, 1, 1e6]), np.array([1e4, 1, 1e-5, 1])
    base = block(push=2.0)
    M = np.reshape(base["M"]["data"], (4, 4)) * rows[:, None] * cols
    result = solve(problem(M, np.array(base["q"]) * rows * scale))
    assert result["status"] == "Solved" and max(result["residuals"]["scaled"].values()) <= 1e-12
    assert np.array(result["solution"]["z"]) * cols / scale == pytest.approx([1, 0, 0.5, 1.5], abs=1e-9)


def test_options_and_limits(deft, solve, tmp_path):
    assert solve(block(), "--tolerance", "1e-12", "--repeat", "3")["status"] == "Solved"
    limited = solve(block(), "--time-limit", "0", code=3)
    assert limited["status"] == "TimeLimit" and limited["iterations"] == 0
    lines = deft.run("solve", "p.json").stdout
    assert "lcp of size 4, 0 free" in lines and "Solved" in lines
    assert "proof" in run_text(deft, tmp_path, problem([[1, -1], [-1, 1]], [-1, -1]), 1)
    assert "second solution" in run_text(deft, tmp_path, problem([[-1]], [1]), 0, "--uniqueness", "check")


def run_text(deft, tmp_path, document, code, *arguments):
    (tmp_path / "q.json").write_text(json.dumps(document))
    return deft.run("solve", "q.json", *arguments, code=code).stdout


def test_kinds_mix_in_one_call(deft, problems, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(block()))
    output = deft.json("solve", "p.json", problems / "allegro_pyr" / "000.json.gz")
    assert [r["kind"] for r in output["results"]] == ["lcp", "contact"] and output["summary"]["solved"] == 2


@pytest.mark.parametrize(
    "change, message",
    [
        ({"free": [0, 0]}, "field 'free[1]': error: index 0 stands in the list twice"),
        ({"free": [2]}, "field 'free[0]': error:"),
        ({"free": [0.5]}, "field 'free[0]': error:"),
        ({"q": [1]}, "field 'M.rows': error:"),
        ({"q": [1, "inf"]}, "field 'q[1]': error:"),
        ({"M": {"rows": 1, "cols": 2, "data": [1, 2]}}, "field 'M.rows': error: is 1, needs 2 (the size of q)"),
        ({"M": {"rows": 2, "cols": 2, "data": [1, 2, 3]}}, "field 'M.data': error:"),
        ({"M": {"rows": 2, "cols": 2, "triplets": [[0, 2, 1]]}}, "field 'M.triplets[0][1]': error:"),
        ({"motion": {"rows": 1, "cols": 3, "data": [1, 2, 3]}}, "field 'motion.cols': error:"),
    ],
)
def test_bad_files_are_refused(deft, tmp_path, change, message):
    (tmp_path / "p.json").write_text(json.dumps(problem(np.eye(2), [-1, -1], [0]) | change))
    assert message in deft.run("solve", "p.json", code=2).stderr


def test_a_solver_of_another_kind_is_refused(deft, problems, tmp_path):
    (tmp_path / "p.json").write_text(json.dumps(block()))
    assert "--solver ipm is not for kind 'lcp'; valid: auto, lemke, newton" in deft.run("solve", "p.json", "--solver", "ipm", code=2).stderr
    contact = problems / "allegro_pyr" / "000.json.gz"
    assert "--solver lemke is not for kind 'contact'" in deft.run("solve", contact, "--solver", "lemke", code=2).stderr
