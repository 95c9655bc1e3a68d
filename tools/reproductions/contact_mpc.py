"""A disc that slides along walls, controlled by mixed-integer programs over a horizon ("Introduction to 2D frictional contact model")."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from scene_runs import SceneRun, deft_json

from .experiment import ROOT, Laboratory, claim, new_figure, picture, plain_ticks, save_figure, table

SCENES = ROOT / "scenes" / "contact_mpc"
PROBLEM = ROOT / "scenes" / "control" / "corner_n5.json"
GOAL = np.array([3.0, -5.0, 0.0, 0.0])
RADIUS, FRICTION, H = 0.6, 0.8, 0.1
NEAR, SLIDING, WEDGE = (-2, -4, 0, 0), (-1, -4.35, 0.6, -0.5), (-3.45, -4.3, -0.3, -0.4)
ONE_STEP = [
    ((-2, -4.4, 0.5, 0), (0, -1), (-1.958, -4.4, 0.42, 0), "slides"),
    ((-2, -4.35, 0.1, -0.9), (0.2, -0.3), (-2, -4.4, 0, -0.5), "sticks"),
]
# Optimal costs by start and horizon, found with two other solvers.
COSTS = {(NEAR, 1): 51.999740262, (NEAR, 3): 103.988098420, (NEAR, 5): 155.904711933, (NEAR, 10): 284.036637098, (NEAR, 20): 505.425910054,
         (SLIDING, 3): 64.897376337, (SLIDING, 5): 95.601064859, (SLIDING, 10): 168.580161653, (WEDGE, 5): 256.722439275}  # fmt: skip
STEPS = 200
SURFACES = {"bevel": (np.array([1, -1]) / np.sqrt(2), 0.0), "floor": (np.array([0.0, 1]), -5.0), "wall": (np.array([-1.0, 0]), -5.0)}
PARTS = (("bevel", 0, 6), ("floor", 6, 16), ("wall", 16, 20))  # of the path, by time [s]
KNOTS = np.array([[0, -1, -1.7070], [6, -3.793, -4.5], [16, 4.5, -4.5], [20, 4.5, -1.5]])  # the path of disc_path
INSIDE = SURFACES["floor"][1] + RADIUS - KNOTS[1, 2]  # of where the disc can be runs the path [m]
HORIZONS, SURFACE_COUNTS, LIMIT_S = (5, 10, 15, 20, 30, 40), (1, 2, 3, 4, 5), 10.0
EARLY, HIT, BRAKES = 60, 2, 50  # steps: by which costs are compared, of an impact, and in which the long horizon brakes


@dataclass
class Loop:
    """A closed loop. Arrays per step unless they say otherwise."""

    q: np.ndarray  # [T+1, 2]
    v: np.ndarray  # [T+1, 2]
    u: np.ndarray  # [T, 2]
    force: dict[str, np.ndarray]  # by surface, of it on the disc [T, 2], 0 where they do not touch [N]
    cost: np.ndarray  # of the plan
    seconds: np.ndarray  # of the whole period
    control: dict  # of the summary

    @property
    def spent(self) -> np.ndarray:
        """Cost of the steps so far: squared errors and ten times squared inputs."""
        x = np.hstack([self.q, self.v])[:-1] - GOAL
        return np.cumsum((x**2).sum(axis=1) + 10 * (self.u**2).sum(axis=1))

    def gap(self, surface: str) -> np.ndarray:
        """[T+1] [m]."""
        normal, offset = SURFACES[surface]
        return self.q @ normal - offset - RADIUS

    def touch(self, surface: str) -> int:
        """The first step that ends on it; −1: none."""
        on = np.flatnonzero(self.gap(surface)[1:] < 1e-7)
        return int(on[0]) if on.size else -1


@dataclass
class Measured:
    one_step: list[dict]  # per check: x, impulses (normal, friction) and gap of the floor
    costs: dict[tuple, dict]  # by start and horizon: what `deft solve` says
    loops: dict[int, Loop]  # by horizon
    path: Loop
    reference: np.ndarray  # of the path, [T+1, 2]
    growth: list[dict]


def solve(lab: Laboratory, limit: float | None = None, **fields) -> dict:
    """`deft solve` of the bundled problem with other fields."""
    file = lab.folder / "problem.json"
    file.write_text(json.dumps(json.loads(PROBLEM.read_text()) | fields))
    return deft_json(lab.deft, "solve", file, *(("--time-limit", limit) if limit else ()))


def one_steps(lab: Laboratory) -> list[dict]:
    """One step with the inputs held is a simulation."""
    found = []
    for x0, u, _, _ in ONE_STEP:
        said = solve(lab, N=1, x0=list(x0), u_min=list(u), u_max=list(u))
        gamma, x = said["solution"]["gamma"][0], said["solution"]["x"][1]
        found.append(
            {
                "status": said["status"],
                "x": x,
                "normal": gamma[1],
                "friction": gamma[5] - gamma[6],
                "gap": x[1] - SURFACES["floor"][1] - RADIUS,
            }
        )
    return found


def optimal_costs(lab: Laboratory) -> dict[tuple, dict]:
    return {(start, N): solve(lab, N=N, x0=list(start)) for start, N in COSTS}


def closed_loop(lab: Laboratory, scene: str, *options: str) -> Loop:
    file, folder = SCENES / f"{scene}.deft.yaml", lab.folder / f"loop-{scene}"
    run = SceneRun(
        scene,
        deft_json(lab.deft, "info", file),
        deft_json(lab.deft, "sim", file, "--controller", "mixed-integer", "--out", folder, *options),
        folder,
    )
    force = {name: np.nan_to_num(run.between("disc", name, "force_W"))[:, :2] for name in SURFACES}
    data = run.data
    return Loop(data["q"], data["v"], data["u"], force, data["mpc/cost"], data["mpc/time_s"], run.summary["control"])


def loops(lab: Laboratory, steps: int = STEPS) -> dict[int, Loop]:
    return {N: closed_loop(lab, scene, "--steps", str(steps)) for N, scene in ((5, "disc"), (20, "disc_long"))}


def reference(t: np.ndarray) -> np.ndarray:
    return np.stack([np.interp(t, KNOTS[:, 0], KNOTS[:, i]) for i in (1, 2)], axis=1)


def tracking(path: Loop, wanted: np.ndarray) -> list[dict]:
    """Per part of the path: share of the steps that touch the surface, its largest gap, and how far ahead or behind the disc is [m]."""
    t = H * np.arange(len(path.q))
    found = []
    for name, begin, end in PARTS:
        at = (t > begin + 1e-9) & (t <= end + 1e-9)
        normal = SURFACES[name][0]
        error = (path.q - wanted)[at]
        along = error @ np.array([-normal[1], normal[0]])
        found.append({"surface": name, "touching": float((path.gap(name)[at] < 1e-7).mean()), "gap": float(path.gap(name)[at].max()),
                      "along_median": float(np.median(np.abs(along))), "along_max": float(np.abs(along).max()),
                      "distance_median": float(np.median(np.linalg.norm(error, axis=1))), "distance_max": float(np.linalg.norm(error, axis=1).max())})  # fmt: skip
    return found


def grow(lab: Laboratory, horizons=HORIZONS, surface_counts=SURFACE_COUNTS) -> list[dict]:
    """The three starts by horizon between the note's surfaces, and at N = 10 by number of surfaces."""
    lines = []
    for surfaces, horizon in dict.fromkeys([(3, N) for N in horizons] + [(count, 10) for count in surface_counts]):
        rows = lab.program(
            "control_problems", "write", str(lab.folder), "--horizons", str(horizon), "--count", "3", "--surfaces", str(surfaces)
        )
        said = [deft_json(lab.deft, "solve", lab.folder / f"{row['name']}.json", "--time-limit", LIMIT_S) for row in rows]
        nodes, seconds = [s["solution"]["nodes"] for s in said], [s["time_s"] for s in said]
        gaps = [None if s["status"] == "Solved" else s["solution"]["gap"] for s in said]
        lines.append(
            {"surfaces": surfaces, "N": horizon, "pairs": 4 * surfaces * horizon, "nodes": nodes, "seconds": seconds, "gaps": gaps}
        )
    return lines


def measure(lab: Laboratory) -> Measured:
    path = closed_loop(lab, "disc_path")
    return Measured(one_steps(lab), optimal_costs(lab), loops(lab), path, reference(H * np.arange(len(path.q))), grow(lab))


def draw_loops(m: Measured) -> None:
    figure, axes = new_figure(2, 2)
    for axis, N in zip(axes[0], m.loops):
        loop = m.loops[N]
        t = H * np.arange(1, len(loop.u) + 1)
        axis.plot(t, loop.force["floor"][:, 1], label="contact force")
        axis.plot(t, loop.force["floor"][:, 0], label="friction force")
        axis.set(xlabel="t [s]", ylabel="force of the floor [N]", title=f"N = {N}")
        axis.legend()
    for N, loop in m.loops.items():
        t = H * np.arange(len(loop.u))
        axes[1, 0].plot(t, loop.cost, label=f"N = {N}")
        axes[1, 1].plot(t, 1e3 * loop.seconds, ".", markersize=3, label=f"N = {N}")
    axes[1, 0].set(xlabel="t [s]", ylabel="optimal cost of the plan", yscale="log")
    axes[1, 0].legend()
    axes[1, 1].set(xlabel="t [s]", ylabel="time of a period [ms]", yscale="log")
    axes[1, 1].set_ylim(top=2e4 * max(loop.seconds.max() for loop in m.loops.values()))
    axes[1, 1].legend(loc="upper right")
    save_figure(figure, "contact_mpc_loops")


def draw_paths(m: Measured) -> None:
    figure, axes = new_figure(2)
    axis = axes[0, 0]
    axis.plot([-4.4 + RADIUS * np.sqrt(2), -1], [-4.4, -1 - RADIUS * np.sqrt(2)], "0.6")
    axis.plot([-4.4 + RADIUS * np.sqrt(2), 4.4, 4.4], [-4.4, -4.4, -1], "0.6", label="where the centre can be")
    axis.plot(m.reference[:, 0], m.reference[:, 1], "k:", label="path")
    axis.plot(m.path.q[:, 0], m.path.q[:, 1], label="N = 10 on the path")
    for N, loop in m.loops.items():
        axis.plot(loop.q[:, 0], loop.q[:, 1], label=f"N = {N} to the goal")
    axis.plot(*GOAL[:2], "k+")
    axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
    axis.legend(loc="upper right", bbox_to_anchor=(0.93, 1))
    axis = axes[0, 1]
    t = H * np.arange(len(m.path.q))
    axis.plot(t, np.linalg.norm(m.path.q - m.reference, axis=1), "k", label="distance from the path")
    for name in SURFACES:
        axis.plot(t, m.path.gap(name), label=f"gap to the {name}")
    axis.set(xlabel="t [s]", ylabel="[m]", ylim=(-0.02, 0.9))
    axis.legend(loc="upper center", ncols=2)
    save_figure(figure, "contact_mpc_paths")


def draw_growth(m: Measured) -> None:
    figure, axes = new_figure(3)
    for axis, key, lines, label in ((axes[0, 0], "N", [g for g in m.growth if g["surfaces"] == 3], "N (3 surfaces)"),
                                    (axes[0, 1], "surfaces", sorted((g for g in m.growth if g["N"] == 10), key=lambda g: g["surfaces"]), "surfaces (N = 10)")):  # fmt: skip
        for k, color in enumerate(("tab:blue", "tab:orange", "tab:green")):
            x, y = [g[key] for g in lines], [g["seconds"][k] for g in lines]
            axis.plot(x, y, color=color, label=f"start {k + 1}")
            for proven, marker in ((True, "o"), (False, "x")):
                of = [i for i, g in enumerate(lines) if (g["gaps"][k] is None) == proven]
                axis.plot([x[i] for i in of], [y[i] for i in of], marker, color=color)
        axis.set(xlabel=label, ylabel="s (x: not proven)", yscale="log")
        axis.set_xticks([g[key] for g in lines])
    axes[0, 0].legend()
    axis = axes[0, 2]
    for surfaces in sorted({g["surfaces"] for g in m.growth}):
        rows = [g for g in m.growth if g["surfaces"] == surfaces]
        axis.loglog(
            [g["pairs"] for g in rows],
            [1e6 * sum(g["seconds"]) / sum(g["nodes"]) for g in rows],
            "o",
            label=f"{surfaces} surface{'s'[: surfaces > 1]}",
        )
    axis.set(xlabel="pairs", ylabel="µs per node")
    plain_ticks(axis.xaxis, (40, 80, 160, 320, 640))
    axis.legend()
    save_figure(figure, "contact_mpc_growth")


def draw(m: Measured) -> None:
    draw_loops(m)
    draw_paths(m)
    draw_growth(m)


def spans(flags: np.ndarray) -> list[list[int]]:
    """First and last step, counted from one, of every row of steps that are flagged."""
    edges = np.flatnonzero(np.diff([0, *np.asarray(flags, int), 0]))
    return [[int(begin) + 1, int(end)] for begin, end in zip(edges[::2], edges[1::2])]


def of_periods(loop: Loop) -> dict:
    counts = {key: loop.control[key] for key in ("proven", "periods", "nodes")}
    return {**counts, "s": {key: loop.control["time_s"][key] for key in ("p50", "p95", "max")}}


def of_loop(loop: Loop) -> dict:
    """What the page says of a disc that comes down on the floor; steps are counted from one."""
    touch, steps, force = loop.touch("floor"), len(loop.u), loop.force["floor"]
    begin = max(touch, 0)
    slid = begin + HIT  # the first step after the impact
    past = np.flatnonzero(loop.q[:, 0] > GOAL[0])
    return {
        "steps": steps,
        "touches": touch + 1 if touch >= 0 else None,
        "spent_early": loop.spent[EARLY - 1],
        "spent": loop.spent[-1],
        "largest_friction": (-force[:, 0]).max(),
        "impulse_of_friction": -H * force[:, 0].sum(),
        "end": [*loop.q[-1], *loop.v[-1]],
        "passes_goal": int(past[0]) if past.size else None,
        "first_input": np.linalg.norm(loop.u[0]),
        "hit": force[begin:slid, 1].max(),  # [N]
        "pushed_later": force[slid:, 1].max(initial=0),  # [N]
        "slows": (loop.v[min(slid, steps), 0] - loop.v[-1, 0]) / (H * max(1, steps - slid)),  # [m/s²]
        "presses": -loop.u[begin : begin + BRAKES, 1].mean(),  # [N]
        "brakes": -force[begin : begin + BRAKES, 0].mean(),  # [N]
        **of_periods(loop),
    }


def facts(m: Measured) -> dict:
    short, long = m.loops[5], m.loops[20]
    return {
        "one_step": [{key: done[key] for key in ("x", "normal", "friction")} | {"off": np.abs(np.subtract(done["x"], wanted)).max()}
                     for (_, _, wanted, _), done in zip(ONE_STEP, m.one_step)],
        "costs": [{"cost": said["solution"]["cost"], "status": said["status"], "gap": said["solution"]["gap"], "nodes": said["solution"]["nodes"],
                   "complementarity": said["residuals"]["absolute"]["complementarity"], "s": said["time_s"]} for said in m.costs.values()],
        "short": of_loop(short),
        "long": of_loop(long),
        "path": of_periods(m.path),
        "long_has_spent_less": spans(long.spent < short.spent),
        "long_plans_cheaper": spans(long.cost < short.cost),
        "parts": tracking(m.path, m.reference),
        "growth": sorted(m.growth, key=lambda g: (g["surfaces"] != 3, g["surfaces"], g["N"])),
    }  # fmt: skip


def numbers(values) -> str:
    return f"({', '.join(f'{round(v, 9) + 0.0:.6g}' for v in values)})"


def cell(value: float | None, form: str = ".2g") -> str:
    return "proven" if value is None else format(value, form)


def of_programs(facts: dict) -> str:
    """One step, and the costs."""
    steps = [[claim(motion, done["off"] < 1e-6), *map(numbers, (x0, u, done["x"])), f"{done['normal']:.3f}", f"{done['friction']:.3f}", f"{done['off']:.0e}"]
             for (x0, u, _, motion), done in zip(ONE_STEP, facts["one_step"])]  # fmt: skip
    costs = [[numbers(start), N, f"{wanted:.9f}", f"{said['cost']:.9f}", f"{abs(said['cost'] / wanted - 1):.0e}", said["status"], f"{said['gap']:.1e}",
              f"{said['complementarity']:.0e}", said["nodes"], 1e3 * said["s"]]
             for ((start, N), wanted), said in zip(COSTS.items(), facts["costs"])]  # fmt: skip
    return f"""
## One step

With the inputs held the program of one step is a simulation; the last column is the largest difference from a calculation by hand.

{table(["the disc", "x, y, velocities", "u", "after the step", "normal impulse [N s]", "friction impulse [N s]", "off"], steps)}

## Optimal costs

Against costs that other solvers had found before; SCIP and Gurobi run beside deft in `./run bench contact-mpc`:

{table(["start", "N", "known", "deft", "off, relative", "status", "gap", "complementarity", "nodes", "ms"], costs)}
"""


def of_horizons(facts: dict) -> str:
    """What the disc does with the short and with the long horizon."""
    short, long, less, cheaper = facts["short"], facts["long"], facts["long_has_spent_less"], facts["long_plans_cheaper"]
    stays = bool(less) and less[-1][1] == long["steps"]
    past, beside, harder = short["end"][0] - GOAL[0], abs(long["end"][0] - GOAL[0]), long["first_input"] / short["first_input"]
    hits, slides = short["hit"] > 5 * short["pushed_later"], 0 <= short["slows"] < 0.05
    more = long["impulse_of_friction"] > short["impulse_of_friction"] > 0
    steps = " and ".join(f"{begin} to {end}" for begin, end in cheaper)
    passes = short["passes_goal"] is not None and any(a[1] < short["passes_goal"] < b[0] for a, b in zip(cheaper, cheaper[1:]))
    return f"""- With N = 5 {claim("the disc drifts", short["first_input"] < 0.2)}: the cost of inputs outweighs what half a second of motion gains.
  {claim(f"It comes down on the floor in step {short['touches']}", short["touches"] is not None)} because the goal lies below it,
  {claim("hits it", hits)}, and {claim("slides on almost without braking", slides)}: {H * short["steps"]:g} s after the start it is {past:.2f} m
  {claim("past the goal", past > 0.005)}.
- With N = 20 it starts {harder:.0f} {claim("times as hard", harder > 2)}, {claim(f"touches in step {long['touches']}", long["touches"] is not None)} and then
  {claim("presses on the floor for friction to brake with", min(long["presses"], long["brakes"]) > 0.04)}: each newton of
  push buys {FRICTION:g} N of braking on top of what the input itself brakes. It ends {1e3 * beside:.0f} mm beside the goal. This is what the note says of
  its figures: {claim("the longer horizon makes more use of friction", more)} and {claim("costs less after the first steps", stays and less[-1][0] < 30)}.
- {claim(f"The long horizon has spent less from step {less[-1][0] if less else '–'} on", stays)}, and its best plan, four times as long,
  costs less than the short one's {claim(f"in steps {steps}; in between the disc of the short one passes the goal", passes)}."""


def of_loops(facts: dict) -> str:
    loops = {"N = 5": facts["short"], "N = 20": facts["long"]}
    ends = [[name, loop["touches"] or "none", loop["spent_early"], loop["spent"], loop["largest_friction"], loop["impulse_of_friction"],
             f"({', '.join(f'{round(x, 3) + 0.0:.3f}' for x in loop['end'])})"] for name, loop in loops.items()]  # fmt: skip
    periods = [[name, loop["proven"], loop["periods"], *(1e3 * loop["s"][key] for key in ("p50", "p95", "max")), loop["nodes"]]
               for name, loop in {**loops, "path, N = 10": facts["path"]}.items()]  # fmt: skip
    heads = ["", "touches the floor in step", f"cost of {EARLY} steps", f"cost of {facts['short']['steps']} steps", "largest friction [N]",
             "impulse of friction [N s]", "state at the end (x, y, velocities)"]  # fmt: skip
    return f"""
## The closed loop

{picture("contact_mpc_loops")}

The upper figures are the note's Fig. 2 and 3, the lower left one its Fig. 4 (cost of the best plan of each period; a plan of N = 20 has more terms).

{table(heads, ends)}

{of_horizons(facts)}

{table(["", "proven optimal", "periods", "p50 [ms]", "p95 [ms]", "max [ms]", "nodes of all periods"], periods)}

{in_time(facts)}
"""


def in_time(facts: dict) -> str:
    """Whether periods are shorter than the step that they command."""
    longest = {f"the {loop} horizon" if loop != "path" else "the path": facts[loop]["s"]["max"] for loop in ("short", "long", "path")}
    late = [f"{name} ({1e3 * seconds:.0f} ms)" for name, seconds in longest.items() if seconds > H]
    return f"A step lasts {1e3 * H:g} ms; " + (
        f"the longest period is longer than that in: {', '.join(late)}." if late else "every period is shorter."
    )


def unproven(facts: dict) -> str:
    """Which programs of the growth were not proven optimal within the limit."""
    left = [(g["surfaces"], g["N"], gap) for g in facts["growth"] for gap in g["gaps"] if gap is not None]
    if not left:
        return "All were proven optimal within the limit."
    named = ", ".join(f"N = {N} with {surfaces} surfaces ({100 * gap:.2g} %)" for surfaces, N, gap in left)
    return f"Not proven optimal within the limit, with the gap that was left: {named}. So hard starts are beyond it, while all periods of the loops above were proven."


def of_path_and_growth(facts: dict) -> str:
    distances = ("along_median", "along_max", "distance_median", "distance_max")
    parts = [
        [p["surface"], f"{100 * p['touching']:.0f} %", f"{max(p['gap'], 0):.4f}", *(p[key] for key in distances)] for p in facts["parts"]
    ]
    grown = [[g["surfaces"], g["N"], g["pairs"], ", ".join(map(str, g["nodes"])), ", ".join(f"{1e3 * s:.3g}" for s in g["seconds"]),
              ", ".join(map(cell, g["gaps"])), 1e6 * sum(g["seconds"]) / sum(g["nodes"])] for g in facts["growth"]]  # fmt: skip
    harder = all(g["nodes"][2] > max(g["nodes"][:2]) for g in facts["growth"])
    return f"""
## Along bevel, floor and wall

{picture("contact_mpc_paths")}

The path runs {INSIDE:g} m inside of where the disc can be, so that {INSIDE:g} m of distance is the least on a surface.
Along: how far the disc is ahead or behind.

{table(["part", "steps that touch", "largest gap [m]", "along, median [m]", "along, largest [m]", "distance, median [m]", "distance, largest [m]"], parts)}

## Growth

{picture("contact_mpc_growth")}

The three starts of the table above, to a gap of 1e-7 or {LIMIT_S:g} s. Between three surfaces by horizon, and at N = 10 by the number of surfaces:
floor; and bevel; and wall; and a ceiling; and a wall on the left, which leave a narrow space.

{table(["surfaces", "N", "pairs", "nodes", "ms", "gap where not proven", "µs per node"], grown)}

{unproven(facts)}
The third start lies in the wedge of bevel and floor, {claim("which many plans can use", harder)}. SCIP and Gurobi beside deft: `./run bench contact-mpc`.
"""


def text(facts: dict) -> str:
    proven = all(said["status"] == "Solved" for said in facts["costs"]) and all(
        facts[loop]["proven"] == facts[loop]["periods"] for loop in ("short", "long", "path")
    )
    return f"""
# A disc between walls: contact control {claim("to proven optimality", proven)}

Source: *Introduction to 2D frictional contact model: contact MPC as a mixed-integer quadratic program*, Fig. 1–4. Scenes:
[`scenes/contact_mpc`](../../scenes/contact_mpc), problems: [`scenes/control`](../../scenes/control). Written by `./run reproduce contact_mpc`.
**Theirs**: a disc of {RADIUS:g} m and 1 kg without gravity between a bevel y = x, a floor y = −5 m and a wall x = 5 m, μ = {FRICTION:g}, h = {H:g} s, |q| ≤ 5,
|v| ≤ 1, |u| ≤ 1; start (−2, −4), goal (3, −5) m, which the floor keeps out of reach; Q = Q_f = I, R = 10 I; N = 5 and 20. **Ours**: all numbers, the other
starts, and the path, with Q = diag(10, 10, 0.1, 0.1), R = 0.1 I and N = 10.
Times are those of the machine that wrote this page, one thread, with whatever else it did.
{of_programs(facts)}{of_loops(facts)}{of_path_and_growth(facts)}"""
