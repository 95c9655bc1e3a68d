"""deft solve on files of kind `delassus`: frictional contact in the space of forces."""

import json

import numpy as np
import pytest


def sliding(law, mu=0.5, dim=3):
    """A unit mass pressed down with momentum 2 that slides at 3 m/s along t."""
    return {
        "format": "deft-problem",
        "version": 1,
        "kind": "delassus",
        "name": "slide",
        "dim": dim,
        "mu": [mu],
        "law": law,
        "W": {"rows": dim, "cols": dim, "triplets": [[i, i, 1.0] for i in range(dim)]},
        "q": [-2.0, 3.0, 0.0][:dim],
    }


@pytest.fixture
def solve(deft, tmp_path):
    def run(problem, *arguments, code=0):
        (tmp_path / "p.json").write_text(json.dumps(problem))
        return deft.json("solve", "p.json", *arguments, code=code)

    return run


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law, rise", [("coulomb", 0.0), ("associated", 0.5)])
def test_sliding_mass(solve, dim, law, rise):
    """Coulomb: f_t = −μ f_n, no rise. Associated: u_n = μ u_t, so (u_n, u_t) = (0.8, 1.6) from r_n = 2.8."""
    result = solve(sliding(law, dim=dim))
    assert (result["name"], result["kind"], result["status"], result["solver"]) == ("slide", "delassus", "Solved", "ipm")
    r, u = result["solution"]["r"], result["solution"]["u"]
    normal = 2.0 if law == "coulomb" else 2.8
    assert r[:2] == pytest.approx([normal, -0.5 * normal], abs=1e-8)
    assert u[:2] == pytest.approx([normal - 2, 3 - 0.5 * normal], abs=1e-8)
    assert u[0] == pytest.approx(rise * abs(u[1]), abs=1e-8)
    assert max(max(group.values()) for group in result["residuals"].values()) <= 1e-8


def test_random_heap_satisfies_both_laws(solve):
    """Residuals recomputed here from the file's own data."""
    rng = np.random.default_rng(5)
    J = rng.normal(size=(60, 36)) * (rng.random((60, 36)) < 0.3)
    W, mu = J @ J.T, rng.uniform(0, 1, 20)
    q = J @ (rng.normal(size=36) - 0.5)
    for law in ("associated", "coulomb"):
        problem = {
            "format": "deft-problem",
            "version": 1,
            "kind": "delassus",
            "dim": 3,
            "mu": mu.tolist(),
            "law": law,
            "q": q.tolist(),
            "W": {"rows": 60, "cols": 60, "data": W.ravel().tolist()},
        }
        solution = solve(problem)["solution"]
        r, u = (np.array(solution[key]).reshape(20, 3) for key in "ru")
        assert np.abs(W @ r.ravel() + q - u.ravel()).max() <= 1e-8
        slide = np.linalg.norm(u[:, 1:], axis=1)
        opening = u[:, 0] + (mu * slide if law == "coulomb" else 0)
        assert (opening - mu * slide).min() >= -1e-7
        assert (mu * r[:, 0] - np.linalg.norm(r[:, 1:], axis=1)).min() >= -1e-7
        assert np.abs(opening * r[:, 0] + (u[:, 1:] * r[:, 1:]).sum(axis=1)).max() <= 1e-6


def test_what_nothing_opens_is_infeasible(solve):
    problem = sliding("associated")
    problem["W"]["triplets"] = []
    assert solve(problem, code=1)["status"] == "Infeasible"


@pytest.mark.parametrize(
    "change, message",
    [
        ({"law": "columb"}, "field 'law': error: unknown law 'columb'; valid: associated, coulomb"),
        ({"dim": 4}, "field 'dim': error:"),
        ({"mu": [-0.5]}, "field 'mu[0]': error: is -0.5, needs a number ≥ 0"),
        ({"q": [1.0]}, "field 'q': error:"),
        ({"W": {"rows": 3, "cols": 3, "data": [1, 0.5, 0, 0, 1, 0, 0, 0, 1]}}, "field 'W': error: is not symmetric"),
    ],
)
def test_bad_files_are_refused(deft, tmp_path, change, message):
    (tmp_path / "p.json").write_text(json.dumps(sliding("coulomb") | change))
    assert message in deft.run("solve", "p.json", code=2).stderr
