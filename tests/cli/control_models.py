"""Exported control problems read back: LP and MPS files by parsers of their own, and the columns of a trajectory."""

import re

import numpy as np

INF = float("inf")


class Model:
    """min c·z + Σ q_ij z_i z_j (i ≤ j), rows {name: (terms, sense, rhs)}, indicators [(binary, value, column)]."""

    def __init__(self):
        self.cost, self.products, self.rows, self.bounds, self.binaries, self.indicators = {}, {}, {}, {}, set(), []

    def objective(self, z):
        return sum(c * z[n] for n, c in self.cost.items()) + sum(q * z[a] * z[b] for (a, b), q in self.products.items())

    def violations(self, z):
        """Names of what z breaks by more than 1e-7."""
        broken = [name for name, (low, high) in self.bounds.items() if not low - 1e-7 <= z[name] <= high + 1e-7]
        for name, (terms, sense, rhs) in self.rows.items():
            excess = sum(factor * z[column] for column, factor in terms.items()) - rhs
            if (sense != "<=" and excess < -1e-7) or (sense != ">=" and excess > 1e-7):
                broken.append(name)
        return broken + [column for binary, value, column in self.indicators if z[binary] == value and z[column] > 1e-7]


def terms_of(text):
    out = {}
    for sign, factor, name in re.findall(r"([+-])\s+(\S+)\s+([A-Za-z]\w*)", text):
        assert name not in out
        out[name] = float(sign + factor)
    return out


def fields(pattern, text):
    """The groups of a pattern that the whole text fits."""
    match = re.fullmatch(pattern, text)
    assert match, text
    return match.groups()


def read_lp(text):
    model = Model()
    head, rest = re.sub(r"\\.*", "", text).split("Subject To")
    rows, rest = rest.split("Bounds")
    bounds, rest = rest.split("Binaries")
    linear, _, quadratic = head.partition("[")
    model.cost = terms_of(linear.split("obj:")[1])
    for sign, factor, a, square, b in re.findall(r"([+-]?)\s*([\d.e+-]+)\s+([a-z]\w*)\s*(?:(\^2)|\* (\w+))", quadratic.split("]")[0]):
        model.products[a, a if square else b] = float((sign or "+") + factor) / 2
    for name, body in re.findall(r"(\w+):((?:(?!\w+:)[\s\S])*)", rows):
        if "->" in body:
            binary, value, column = fields(r"\s*(\w+) = ([01]) -> (\w+) <= 0\s*", body)
            model.indicators.append((binary, int(value), column))
            continue
        left, sense, right = fields(r"([\s\S]*?)\s(<=|>=|=)\s+(\S+)\s*", body)
        model.rows[name] = (terms_of(left), sense, float(right))
    for line in bounds.strip().splitlines():
        words = line.split()
        model.bounds[words[0] if words[1] == "free" else words[2]] = (
            (-INF, INF) if words[1] == "free" else (float(words[0]), float(words[4]))
        )
    model.binaries = set(rest.split("End")[0].split())
    model.bounds |= dict.fromkeys(model.binaries, (0, 1))
    return model


def read_mps(text):
    model, section, integer = Model(), "", False
    senses = {"E": "=", "L": "<=", "G": ">="}
    for line in text.splitlines():
        words = line.split()
        if not line.startswith(" "):
            section = words[0]
        elif section == "ROWS" and words[0] != "N":
            model.rows[words[1]] = ({}, senses[words[0]], 0.0)
        elif section == "COLUMNS" and "'MARKER'" in words:
            integer = words[-1] == "'INTORG'"
        elif section == "COLUMNS":
            column, row, value = words[0], words[1], float(words[2])
            model.bounds.setdefault(column, (0, INF))
            if integer:
                model.binaries.add(column)
            if row == "obj":
                model.cost[column] = value
            else:
                model.rows[row][0][column] = value
        elif section == "RHS":
            model.rows[words[1]] = (*model.rows[words[1]][:2], float(words[2]))
        elif section == "BOUNDS":
            low, high = model.bounds[words[2]]
            value = float(words[3]) if len(words) > 3 else 0
            model.bounds[words[2]] = {
                "BV": (0, 1),
                "FR": (-INF, INF),
                "MI": (-INF, high),
                "LO": (value, high),
                "UP": (low, value),
                "FX": (value, value),
            }[words[0]]
        elif section == "QUADOBJ":
            model.products[words[0], words[1]] = float(words[2]) / (2 if words[0] == words[1] else 1)
    return model


def dense(matrix):
    if "data" in matrix:
        return np.array(matrix["data"], float).reshape(matrix["rows"], matrix["cols"])
    out = np.zeros((matrix["rows"], matrix["cols"]))
    for i, j, value in matrix["triplets"]:
        out[i, j] += value
    return out


class Problem:
    """A problem file in numpy."""

    def __init__(self, document):
        self.A, self.B, self.C, self.D, self.E, self.Q, self.R, self.Qf = (
            dense(document[k]) for k in ("A", "B", "C", "D", "E", "Q", "R", "Qf")
        )
        (self.nx, self.nu), self.ng, self.N = self.B.shape, self.C.shape[1], document["N"]
        self.D0 = dense(document["D0"]) if "D0" in document else np.zeros((self.ng, self.nx))
        self.H = dense(document["H"]) if "H" in document else np.zeros((self.ng, self.nu))
        self.F = np.array(document.get("F", np.zeros(self.nx)), float)
        self.alpha, self.x0 = np.array(document["alpha"], float), np.array(document["x0"], float)
        self.goal = np.broadcast_to(np.array(document["x_goal"], float), (self.N + 1, self.nx))

        def bounds(key, none, *shape):
            return np.broadcast_to(np.array(document.get(key, np.full(shape[-1:], none)), float), shape)

        self.x_min, self.x_max = bounds("x_min", -INF, self.nx), bounds("x_max", INF, self.nx)
        self.u_min, self.u_max = bounds("u_min", -INF, self.N, self.nu), bounds("u_max", INF, self.N, self.nu)
        self.gamma_max, self.price = bounds("gamma_max", INF, self.ng), bounds("x_price", INF, self.nx)

    def slack(self, x, following, u, gamma):
        return self.D0 @ x + self.D @ following + self.E @ gamma + self.H @ u + self.alpha

    def step(self, x, u):
        """The solutions (γ, x⁺) of one step, by trying all modes."""
        free = self.A @ x + self.B @ u + self.F
        M, q = self.D @ self.C + self.E, self.D0 @ x + self.D @ free + self.H @ u + self.alpha
        for mode in range(1 << self.ng):
            on = [i for i in range(self.ng) if mode >> i & 1]
            gamma = np.zeros(self.ng)
            if on:
                gamma[on] = np.linalg.lstsq(M[np.ix_(on, on)], -q[on], rcond=None)[0]
            slack = M @ gamma + q
            if gamma.min(initial=0) >= -1e-9 and slack.min(initial=0) >= -1e-9 and np.abs(slack[on]).max(initial=0) <= 1e-9:
                yield gamma, free + self.C @ gamma

    def cost(self, x, u):
        """Of a trajectory, soft bounds included."""
        total = sum(u[k] @ self.R @ u[k] for k in range(self.N))
        for k in range(self.N + 1):
            e = x[k] - self.goal[k]
            total += e @ (self.Q if k < self.N else self.Qf) @ e
            if k > 0:
                by = np.maximum(0, np.maximum(self.x_min - x[k], x[k] - self.x_max))
                total += sum(p * b for p, b in zip(self.price, by, strict=True) if p < INF)
        return total

    def columns(self, model, x, u, gamma):
        """A trajectory as the columns of an exported model; binaries that its sides ask for."""
        z = {"constant": 1.0}
        for k in range(self.N):
            slack = self.slack(x[k], x[k + 1], u[k], gamma[k])
            z |= {f"x_{k + 1}_{i}": v for i, v in enumerate(x[k + 1])} | {f"u_{k}_{i}": v for i, v in enumerate(u[k])}
            z |= {f"gamma_{k + 1}_{i}": v for i, v in enumerate(gamma[k])} | {f"s_{k + 1}_{i}": v for i, v in enumerate(slack)}
            z |= {f"b_{k + 1}_{i}": int(gamma[k][i] > 1e-9) for i in range(self.ng) if f"b_{k + 1}_{i}" in model.binaries}
            by = np.maximum(0, np.maximum(self.x_min - x[k + 1], x[k + 1] - self.x_max))
            z |= {f"soft_{k + 1}_{i}": by[i] for i in range(self.nx) if f"soft_{k + 1}_{i}" in model.bounds}
        return z
