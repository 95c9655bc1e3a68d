"""The page of patch contact: every figure of the source redrawn, and the tables."""

from __future__ import annotations

import itertools

import numpy as np

from . import patch_contact as measured
from . import patch_manipulation as manipulation
from .experiment import claim, new_figure, picture, save_figure, table
from .patch_contact import measure
from .patch_runs import PatchRun

__all__ = ["draw", "facts", "measure", "text"]

SNAPSHOTS_S = (0.01, 0.51, 1.31, 1.81, 2.21, 3.21, 4.01, 5.0)
COLOURS = {"deft": "tab:blue", "ODE": "tab:red", "Bullet": "tab:orange", "MuJoCo": "tab:green"}
ALONG = np.array([0.8, 0.6])  # the direction in which the cube slides
AT_S = (1, 2, 3, 4)  # when the errors of the sliding cube are compared
BAR_US = 200  # of the mean of a scene's steps
TIPS_N = 4 * measured.GRAVITY * 0.15 / 0.45  # F · 0.45 m = 4 kg · g · 0.15 m
KINDS = {"point": "corner", "line": "edge", "surface": "face", "flies": "flight"}  # of the contact of a cube
TUMBLES = ["point", "line", "flies", "line", "surface"]  # how the page says that it tumbles


def colour_of(who: str) -> str:
    return COLOURS.get(who.split()[0], "tab:gray")


def draw_slides(m: measured.Measured) -> None:
    run, (path, _, _) = m.slides, measured.closed_form(len(m.slides.point))
    t, exact = run.t, path[:, None] * ALONG
    figure, axes = new_figure(2, 2)
    axis = axes[0, 0]
    for i, name in enumerate("xy"):
        axis.plot(t[1:], run.point[:, i], label=f"$a_{name}$")
        axis.plot(t, run.position[:, i], ":", color=f"C{i}", label=f"$q_{name}$")
    axis.set(xlabel="t [s]", ylabel="[m]", title="contact point and centre (Fig. 6b)")
    axis.legend()
    axis = axes[0, 1]
    for i, name in enumerate("xy"):
        axis.plot(t[1:], run.point[:, i] - run.position[1:, i], label=f"$a_{name} - q_{name}$")
    axis.set(xlabel="t [s]", ylabel="[m]", title="the point ahead of the centre")
    axis.legend()
    axis = axes[1, 0]
    axis.plot(exact[:, 0], exact[:, 1], "k", linewidth=3, alpha=0.3, label="closed form")
    axis.plot(run.position[:, 0], run.position[:, 1], "--", color=COLOURS["deft"], label="deft")
    for who, row in measured.rivals().items():
        p = np.array(row["position"])
        axis.plot(p[:, 0], p[:, 1], color=colour_of(who), label=who)
    axis.set(xlabel="$q_x$ [m]", ylabel="$q_y$ [m]", title="paths (Fig. 6c)")
    axis.legend()
    axis = axes[1, 1]
    for who, p in [("deft", run.position[1:]), *((who, np.array(row["position"])) for who, row in measured.rivals().items())]:
        error = 100 * np.abs(p[:, :2] - exact[1 : 1 + len(p)]) / exact[1 : 1 + len(p)]
        axis.semilogy(t[1 : 1 + len(p)], np.maximum(error.max(axis=1), 1e-16), color=colour_of(who), label=who)
    axis.set(xlabel="t [s]", ylabel="larger error of $q_x$, $q_y$ [%]", title="error against the closed form (Fig. 6d)", ylim=(1e-14, 1e3))
    axis.legend(ncols=2)
    save_figure(figure, "patch_contact_slides")


def draw_rolls(m: measured.Measured) -> None:
    L, D = measured.along_and_across(m.rolls)
    at = m.rolls.t[1:] <= 2
    figure, axes = new_figure(3)
    axes[0, 0].plot(m.rolls.t[1:][at], L[at])
    axes[0, 0].set(xlabel="t [s]", ylabel="L [m]", title="point along the contact line (Fig. 7b)")
    axes[0, 1].plot(m.rolls.t[1:][at], D[at])
    axes[0, 1].set(xlabel="t [s]", ylabel="D [m]", title="point across it (Fig. 7c)")
    axis = axes[0, 2]
    axis.plot(m.rolls.position[:, 0], m.rolls.position[:, 1])
    axis.set(xlabel="$q_x$ [m]", ylabel="$q_y$ [m]", title="path of the centre, 10 s", aspect="equal")
    save_figure(figure, "patch_contact_rolls")


def draw_tumbles(m: measured.Measured) -> None:
    run = m.tumbles
    t = run.t[1:]
    figure, axes = new_figure(3, 2)
    axis = axes[0, 0]
    for i, name in enumerate("tor"):
        axis.plot(t, run.slip[:, i], label=f"$v_{name}$")
    axis.set(xlabel="t [s]", ylabel="[m/s], [rad/s]", title="slip at the point, and N (Fig. 8a)")
    axis.legend(loc="upper left")
    for k, axis in enumerate((axes[0, 0], axes[0, 1], axes[0, 2])):
        other = axis.twinx()
        other.step(t, run.facets, "k", linewidth=0.7, where="mid")
        other.set(ylim=(-0.1, 6), yticks=(0, 1, 2, 3))
        other.grid(False)
        other.spines["right"].set_visible(True)
        if k == 2:
            other.set_ylabel("N: faces of the cube at the point")
    for axis, i, name in ((axes[0, 1], 0, "x"), (axes[0, 2], 1, "y")):
        before = t < 1.8  # the push that makes it slide away
        axis.plot(t[before], run.point[before, i])
        axis.set(xlim=(-0.05, 1.85))
        axis.set(xlabel="t [s]", ylabel=f"$a_{name}$ [m]", title=f"$a_{name}$ and N (Fig. 8{'bc'[i]})")
    axis = axes[1, 0]
    axis.semilogy(t, np.where(run.impulse[:, 0] > 0, run.impulse[:, 0] / run.world.h, np.nan), ".", markersize=3)
    axis.axhline(run.world.mass * run.world.gravity, color="k", linewidth=0.6)
    axis.set(xlabel="t [s]", ylabel="[N]", title="normal force (line: weight)")
    inside = np.einsum("kji,kj->ki", run.axes[1:], run.point - run.position[1:])
    axis = axes[1, 1]
    for i, name in enumerate("xyz"):
        axis.plot(t, inside[:, i], ".", markersize=2, label=f"{name} of the cube")
    axis.set(xlabel="t [s]", ylabel="[m]", title="the point in the cube's frame")
    axis.legend()
    # The face that ends below: its normal is the body's axis that points down at the end.
    down = run.axes[-1].T @ np.array([0, 0, -1])
    face = int(np.argmax(np.abs(down)))
    first, second = [i for i in range(3) if i != face]
    on = np.abs(inside[:, face] - 0.5 * np.sign(down[face])) < 1e-6
    axis = axes[1, 2]
    axis.plot([-0.5, 0.5, 0.5, -0.5, -0.5], [-0.5, -0.5, 0.5, 0.5, -0.5], "k", linewidth=0.8)
    _, seen = np.unique(inside[on].round(3), axis=0, return_index=True)
    points = axis.scatter(inside[on][seen, first], inside[on][seen, second], c=t[on][seen], s=8, cmap="viridis")
    figure.colorbar(points, ax=axis, label="t [s]")
    axis.set(
        xlabel=f"{'xyz'[first]} of the cube [m]",
        ylabel=f"{'xyz'[second]} [m]",
        title="its trail on the face that ends below",
        aspect="equal",
    )
    save_figure(figure, "patch_contact_tumbles")


def wireframe(axis, x, R, shape, colour) -> None:
    """A cylinder as its two rims and some side lines."""
    angle = np.linspace(0, 2 * np.pi, 49)
    for z in (-0.5 * shape.length, 0.5 * shape.length):
        rim = x + np.column_stack([shape.radius_m * np.cos(angle), shape.radius_m * np.sin(angle), np.full_like(angle, z)]) @ R.T
        axis.plot(*rim.T, color=colour, linewidth=1)
    for a in angle[::6]:
        line = (
            x
            + np.array([[shape.radius_m * np.cos(a), shape.radius_m * np.sin(a), z] for z in (-0.5 * shape.length, 0.5 * shape.length)])
            @ R.T
        )
        axis.plot(*line.T, color=colour, linewidth=0.5)


def draw_snapshots(m: measured.Measured) -> None:
    run = m.manipulated
    figure, axes = new_figure(4, 2)
    for axis, t in zip(axes.ravel(), SNAPSHOTS_S):
        where = axis.get_subplotspec()
        axis.remove()
        axis = figure.add_subplot(where, projection="3d")
        k = round(t / run.world.h)
        wireframe(axis, run.position[k], run.axes[k], run.world.shape, "tab:blue")
        for (centre, size), colour in zip(manipulation.OBSTACLES.values(), ("tab:green", "tab:brown")):
            axis.bar3d(centre[0] - size[0] / 2, centre[1] - size[1] / 2, 0, *size, color=colour, alpha=0.25)
        axis.plot(*run.position[: k + 1].T * np.array([[1], [1], [0]]), "k:", linewidth=0.8)
        if not np.isnan(run.point[k - 1, 0]):
            axis.plot(*run.point[k - 1], "r.", markersize=6)
        phase = [name for name, begin in manipulation.PHASES.items() if begin <= t + 1e-9][-1]
        axis.set(xlim=(-0.2, 1.1), ylim=(-0.65, 0.65), zlim=(0, 0.5), title=f"t = {t:g} s: {phase}")
        axis.set_box_aspect((1.3, 1.3, 0.5))
        axis.set_xticks([0, 0.5, 1])
        axis.set_yticks([-0.5, 0, 0.5])
        axis.set_zticks([0, 0.3])
        axis.view_init(32, -125)
    save_figure(figure, "patch_contact_snapshots")


def shade_phases(axis) -> None:
    times = [*manipulation.PHASES.values(), manipulation.STEPS * manipulation.H]
    for i, (begin, end) in enumerate(zip(times[:-1], times[1:])):
        axis.axvspan(begin, end, color="k", alpha=0.05 * (i % 2), linewidth=0)
        axis.text(0.5 * (begin + end), 1.0, f"T{i + 1}", transform=axis.get_xaxis_transform(), ha="center", va="top", fontsize=7)


def draw_manipulated(m: measured.Measured) -> None:
    run = m.manipulated
    t, h = run.t, run.world.h
    figure, axes = new_figure(3)
    applied = np.array([np.concatenate(run.applied(k, run.state(k))) for k in range(len(run.point))])
    for i, name in enumerate(("p_{x\\tau}", "p_{y\\tau}", "p_{z\\tau}")):
        axes[0, 0].step(t[:-1], applied[:, 3 + i], where="post", label=f"${name}$")
    axes[0, 0].set(xlabel="t [s]", ylabel="[N m s] per step", title="applied impulses (Fig. 10a; $p_x = p_y = p_z = 0$)")
    axes[0, 0].legend(loc="lower left", ncols=3)
    down = measured.landings(run)
    for axis, y, label, title in ((axes[0, 1], run.nu[:, 5], "$v_z$ [m/s]", "vertical velocity (Fig. 10b, top; dots: landings)"),
                                  (axes[0, 2], run.position[:, 2], "$q_z$ [m]", "height (Fig. 10b, bottom; lines: lying, standing)")):  # fmt: skip
        axis.plot(t, y)
        axis.plot([(k + 2) * h for k in down], [y[k + 2] for k in down], "r.")
        axis.set(xlabel="t [s]", ylabel=label, title=title)
    for height, style in ((measured.LYING, ":"), (measured.STANDING, "--")):
        axes[0, 2].axhline(height, color="k", linewidth=0.7, linestyle=style)
    for axis in axes[0]:
        shade_phases(axis)
    save_figure(figure, "patch_contact_manipulated")


def draw_others(m: measured.Measured) -> None:
    figure, axes = new_figure(3)
    axis = axes[0, 0]
    for h, run in m.disks.items():
        axis.plot(run.t, np.degrees(measured.tilt(run)), label=f"h = {1e3 * h:g} ms")
    t = run.t
    axis.plot(t, np.degrees(measured.disk_law(t, measured.tilt(run)[0])), "k:", label="law")
    axis.set(xlabel="t [s]", ylabel="tilt α [°]", title="Euler's disk")
    axis.legend()
    axis = axes[0, 1]
    axis.plot(run.point[:, 0], run.point[:, 1], linewidth=0.4)
    axis.set(xlabel="x [m]", ylabel="y [m]", title="trail of its contact point", aspect="equal")
    axis, stack = axes[0, 2], m.stack
    assert stack is not None
    for (a, b), name in ((("lower", "ground"), "on the ground"), (("upper", "lower"), "between the boxes")):
        axis.plot(stack.t[1:], stack.between(a, b, "point_W")[:, 0] - stack.position("lower")[1:, 0], label=name)
    axis.set(
        xlabel="t [s]", ylabel="x from the lower box's centre [m]", title="stack: where the boxes press", xlim=(0, 1), ylim=(-0.02, 0.18)
    )
    axis.legend(loc="upper left")
    save_figure(figure, "patch_contact_others")


def scenarios(m: measured.Measured) -> dict[str, PatchRun]:
    return {"cube slides": m.slides, "cylinder rolls": m.rolls, "cube tumbles": m.tumbles, "cylinder manipulation": m.manipulated}


def draw_times(m: measured.Measured) -> None:
    figure, axes = new_figure(2)
    for name, run in scenarios(m).items():
        us = np.sort(run.run.data["steps/step_us"])
        axes[0, 0].semilogx(us, np.arange(1, len(us) + 1) / len(us), label=name)
        counts = np.bincount(run.run.data["steps/iterations"].astype(int)) / len(us)
        axes[0, 1].plot(np.arange(len(counts)), counts, ".-", label=name)
    axes[0, 0].set(xlabel="µs per step", ylabel="share of steps that take no more")
    axes[0, 1].set(xlabel="iterations of the solver", ylabel="share of steps")
    axes[0, 0].legend()
    save_figure(figure, "patch_contact_times")


def draw(m: measured.Measured) -> None:
    for figure in (draw_slides, draw_rolls, draw_tumbles, draw_snapshots, draw_manipulated, draw_others, draw_times):
        figure(m)


def errors_of(position: np.ndarray, turn: np.ndarray) -> dict:
    """Of the sliding cube's states after each step against the closed form, whoever simulates it."""
    path = measured.closed_form(len(position))[0][1:, None] * ALONG
    at = [round(t / measured.SLIDES.h) - 1 for t in AT_S]
    return {
        "steps": len(position),
        "position": [np.abs(position[k, :2] - path[k]).max() for k in at],
        "height": np.abs(position[:, 2] - 0.5).max(),
        "turn": np.abs(turn).max(),
    }


def of_rolls(run: PatchRun) -> dict:
    """How far the point is from the middle of the contact line [m], in steps that turn the line and in those that do not."""
    L, turns = np.abs(measured.along_and_across(run)[0]), np.abs(run.nu[1:, 2]) > 1e-6
    return {"turning": L[turns].max(initial=0), "straight": L[~turns].max(initial=0)}


def of_tumbles(run: PatchRun) -> dict:
    """The kinds of contact in their order, and how far the point, seen from the centre, moves from one step to the next [m]: the least where the kind
    changes, the most where it does not."""
    moves = np.linalg.norm(np.diff(run.point - run.position[1:], axis=0), axis=1)  # NaN where it flies
    changes = np.array([a != b for a, b in zip(run.kinds, run.kinds[1:])])
    touches = ~np.isnan(moves)
    return {
        "kinds": [kind for kind, _ in itertools.groupby(run.kinds)],
        "jumps": [float(min(moves[touches & changes], default=0)), float(max(moves[touches & ~changes], default=0))],
    }


def times_of(run: PatchRun) -> list:
    us, iterations = run.run.data["steps/step_us"], run.run.data["steps/iterations"]
    return [len(run.point), float(np.mean(us)), float(np.median(us)), float(np.quantile(us, 0.95)), float(np.max(us)), float(iterations.mean()),
            int(iterations.max()), float(run.run.data["steps/residual"].max())]  # fmt: skip


def facts(m: measured.Measured) -> dict:
    y, h = m.manipulated.position[:, 1], m.manipulated.world.h
    return {
        "checks": [[c.scene, c.what, c.wanted, c.found, c.off if np.isfinite(c.off) else None, c.tolerance] for c in m.checks],
        "slides": errors_of(m.slides.position[1:], 2 * np.arctan2(m.slides.quaternion[:, 3], m.slides.quaternion[:, 0])),
        "rolls": of_rolls(m.rolls),
        "tumbles": of_tumbles(m.tumbles),
        "pivots": [float(y[round(t / h)]) for t in (manipulation.PIVOT[0], manipulation.ON[0])],  # y of the centre, before and after [m]
        "disks": [[h, measured.law_error(run)] for h, run in m.disks.items()],  # step length [s], error of the tilt [rad]
        "times": [[name, *times_of(run)] for name, run in scenarios(m).items()],
    }


def passed(check: list) -> bool:
    off, tolerance = check[4:]
    return off is not None and off <= tolerance


def passes(facts: dict, scene: str, *begins: str) -> bool:
    """Whether a scene has numbers whose names begin so, for each of `begins`, and they all pass."""
    of = {begin: [passed(c) for c in facts["checks"] if c[0] == scene and c[1].startswith(begin)] for begin in begins}
    return all(found and all(found) for found in of.values())


def of_numbers(facts: dict) -> str:
    checks = facts["checks"]
    failed = "".join(f"; {c[0]}: {c[1]}: wanted {c[2]}, found {c[3]}" for c in checks if not passed(c))
    verdict = claim(f"{sum(map(passed, checks))} of {len(checks)} pass{failed}", bool(checks) and all(map(passed, checks)))
    rows = [[scene, what.replace("|", "\\|"), wanted, found, f"{off:.0e}" if off else "0", f"{tolerance:g}", "pass"]
            for scene, what, wanted, found, off, tolerance in checks]  # fmt: skip
    return f"""
## Numbers

{verdict}.

{table(["scene", "what", "wanted", "deft", "off", "tolerance", ""], rows)}
"""


def box_friction(rivals: dict) -> str:
    """What ODE does, if it was recorded."""
    if "ODE" not in rivals:
        return ""
    velocity = np.diff(np.array(rivals["ODE"]["position"])[:, :2], axis=0) / measured.SLIDES.h
    x, y = (np.flatnonzero(np.abs(v) > 1e-4)[-1] for v in velocity.T)
    turned = np.arctan2(*velocity[0][::-1]) - np.arctan2(*velocity[x][::-1])
    return f"""
- ODE's friction is a box along two axes of its choice (`dContactApprox1`), so {claim("the slower component stops first", y < x)} and
  {claim("the direction of sliding changes", abs(turned) > 0.1)}."""


def of_slides(facts: dict) -> str:
    rivals, mu = measured.rivals(), measured.SLIDES.mu
    rows = [("deft", facts["slides"]), *((who, errors_of(np.array(row["position"]), np.array(row["turn"]))) for who, row in rivals.items())]
    errors = [[who, *(f"{x:.1e}" for x in (*row["position"], row["height"], row["turn"]))] for who, row in rows]
    missing = sorted({"ODE", "Bullet", "MuJoCo"} - {who.split()[0] for who in rivals})
    absent = f" Not recorded: {', '.join(missing)}." if missing else ""
    stops = ALONG[0] * (measured.closed_form(facts["slides"]["steps"])[0][-1] - 25 / (2 * mu * measured.GRAVITY))
    ahead = passes(facts, "cube slides", "point ahead of the centre while it slides")
    below = passes(facts, "cube slides", "… after it")
    return f"""
## A cube slides

{picture("patch_contact_slides")}

While it slides {claim(f"the point is μ z = {mu * measured.CUBE.size[2] / 2:g} m ahead of the centre", ahead)}, so that the normal force
balances the moment of friction; when it has stopped {claim("the point is below the centre", below)}.
Rivals have four points per face ({", ".join(rivals) or "none recorded"}; recorded by `./run bench patch-contact`).{absent}

{table(["largest error of q_x, q_y [m]", *(f"{t} s" for t in AT_S), "height [m]", "turn [rad]"], errors)}
{box_friction(rivals)}
- Errors are against the closed form of the discrete motion (speed falls by μ g h per step), which backward and semi-implicit Euler share;
  the continuous motion differs from it by O(h): {abs(stops):.3f} m at the end.
"""


def of_rolling_and_tumbling(facts: dict) -> str:
    rolls, (least, most) = facts["rolls"], facts["tumbles"]["jumps"]
    turns = passes(facts, "cylinder rolls", "first impulse", "then every")
    on_line, middle = passes(facts, "cylinder rolls", "|D|"), rolls["straight"] < 0.1 * rolls["turning"]
    kinds = ", ".join(KINDS[kind] for kind in facts["tumbles"]["kinds"]).capitalize()
    return f"""
## A cylinder rolls and turns

{picture("patch_contact_rolls")}

{claim("Torsional friction ends each turn; then the next impulse comes", turns)}. The point is {claim("on the contact line", on_line)}, and
{claim("away from the middle where the line turns", middle)}: by up to {1e3 * rolls["turning"]:.0f} mm,
in steps that do not turn it by {1e3 * rolls["straight"]:.1f} mm.

## A cube tumbles

{picture("patch_contact_tumbles")}

{claim(kinds, facts["tumbles"]["kinds"] == TUMBLES)}: {claim("the largest jumps of the point are those of the contact", least > most)}. N counts the faces
of the cube that meet at the point.
"""


def of_manipulation(facts: dict) -> str:
    (before, after), half = facts["pivots"], manipulation.LENGTH / 2
    first, second = ((c[1] - size[1] / 2, c[1] + size[1] / 2) for c, size in manipulation.OBSTACLES.values())
    does = lambda *begins: passes(facts, "cylinder manipulation", *begins)  # noqa: E731
    blocked = does("2 rolls") and first[0] < before + half and before - half < first[1]
    in_gap = second[1] < after - half and after + half < first[0]
    return f"""
## A cylinder is manipulated

{picture("patch_contact_snapshots")}

{picture("patch_contact_manipulated")}

Six phases: {claim("toppled by a constant torque", does("1 toppled"))}; {claim("rolled until the first obstacle blocks the way", blocked)};
{claim("pivoted, that is lifted on its rim into balance, rolled along the rim through half a turn", does("3 pivots"))} and
put down {abs(after - before):.2f} m aside, {claim("in front of the gap", in_gap)}; {claim("rolled on through the gap", does("4 rolls on", "clear of"))};
{claim("lifted until its weight sets it upright, where it rocks and comes to rest", does("5 lifted", "6 stands", "landings"))}.
Only torques act, designed by [`patch_manipulation.py`](../../tools/reproductions/patch_manipulation.py) and fixed in the scene.
A dot is the step after a landing: {claim("impacts are inelastic", does("|v_z|"))}.
"""


def of_others(facts: dict) -> str:
    disk, coin = measured.DISK, measured.COIN
    (coarse, far), (fine, near) = facts["disks"]
    shows = far > near > 0 and 0.5 < (far / near) / (coarse / fine) < 2
    points, tips = passes(facts, "stack tips", "points of"), passes(facts, "stack tips", "moved before", "tips when")
    return f"""
## Two of ours

{picture("patch_contact_others")}

**Euler's disk** ([`eulers_disk`](../../scenes/patch_contact/eulers_disk.deft.yaml)): a coin of {coin.radius_m:g} m and {disk.mass:g} kg rolls
about a centre at rest; torsional friction (e_r = {disk.ellipsoid[2]:g} m) takes its energy. By hand, for a thin disc: Ω² sin α = 4 g/r, energy 3/2 m g r sin α,
power μ m g e_r Ω sin²α, so (sin α)^(−1/2) grows by 2/3 μ (e_r/r) √(g/r) per second. Backward Euler adds a loss in proportion to h,
{claim("which the two step lengths show", shows)}.

**A stack of two boxes** ([`stack_tips`](../../scenes/patch_contact/stack_tips.deft.yaml)) is pushed harder and harder: each pair has one point, which
{claim("moves towards the edge as moments by hand say", points)}, F z over the weight above. {claim(f"Above {TIPS_N:.2f} N it tips", tips)}.
"""


def of_times(facts: dict) -> str:
    rows = [[*row[:-1], f"{row[-1]:.0e}"] for row in facts["times"]]
    return f"""
## Times

{picture("patch_contact_times")}

{table(["scene", "steps", "mean [µs]", "p50", "p95", "max", "iterations, mean", "max", "largest residual, scaled"], rows)}

Whole steps, on the machine that wrote this page with whatever else it did; the bar is a mean of {BAR_US:g} µs, and
{claim("every scene is below it", max(row[2] for row in rows) < BAR_US)}.
"""


def text(facts: dict) -> str:
    sections = (of_numbers, of_slides, of_rolling_and_tumbling, of_manipulation, of_others, of_times)
    return f"""
# Line and surface contact by one point

Source: J. Xie, N. Chakraborty, *Rigid Body Dynamic Simulation with Line and Surface Contact*, scenarios 1–4, Fig. 6–10. Scenes:
[`scenes/patch_contact`](../../scenes/patch_contact). Written by `./run reproduce patch-contact`, which fails if a number below does.
**Theirs**: shapes, masses, friction, h = {measured.SLIDES.h:g} s, starts, and the impulses of scenarios 2 and 3. **Ours**: what the source leaves open or
prints garbled (e_t = e_o = 1, e_r = 1 m throughout; the axis of scenario 2 along x; the velocity of scenario 3 from a corner at rest),
and all torques of scenario 4.

Every pair of bodies has one contact point, the *equivalent contact point*, found together with the motion at the end of the step: nobody
decides whether a corner, an edge or a face touches. The oracle shares nothing with deft: `tools/reproductions/patch_reference.py` tries every mode
(corner, edge, face, rim, line, cap; stick, slip) as six smooth equations in the velocities, and checks deft's steps from their velocities alone.
{"".join(section(facts) for section in sections)}"""
