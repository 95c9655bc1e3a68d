#!/usr/bin/env python3
"""Rival solvers on exported control problems: mixed-integer quadratic programs with big-M bounds that deft computed.

Usage: control_peers.py RIVAL LIMIT FILE.lp…      RIVAL: scip, scip6, gurobi1, gurobi2 (threads); LIMIT in seconds

Needs the environment .venv-bench (./run bench makes it). Timed is the rival's solve, not the building of its model. The gap is 1e-7 as
deft's own; scip6: 1e-6, since SCIP's cuts of squares close the last digit slowly. Feasibility is 1e-8 as deft's own for Gurobi, and 1e-6 for SCIP, its default: at 1e-8 its cuts hardly converge. Each answer is written beside its file, FILE.RIVAL.json, for `control_problems certify`; the last line
of stdout is a JSON object {"rows": [...], "absent": {...}}. A row without an answer has the cost null.

What the files decide already helps the rivals: pairs that bounds decide have no binary. A multiplier without any proven bound, which the
files leave to indicator constraints (SCIP calls some of those programs infeasible), gets one of 20: more than any of the optima has.

SCIP gets every square as a constraint of its own, t ≥ z², which its cuts need; a square in the objective would be one constraint of all.
Gurobi gets the model as it is, or, where it is above the free size (200 columns with a quadratic cost), with states and slacks
eliminated; if that is above it too, the row says so.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/cli"))
from control_models import Model, read_lp

GAP = 1e-7
FEASIBILITY = {"scip": 1e-6, "gurobi": 1e-8}
NO_BOUND = 20.0  # in place of none
FREE_COLUMNS = 200


def tidy(model: Model) -> tuple[Model, float, dict[str, float]]:
    """Without the columns that their bounds fix: the model, the constant of its cost, and those columns."""
    fixed = {name: low for name, (low, high) in model.bounds.items() if low == high}
    fixed["constant"] = 1.0
    out = Model()
    constant = 0.0
    for name, factor in model.cost.items():
        if name in fixed:
            constant += factor * fixed[name]
        else:
            out.cost[name] = factor
    for (a, b), factor in model.products.items():
        if a in fixed and b in fixed:
            constant += factor * fixed[a] * fixed[b]
        elif a in fixed or b in fixed:
            free, held = (b, a) if a in fixed else (a, b)
            out.cost[free] = out.cost.get(free, 0.0) + factor * fixed[held]
        else:
            out.products[a, b] = factor
    for row, (terms, sense, rhs) in model.rows.items():
        free = {name: factor for name, factor in terms.items() if name not in fixed}
        if free:
            out.rows[row] = (free, sense, rhs - sum(factor * fixed[name] for name, factor in terms.items() if name in fixed))
    out.bounds = {name: bounds for name, bounds in model.bounds.items() if name not in fixed}
    out.binaries = model.binaries - set(fixed)
    for binary, at, name in model.indicators:  # at = 0: γ = 0 unless b; at = 1: s = 0 if b
        sign = NO_BOUND if at else -NO_BOUND
        out.rows[f"if_{name}_{binary}"] = ({name: 1.0, binary: sign}, "<=", max(sign, 0.0))
    return out, constant, fixed


class Scip:
    """The open solver. One thread."""

    def __init__(self, limit: float, gap: float):
        from pyscipopt import Model as ScipModel

        self.new, self.limit, self.gap = ScipModel, limit, gap

    def solve(self, model: Model, constant: float) -> dict:
        from pyscipopt import quicksum

        scip = self.new()
        scip.hideOutput()
        columns = {name: scip.addVar(name, vtype="B" if name in model.binaries else "C", lb=None if low == -math.inf else low,
                                     ub=None if high == math.inf else high) for name, (low, high) in model.bounds.items()}  # fmt: skip
        squares = []
        for (a, b), factor in model.products.items():
            if a != b:
                raise RuntimeError("products of different columns are not written for SCIP")
            square = scip.addVar(f"square_{a}", lb=0, ub=None)
            scip.addCons(columns[a] * columns[a] <= square)
            squares.append(factor * square)
        scip.setObjective(
            quicksum(squares) + quicksum(factor * columns[name] for name, factor in model.cost.items()) + constant, "minimize"
        )
        for terms, sense, rhs in model.rows.values():
            left = quicksum(factor * columns[name] for name, factor in terms.items())
            scip.addCons(left == rhs if sense == "=" else left <= rhs if sense == "<=" else left >= rhs)
        for key, value in {"limits/time": self.limit, "limits/gap": self.gap, "limits/absgap": 0.0, "numerics/feastol": FEASIBILITY["scip"],
                           "lp/threads": 1, "parallel/maxnthreads": 1}.items():  # fmt: skip
            scip.setParam(key, value)
        start = time.perf_counter()
        scip.optimize()
        wall = time.perf_counter() - start
        found = scip.getNSols() > 0
        best = scip.getBestSol() if found else None
        bound = scip.getDualbound()
        return {"wall_s": wall, "proven": scip.getStatus() in ("optimal", "gaplimit"), "said": scip.getStatus(), "nodes": scip.getNTotalNodes(),
                "bound": bound if abs(bound) < 1e20 else None,
                "values": {name: scip.getSolVal(best, column) for name, column in columns.items()} if found else None}  # fmt: skip


def condensed(model: Model) -> tuple[Model, float, dict]:
    """Without states and slacks, put in from the rows that define them: the model, the constant of its cost, {column: (terms, constant)}."""
    defined: dict[str, tuple[dict, float]] = {}

    def put_in(terms: dict, constant: float) -> tuple[dict, float]:
        out: dict[str, float] = {}
        for name, factor in terms.items():
            inner, rest = defined.get(name, ({name: 1.0}, 0.0))
            constant += factor * rest
            for other, weight in inner.items():
                out[other] = out.get(other, 0.0) + factor * weight
        return out, constant

    rows = {}
    for name, (terms, sense, rhs) in model.rows.items():
        kind = name.split("_")[0]
        letter = {"dynamics": "x", "slack": "s"}.get(kind)
        column = name.replace(kind, letter, 1) if letter else ""
        if column in terms and sense == "=":
            others = {other: -factor / terms[column] for other, factor in terms.items() if other != column}
            defined[column] = put_in(others, rhs / terms[column])
        else:
            rows[name] = (terms, sense, rhs)
    out = Model()
    for name, (terms, sense, rhs) in rows.items():
        inner, rest = put_in(terms, 0.0)
        out.rows[name] = (inner, sense, rhs - rest)
    for column, (terms, constant) in defined.items():  # its bounds are rows now
        for bound, sense in zip(model.bounds[column], (">=", "<=")):
            if math.isfinite(bound):
                out.rows[f"{column}{sense}"] = (terms, sense, bound - constant)
    out.cost, offset = put_in(model.cost, 0.0)
    for (a, b), factor in model.products.items():
        left, p = put_in({a: 1.0}, 0.0)
        right, q = put_in({b: 1.0}, 0.0)
        offset += factor * p * q
        for name, weight in left.items():
            out.cost[name] = out.cost.get(name, 0.0) + factor * q * weight
            for other, second in right.items():
                key = (min(name, other), max(name, other))
                out.products[key] = out.products.get(key, 0.0) + factor * weight * second
        for name, weight in right.items():
            out.cost[name] = out.cost.get(name, 0.0) + factor * p * weight
    out.bounds = {name: bounds for name, bounds in model.bounds.items() if name not in defined}
    out.binaries = model.binaries
    return out, offset, defined


class Gurobi:
    """The commercial solver in its free size."""

    def __init__(self, limit: float, threads: int):
        import gurobipy

        self.gurobi = gurobipy
        parameters = {
            "OutputFlag": 0,
            "Threads": threads,
            "TimeLimit": limit,
            "MIPGap": GAP,
            "MIPGapAbs": 0,
            "FeasibilityTol": FEASIBILITY["gurobi"],
            "IntFeasTol": 1e-9,
            "OptimalityTol": FEASIBILITY["gurobi"],
        }
        self.environment = gurobipy.Env(params=parameters)

    def solve(self, model: Model, constant: float) -> dict:
        defined: dict = {}
        if len(model.bounds) > FREE_COLUMNS:
            model, offset, defined = condensed(model)
            constant += offset
        if len(model.bounds) > FREE_COLUMNS:
            return {"said": "above the free size"}
        GRB = self.gurobi.GRB
        with self.gurobi.Model(env=self.environment) as program:
            columns = {name: program.addVar(lb=max(low, -GRB.INFINITY), ub=min(high, GRB.INFINITY), vtype=GRB.BINARY if name in model.binaries else GRB.CONTINUOUS)
                       for name, (low, high) in model.bounds.items()}  # fmt: skip
            cost = self.gurobi.QuadExpr(constant)
            cost.addTerms(list(model.products.values()), [columns[a] for a, _ in model.products], [columns[b] for _, b in model.products])
            cost += self.gurobi.LinExpr(list(model.cost.values()), [columns[name] for name in model.cost])
            program.setObjective(cost)
            senses = {"=": GRB.EQUAL, "<=": GRB.LESS_EQUAL, ">=": GRB.GREATER_EQUAL}
            for terms, sense, rhs in model.rows.values():
                program.addLConstr(self.gurobi.LinExpr(list(terms.values()), [columns[name] for name in terms]), senses[sense], rhs)
            start = time.perf_counter()
            program.optimize()
            wall = time.perf_counter() - start
            values = {name: column.X for name, column in columns.items()} if program.SolCount else None
            bound = program.ObjBound
            said = {GRB.OPTIMAL: "optimal", GRB.TIME_LIMIT: "time limit", GRB.INFEASIBLE: "infeasible"}.get(
                program.Status, f"status {program.Status}"
            )
            if values:
                values |= {
                    name: constant + sum(factor * values[c] for c, factor in terms.items()) for name, (terms, constant) in defined.items()
                }
            return {"wall_s": wall, "proven": program.Status == GRB.OPTIMAL, "said": said, "nodes": int(program.NodeCount),
                    "bound": bound if abs(bound) < 1e20 else None, "values": values}  # fmt: skip


def trajectory(values: dict[str, float], problem: dict) -> dict:
    """x, u, γ of all steps, from the columns."""
    steps, states, inputs, pairs = problem["N"], problem["A"]["rows"], problem["B"]["cols"], problem["C"]["cols"]
    return {"x": [problem["x0"], *([values[f"x_{k + 1}_{i}"] for i in range(states)] for k in range(steps))],
            "u": [[values[f"u_{k}_{i}"] for i in range(inputs)] for k in range(steps)],
            "gamma": [[values[f"gamma_{k + 1}_{i}"] for i in range(pairs)] for k in range(steps)]}  # fmt: skip


def main() -> None:
    who, limit, files = sys.argv[1], float(sys.argv[2]), [Path(word) for word in sys.argv[3:]]
    rows, absent = [], {}
    try:
        rival = Scip(limit, 1e-6 if who == "scip6" else GAP) if who.startswith("scip") else Gurobi(limit, int(who.removeprefix("gurobi")))
    except Exception as error:  # not installed, or without a licence
        absent[who], files = str(error), []
    for file in files:
        model, constant, fixed = tidy(read_lp(file.read_text()))
        try:
            found = {"proven": False, "wall_s": None, "nodes": None, "bound": None, "values": None} | rival.solve(model, constant)
        except Exception as error:
            found = {"proven": False, "wall_s": None, "nodes": None, "bound": None, "values": None, "said": str(error)}
        values = found.pop("values")
        row = {"name": file.stem, "who": who, **found, "cost": None}
        if values is not None:
            values |= fixed
            z = {"constant": 1.0} | values
            row["cost"] = Model.objective(read_lp(file.read_text()), z)
            answer = trajectory(values, json.loads(file.with_suffix(".json").read_text()))
            file.with_suffix(f".{who}.json").write_text(json.dumps(answer))
        rows.append(row)
    print(json.dumps({"rows": rows, "absent": absent}), flush=True)


if __name__ == "__main__":
    # What the solvers print themselves goes nowhere; only the last line of standard output is ours.
    kept = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    sys.stdout = os.fdopen(kept, "w")
    main()
