"""deft solve --export: control problems as mixed-integer programs hold exactly the trajectories of the system."""

import gzip
import itertools
import json
import subprocess
import sys

import numpy as np
import pytest
from control_models import INF, Problem, read_lp, read_mps
from scipy.optimize import linprog, minimize

EXAMPLES = ["corner_n5", "corner_n10", "corner_n20", "cart_pole_walls", "push_block"]


def matrix(values):
    values = np.asarray(values, float)
    return {"rows": values.shape[0], "cols": values.shape[1], "data": values.ravel().tolist()}


def random_problem(rng, soft=False, boxed=True):
    """Two states, one input, two pairs, two steps; DC + E is positive definite, so that each input has one trajectory."""
    C, D, D0 = rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), 0.3 * rng.normal(size=(2, 2))
    L = rng.normal(size=(2, 2))
    weight = rng.normal(size=(2, 2))
    document = {
        "format": "deft-problem",
        "version": 1,
        "kind": "lcs_mpc",
        "name": "random",
        "A": matrix(0.6 * rng.normal(size=(2, 2))),
        "B": matrix(rng.normal(size=(2, 1))),
        "C": matrix(C),
        "F": list(0.3 * rng.normal(size=2)),
        "D0": matrix(D0),
        "D": matrix(D),
        "E": matrix(L @ L.T + 0.3 * np.eye(2) - D @ C),
        "H": matrix(0.3 * rng.normal(size=(2, 1))),
        "alpha": list(rng.normal(size=2)),
        "N": 2,
        "Q": matrix(weight @ weight.T),
        "R": matrix([[0.3]]),
        "Qf": matrix(2 * np.eye(2)),
        "x0": list(rng.normal(size=2)),
        "x_goal": rng.normal(size=(3, 2)).tolist(),
        "u_min": [[-1], [-1.5]],
        "u_max": [1],
    }
    if boxed:
        document |= {"x_min": [-4, -4], "x_max": [4, 4]}
    if soft:
        document |= {"x_min": [-0.1, "-inf"], "x_max": [0.2, 3], "x_price": [3, "inf"]}
    return document


@pytest.fixture
def export(deft, tmp_path):
    def run(document, ending="lp"):
        (tmp_path / "p.json").write_text(json.dumps(document))
        said = deft.json("solve", "p.json", "--export", f"out.{ending}")
        text = (tmp_path / f"out.{ending}").read_text()
        return (read_lp if ending == "lp" else read_mps)(text), said

    return run


def trajectories(problem, rng, count):
    """Of random inputs, all solutions of each step; those that keep the hard bounds."""
    for _ in range(count):
        u = rng.uniform(np.maximum(problem.u_min, -2), np.minimum(problem.u_max, 2))
        x: list[np.ndarray] = [problem.x0]
        gamma: list[np.ndarray] = []
        for k in range(problem.N):
            found = list(problem.step(x[-1], u[k]))
            if not found:
                break
            g, following = found[rng.integers(len(found))]
            x, gamma = [*x, following], [*gamma, g]
        hard = problem.price == INF
        if len(gamma) == problem.N and all(((v >= problem.x_min - 1e-9) & (v <= problem.x_max + 1e-9))[hard].all() for v in x[1:]):
            yield np.array(x), u, np.array(gamma)


@pytest.mark.parametrize("ending", ["lp", "mps"])
@pytest.mark.parametrize("soft", [False, True])
def test_it_holds_every_trajectory_and_nothing_else(export, ending, soft):
    rng = np.random.default_rng(4 + soft)
    held = refused = 0
    for _ in range(8):
        document = random_problem(rng, soft)
        problem = Problem(document)
        if export(document)[1]["infeasible"]:
            assert list(trajectories(problem, rng, 50)) == []
            continue
        model, _ = export(document, ending)
        for x, u, gamma in trajectories(problem, rng, 20):
            z = problem.columns(model, x, u, gamma)
            assert model.violations(z) == []
            assert model.objective(z) == pytest.approx(problem.cost(x, u), rel=1e-12)
            held += 1
            # A force where its slack is positive breaks the model whatever its binary says, and so does a wrong state.
            for k, i in itertools.product(range(2), range(2)):
                name, slack = f"gamma_{k + 1}_{i}", f"s_{k + 1}_{i}"
                if z[slack] > 1e-3:
                    for b in (0, 1):
                        assert model.violations(z | {name: z[name] + 0.1} | ({f"b_{k + 1}_{i}": b} if f"b_{k + 1}_{i}" in z else {})) != []
                    refused += 1
                assert f"dynamics_{k + 1}_{i}" in model.violations(z | {f"x_{k + 1}_{i}": z[f"x_{k + 1}_{i}"] + 1e-3})
                assert f"slack_{k + 1}_{i}" in model.violations(z | {slack: z[slack] + 1e-3})
    assert held > 80 and refused > 100


def test_both_forms_are_the_same_program(deft, root, tmp_path):
    for name in ("corner_n10", "cart_pole_walls", "push_block"):
        path = root / "scenes" / "control" / f"{name}.json"
        deft.run("solve", path, "--export", "a.lp")
        deft.run("solve", path, "--export", "a.mps.gz")
        lp, mps = read_lp((tmp_path / "a.lp").read_text()), read_mps(gzip.decompress((tmp_path / "a.mps.gz").read_bytes()).decode())
        assert lp.rows == mps.rows and lp.products == mps.products and lp.bounds == mps.bounds and lp.binaries == mps.binaries
        assert {k: v for k, v in lp.cost.items() if v != 0} == {k: v for k, v in mps.cost.items() if v != 0}


def least(model, fixed):
    """The convex program that is left when the binaries are fixed; infinity if it has no point."""
    names = [n for n in model.bounds if n not in model.binaries]
    column = {name: j for j, name in enumerate(names)}

    def value(z):
        return model.objective(dict(zip(names, z, strict=True)))

    def slope(z):
        out = np.zeros(len(z))
        for name, cost in model.cost.items():
            out[column[name]] += cost
        for (a, b), q in model.products.items():
            out[column[a]] += q * z[column[b]]
            out[column[b]] += q * z[column[a]]
        return out

    upper = {name: high for name, (_, high) in model.bounds.items()}
    equal: list[tuple[np.ndarray, float]] = []
    below: list[tuple[np.ndarray, float]] = []
    for terms, sense, rhs in model.rows.values():
        row, rest = np.zeros(len(names)), rhs
        for name, factor in terms.items():
            if name in fixed:
                rest -= factor * fixed[name]
            else:
                row[column[name]] = factor
        (equal if sense == "=" else below).append((row, rest) if sense != ">=" else (-row, -rest))
    for binary, at, name in model.indicators:
        if fixed[binary] == at:
            upper[name] = 0
    bounds = [(model.bounds[n][0], upper[n]) for n in names]
    A, b = np.array([r for r, _ in equal]), np.array([v for _, v in equal])
    G, g = np.array([r for r, _ in below]).reshape(-1, len(names)), np.array([v for _, v in below])
    constraints = [
        {"type": "eq", "fun": lambda z: A @ z - b, "jac": lambda z: A},
        {"type": "ineq", "fun": lambda z: g - G @ z, "jac": lambda z: -G},
    ]
    found, rng = INF, np.random.default_rng(0)
    for _ in range(3):  # SLSQP stops early from some starts
        start = linprog(
            rng.normal(size=len(names)), A_ub=G, b_ub=g, A_eq=A, b_eq=b, bounds=[(max(low, -100), min(high, 100)) for low, high in bounds]
        )
        if start.status == 2:
            return INF
        z = minimize(
            value, start.x, jac=slope, bounds=bounds, constraints=constraints, method="SLSQP", options={"maxiter": 300, "ftol": 1e-13}
        ).x
        if np.abs(A @ z - b).max() <= 1e-8 and (G @ z - g).max(initial=0) <= 1e-8:
            found = min(found, value(z))
    return found


def test_its_optimum_is_that_of_the_problem(export):
    """Over all binaries the exported program is never cheaper than the best of many simulated trajectories is dear, and close to it."""
    rng = np.random.default_rng(9)
    for _ in range(4):
        document = random_problem(rng)
        problem = Problem(document)
        sampled = list(trajectories(problem, rng, 300))
        model, said = export(document)
        cheapest = min(sampled, key=lambda t: problem.cost(t[0], t[1]))
        names = sorted(model.binaries)
        assert said["binaries"] == len(names)
        optimum = min(least(model, dict(zip(names, bits, strict=True))) for bits in itertools.product((0, 1), repeat=len(names)))
        reached = problem.cost(cheapest[0], cheapest[1])
        assert optimum <= reached + 1e-6 and optimum >= reached - 0.1 * (1 + abs(reached))


def test_a_side_without_a_bound_is_an_indicator_or_an_error(deft, export, tmp_path):
    """Inputs of any size may press as hard as they like."""
    two = np.eye(2)
    document = {
        "format": "deft-problem",
        "version": 1,
        "kind": "lcs_mpc",
        "A": matrix(two),
        "B": matrix(0.1 * two),
        "C": matrix([[1, -1], [0, 0]]),
        "D": matrix([[1, 0.2], [-1, 0.2]]),
        "E": matrix(0 * two),
        "alpha": [0, 0],
        "N": 1,
        "Q": matrix(two),
        "R": matrix(two),
        "Qf": matrix(two),
        "x0": [0, 0],
        "x_goal": [1, 0],
    }
    model, said = export(document)
    assert model.indicators == [("b_1_0", 0, "gamma_1_0"), ("b_1_0", 1, "s_1_0"), ("b_1_1", 0, "gamma_1_1"), ("b_1_1", 1, "s_1_1")]
    assert said["indicators"] == 4
    error = deft.run("solve", "p.json", "--export", "out.mps", code=2).stderr
    assert (
        "gamma_1_0 has no bound that could be proved" in error
        and "give gamma_max (pair 0)" in error
        and not (tmp_path / "out.mps").exists()
    )
    document |= {"x_min": [-1, -1], "x_max": [1, 1], "u_min": [-1, -1], "u_max": [1, 1]}
    model, said = export(document | {"gamma_max": 5}, "mps")
    assert said["indicators"] == 0 and said["largest_m"] == pytest.approx(5) and model.bounds["gamma_1_0"] == (0, 5)
    # A wedge can be squeezed as hard as one likes, but need not: of all forces with one effect some are at a vertex.
    model, said = export(document)
    assert said["indicators"] == 0 and 0.05 < said["largest_m"] < 0.5


def test_infeasible_problems_say_so(deft, export):
    document = random_problem(np.random.default_rng(1)) | {"x_min": [5, -4]}
    assert export(document)[1]["infeasible"] is True
    assert "prove already" in deft.run("solve", "p.json", "--export", "o.lp").stdout
    assert "infeasible" in deft.run("solve", "p.json", "--export", "o.mps", code=2).stderr


def test_wrong_uses_are_refused(deft, root, problems, tmp_path):
    path = root / "scenes" / "control" / "corner_n5.json"
    assert "must end in .lp or .mps" in deft.run("solve", path, "--export", "o.txt", code=2).stderr
    assert "several files" in deft.run("solve", path, path, "--export", "o.lp", code=2).stderr
    contact = problems / "allegro_pyr" / "000.json.gz"
    assert "--export is for kind 'lcs_mpc' only" in deft.run("solve", contact, "--export", "o.lp", code=2).stderr
    assert "cannot write" in deft.run("solve", path, "--export", "no_folder/o.lp", code=2).stderr
    assert "--tolerance 0.1 is for kind 'lcs_mpc' only" in deft.run("solve", contact, "--tolerance", "0.1", code=2).stderr


def test_the_examples_are_what_their_generator_writes(root, tmp_path):
    subprocess.run([sys.executable, root / "tools" / "make_control_problems.py", tmp_path], check=True)
    folder = root / "scenes" / "control"
    assert (
        sorted(p.name for p in folder.glob("*.json"))
        == sorted(f"{name}.json" for name in EXAMPLES)
        == sorted(p.name for p in tmp_path.glob("*.json"))
    )
    for name in EXAMPLES:
        assert (tmp_path / f"{name}.json").read_text() == (folder / f"{name}.json").read_text()
