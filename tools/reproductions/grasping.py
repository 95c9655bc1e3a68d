"""Pushing, grasping and jamming of objects on a table with velocity-controlled fingers (Halm and Posa 2018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scene_runs import SceneRun

from .experiment import Laboratory, baseline, claim, new_figure, picture, save_figure, table

MANOEUVRES = ("symmetric", "asymmetric", "semicircle")
GAINS = tuple(2.0**-k for k in range(20, 9, -1))  # c of the slope
SHOWN = (2.0**-10, 2.0**-6, 2.0**-4, 2.0**-2, 1.0)
WALL_GAINS = (2.0**-10, 2.0**-6, 2.0**-4, 2.0**-2)
PEG_FRAMES = (0.0, 1.75, 3.25, 4.5, 7.5, 12.0)  # [s]
JAM = (3.0, 3.5)  # while the peg is jammed against the border of its slot [s]
FINE = 1e-3  # step of the second-order simulation of the arms [s]


@dataclass
class Path:
    """An object's pose over time, (x, y, θ) per row, and where the fingers are."""

    t: np.ndarray
    pose: np.ndarray
    fingers: np.ndarray
    status: str
    steps: dict  # datasets of /steps
    run: SceneRun


def path(lab: Laboratory, scene: str, *options: str, body: str = "disk") -> Path:
    run = lab.simulate(scene, *options)
    q = np.array(run.data["q"])
    names = list(run.data["names_q"])
    of = [names.index(f"{body}/{k}") for k in ("x", "y", "theta")]
    others = [i for i in range(len(names)) if i not in of]
    steps = {k.split("/")[1]: np.array(v) for k, v in run.data.items() if k.startswith("steps/")}
    return Path(run.t, q[:, of], q[:, others], run.summary["status"], steps, run)


def gain(c: float) -> tuple[str, str]:
    return "--set", f"step.gain={c!r}"


@dataclass
class Measured:
    paths: dict  # manoeuvre → c → Path; c = 0 is perfect control
    errors: dict  # manoeuvre → |q_c(10) − q_0(10)| over GAINS
    wall: dict  # c → Path
    squeeze: dict  # c → Path
    graze: dict
    peg: Path
    arms: Path
    arms_second_order: Path | None


def measure(lab: Laboratory, arms: bool = True) -> Measured:
    paths, errors = {}, {}
    for name in MANOEUVRES:
        scene = f"grasping_{name}"
        paths[name] = {c: path(lab, scene, *gain(c)) for c in (0.0, *SHOWN)}
        end = paths[name][0.0].pose[-1]
        # From the symmetric impact on there are three motions; those that mirror each other are the same.
        fold = np.array([0, 1, 0]) if name == "symmetric" else np.ones(3)
        errors[name] = np.array([np.linalg.norm(fold * (path(lab, scene, *gain(c)).pose[-1] - end)) for c in GAINS])
    wall = {c: path(lab, "grasping_wall", *gain(c)) for c in (0.0, *WALL_GAINS)}
    squeeze = {c: path(lab, "grasping_squeeze", *gain(c), body="square") for c in (0.0, 1e-3, 1e-6)}
    graze = {c: path(lab, "grasping_graze", *gain(c), body="square") for c in (0.0, 1e-3)}
    peg = path(lab, "grasping_peg", body="peg")
    pinch = path(lab, "grasping_arms", body="square")
    return Measured(paths, errors, wall, squeeze, graze, peg, pinch, second_order(lab) if arms else None)


def second_order(lab: Laboratory) -> Path:
    """The arms with masses and dampers of 1/(cB) in their joints, the square on a table with friction: Stewart and Trinkle's scheme."""
    run = lab.simulate("grasping_arms_second_order", "--h", str(FINE))
    q, names = np.array(run.data["q"]), list(run.data["names_q"])
    at = {k: q[:, names.index(f"square/{k}")] for k in ("x", "y", "qw", "qz")}
    pose = np.stack([at["x"], at["y"], np.unwrap(2 * np.arctan2(at["qz"], at["qw"]))], axis=1)
    others = [i for i, n in enumerate(names) if not n.startswith("square")]
    return Path(run.t, pose, q[:, others], run.summary["status"], {}, run)


def recorded_arms(who: str) -> dict:
    """A run that `./run bench arms` recorded: t, poses, step length; the one with the finest step."""
    rows = [row for row in baseline("arms")["rows"] if row["who"].startswith(who)]
    return min(rows, key=lambda row: row["h"])


def slope(errors: np.ndarray) -> float:
    """Of log error over log c."""
    return float(np.polyfit(np.log(GAINS), np.log(errors), 1)[0])


def at(p: Path, t: float) -> int:
    return int(np.argmin(np.abs(p.t - t)))


def outline(pose: np.ndarray, corners: np.ndarray) -> np.ndarray:
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return corners @ np.array([[c, s], [-s, c]]) + pose[:2]


PEG = np.array([[-1, -3], [1, -3], [1, 3], [-1, 3]])
TRIANGLE = np.array([[1, -1], [1, 1], [-1, 1]])
CIRCLE = np.stack([np.cos(np.linspace(0, 2 * np.pi, 61)), np.sin(np.linspace(0, 2 * np.pi, 61))], axis=1)


def draw_paths(m: Measured) -> None:
    figure, axes = new_figure(3, 2)
    colours = plot_colours(len(SHOWN))
    for k, name in enumerate(MANOEUVRES):
        axis = axes[0, k]
        for c, p in m.paths[name].items():
            label = "perfect" if c == 0 else f"c = 2^{int(np.log2(c))}"
            style = {"color": "k", "linestyle": ":", "zorder": 3} if c == 0 else {"color": colours[SHOWN.index(c)]}
            axis.plot(p.pose[:, 0], p.pose[:, 1], label=label, **style)
            end = outline(p.pose[-1], CIRCLE)
            axis.plot(end[:, 0], end[:, 1], linewidth=0.8, **{k: v for k, v in style.items() if k != "label"})
        axis.set(xlabel="x [m]", ylabel="y [m]", title=name)
        axis.set_aspect("equal", adjustable="datalim")
        axis = axes[1, k]
        axis.loglog(GAINS, m.errors[name], "o-", markersize=3, label=f"slope {slope(m.errors[name]):.3f}")
        shown = [np.linalg.norm(m.paths[name][c].pose[-1] - m.paths[name][0.0].pose[-1]) for c in SHOWN]
        axis.loglog(SHOWN, shown, "s", markersize=4, color="0.5")
        axis.set(xlabel="c", ylabel="|q_c(10) − q_0(10)|")
        axis.legend(loc="upper left")
    axes[0, 0].legend(fontsize=7)
    save_figure(figure, "grasping_paths")


def plot_colours(count: int):
    from matplotlib import colormaps

    return [colormaps["viridis"](x) for x in np.linspace(0.05, 0.9, count)]


def normal_forces(p: Path) -> dict:
    """|force| per step of every pair, by the names of its bodies."""
    names, offset = list(p.run.data["names_bodies"]), np.array(p.run.data["contacts/offset"])
    a, b, f = (np.array(p.run.data[f"contacts/{k}"]) for k in ("a", "b", "force_W"))
    forces: dict = {}
    for k, (first, last) in enumerate(zip(offset[:-1], offset[1:])):
        for i in range(first, last):
            pair = " – ".join(sorted((names[a[i]], names[b[i]])))
            forces.setdefault(pair, np.zeros((len(offset) - 1, 3)))[k] += f[i] if names[a[i]] < names[b[i]] else -f[i]
    return {pair: np.linalg.norm(force, axis=1) for pair, force in forces.items()}


def draw_wall(m: Measured) -> None:
    figure, axes = new_figure(2)
    colours = plot_colours(len(WALL_GAINS))
    for c, p in m.wall.items():
        style = {"color": "k", "linestyle": ":", "zorder": 3} if c == 0 else {"color": colours[WALL_GAINS.index(c)]}
        axes[0, 0].plot(p.pose[:, 0], p.pose[:, 1], label="perfect" if c == 0 else f"c = 2^{int(np.log2(c))}", **style)
        end = outline(p.pose[-1], CIRCLE)
        axes[0, 0].plot(end[:, 0], end[:, 1], linewidth=0.8, **style)
    axes[0, 0].axhline(0, color="0.3", linewidth=2)
    axes[0, 0].set(xlabel="x [m]", ylabel="y [m]", title="into a wall and along it")
    axes[0, 0].set_aspect("equal", adjustable="datalim")
    axes[0, 0].legend(fontsize=7)
    for c in (2.0**-6, 2.0**-10):
        p = m.wall[c]
        for pair, force in normal_forces(p).items():
            if pair.startswith("disk"):
                axes[0, 1].plot(p.t[1:], c * force, "-" if c > 2.0**-8 else ":", label=f"{pair}, c = 2^{int(np.log2(c))}")
    axes[0, 1].set(xlabel="t [s]", ylabel="c |λ| [m/s]", title="forces while it jams grow like 1/c")
    axes[0, 1].legend(fontsize=7)
    save_figure(figure, "grasping_wall")


def draw_peg(m: Measured) -> None:
    figure, axes = new_figure(3, 2)
    p = m.peg
    for axis, t in zip(axes.flat, PEG_FRAMES):
        k = at(p, t)
        for low in (-19.01, 1.01):
            axis.fill([low, low + 18, low + 18, low], [-10, -10, 0, 0], color="0.8")
        for pose, corners, colour in (
            (p.pose[k], PEG, "tab:blue"),
            (p.fingers[k][:3], TRIANGLE, "tab:red"),
            (p.fingers[k][3:], TRIANGLE, "tab:red"),
        ):
            shape = outline(pose, corners)
            axis.fill(shape[:, 0], shape[:, 1], color=colour, alpha=0.5, linewidth=0)
            axis.plot(*np.vstack([shape, shape[:1]]).T, color=colour, linewidth=1)
        axis.set(xlim=(-9, 7), ylim=(-4, 12), title=f"t = {t:g} s")
        axis.set_aspect("equal")
        axis.grid(False)
    save_figure(figure, "grasping_peg")


def draw_peg_forces(m: Measured) -> None:
    figure, axes = new_figure(2)
    p = m.peg
    for column, label in enumerate(("x [m]", "y [m]", "θ [rad]")):
        axes[0, 0].plot(p.t, p.pose[:, column], label=label)
    axes[0, 0].axvspan(*JAM, color="0.9")
    axes[0, 0].set(xlabel="t [s]", title="pose of the peg")
    axes[0, 0].legend()
    for pair, force in normal_forces(p).items():
        if force.max() > 1e-9:
            axes[0, 1].plot(p.t[1:], force, label=pair)
    axes[0, 1].set(xlabel="t [s]", ylabel="|λ|", title="forces")
    axes[0, 1].legend(fontsize=7)
    save_figure(figure, "grasping_peg_forces")


def draw_arms(m: Measured) -> None:
    figure, axes = new_figure(2)
    axis = axes[0, 0]
    square = 0.2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    for p, colour, name in ((m.arms, "tab:blue", "limit surface"), (m.arms_second_order, "tab:orange", "second order")):
        if p is None:
            continue
        for k, alpha in ((0, 0.3), (-1, 1.0)):
            shape = outline(p.pose[k], square)
            axis.plot(*np.vstack([shape, shape[:1]]).T, color=colour, alpha=alpha, label=name if k == -1 else None)
        axes[0, 1].plot(p.t, p.pose[:, 1], color=colour, label=f"y [m], {name}")
        axes[0, 1].plot(p.t, 0.1 * p.pose[:, 2], "--", color=colour, label=f"θ/10 [rad], {name}")
    mujoco = recorded_arms("MuJoCo")
    pose = np.array(mujoco["pose"])
    axis.plot(*np.vstack([outline(pose[-1], square), outline(pose[-1], square)[:1]]).T, color="tab:green", label="MuJoCo")
    axes[0, 1].plot(mujoco["t"], pose[:, 1], color="tab:green", label="y [m], MuJoCo")
    axes[0, 1].plot(mujoco["t"], 0.1 * pose[:, 2], "--", color="tab:green", label="θ/10 [rad], MuJoCo")
    axis.set(xlabel="x [m]", ylabel="y [m]", title="the square at the start and at the end")
    axis.set_aspect("equal", adjustable="datalim")
    axis.legend()
    axes[0, 1].set(xlabel="t [s]")
    axes[0, 1].legend(fontsize=7)
    save_figure(figure, "grasping_arms")


def draw(m: Measured) -> None:
    draw_paths(m)
    draw_wall(m)
    draw_peg(m)
    draw_peg_forces(m)
    draw_arms(m)


def not_unique(p: Path) -> np.ndarray:
    """[T] whether a second motion was found in a step."""
    return p.steps["uniqueness"] == 2


def facts_of_wall(c: float, p: Path) -> dict:
    """One run into the wall; of a compliant one also how far the disc goes and turns along the wall, when it comes to rest, and how hard the
    fingers then press on it."""
    ends = {"c": c, "status": p.status, "t": p.t[-1], "pose": p.pose[-1]}
    if c == 0:
        return {**ends, "reason": p.run.summary.get("reason", "")}
    touches = int(np.argmax(p.pose[:, 1] < 1 + 1e-6))
    rests = int(np.flatnonzero(np.abs(np.diff(p.pose, axis=0)).max(axis=1) > 1e-9)[-1]) + 1
    held = max(force[-1] for pair, force in normal_forces(p).items() if pair in ("disk – left", "disk – right"))
    gone = p.pose[-1] - p.pose[touches]
    return {**ends, "gone": gone[0], "turned": gone[2], "rests_s": p.t[rests], "held_c": c * held}


def facts_of_squares(m: Measured) -> dict:
    moved = lambda runs: max(np.abs(p.pose).max() for c, p in runs.items() if c > 0)  # noqa: E731
    forces = [c * force for c, p in m.squeeze.items() if c > 0 for force in normal_forces(p).values()]
    return {"squeeze": {"perfect": m.squeeze[0.0].status, "moved": moved(m.squeeze), "c_force": [np.min(forces), np.max(forces)]},
            "graze": {"not_unique": m.graze[0.0].run.summary["statuses"].get("NotUnique", 0), "moved": moved(m.graze),
                      "finite": sorted({status for c, p in m.graze.items() if c > 0 for status in p.run.summary["statuses"]})}}  # fmt: skip


def facts(m: Measured) -> dict:
    """Poses are x, y, θ; "slopes": of log error over log c."""
    symmetric = list(m.paths["symmetric"].values())
    arms = [[f"limit surface, {1e3 * (m.arms.t[1] - m.arms.t[0]):g} ms", *m.arms.pose[-1]]]
    if m.arms_second_order is not None:
        arms.append([f"second order, {1e3 * FINE:g} ms", *m.arms_second_order.pose[-1]])
    everything = [p for runs in (*m.paths.values(), m.wall) for p in runs.values()] + [m.peg, m.arms]
    jam, jammed = m.peg.pose[at(m.peg, 3.25)], (m.peg.t > JAM[0] + 1e-9) & (m.peg.t < JAM[1] + 1e-9)
    return {
        "ends": [[name, c, *m.paths[name][c].pose[-1]] for name in MANOEUVRES for c in (0.0, 2.0**-10, 2.0**-6, 1.0)],
        "slopes": {name: slope(m.errors[name]) for name in MANOEUVRES},
        "symmetric": {"turned_deg": max(np.degrees(np.abs(p.pose[:, 2]).max()) for p in symmetric),
                      "not_unique": int(sum(not_unique(p).sum() for p in symmetric))},
        "wall": [facts_of_wall(c, p) for c, p in m.wall.items()],
        **facts_of_squares(m),
        "peg": {"jam": jam, "moved_in_jam": np.abs(m.peg.pose[jammed] - jam).max(), "end": m.peg.pose[-1], "gap_mm": 1e3 * m.peg.steps["gap_min"].min()},
        "arms": arms,
        "balance": max(p.steps["balance"].max() for p in everything),
        "bound": max(p.steps["bound"].max() for p in everything),
    }  # fmt: skip


def gain_words(c: float) -> str:
    return "perfect" if c == 0 else f"2^{int(np.log2(c))}"


def digits(pose: list[float], count: int) -> list[str]:
    return [f"{x:.{count}f}" for x in pose]


def text_of_disc(facts: dict) -> str:
    linear = all(abs(rate - 1) < 0.03 for rate in facts["slopes"].values())
    walls = [[gain_words(p["c"]), p["status"], f"{p['t']:g}", *digits(p["pose"], 7)] for p in facts["wall"]]
    symmetric, perfect, finite = facts["symmetric"], facts["wall"][0], facts["wall"][1:]
    jams = perfect["status"] == "Infeasible" and "disk – wall" in perfect["reason"]
    rolls = all(abs(p["gone"] / -p["turned"] - 1) < 0.02 and abs(p["pose"][1] - 1) < 1e-6 for p in finite)
    let_go = all(p["rests_s"] < p["t"] - 1 and p["held_c"] < 1e-9 for p in finite)
    return f"""
## A disc and two point fingers

{picture("grasping_paths")}

Final poses; {claim("as c → 0 they approach perfect control linearly", linear)} (theorem 4).
At the symmetric impact {claim("several motions are possible", symmetric["not_unique"] > 0)}; the one that is shown
turns by {symmetric["turned_deg"]:.2f} degrees at most.

{table(["manoeuvre", "c", "x [m]", "y [m]", "θ [rad]"], [[name, gain_words(c), *digits(pose, 9)] for name, c, *pose in facts["ends"]])}

## Into a wall

{picture("grasping_wall")}

{claim("Perfect control ends with a proof that no motion exists when the disc is squeezed.", jams)}
{claim("Compliant fingers go on", all(p["status"] == "Completed" for p in finite))};
{claim("the disc rolls along the wall", rolls)} {claim("until they let go of it", let_go)}.
Where holding on and letting go are both possible, the step takes the solution with fewest contacts.

{table(["c", "status", "t [s]", "x [m]", "y [m]", "θ [rad]"], walls)}
"""


def text_of_squares(facts: dict) -> str:
    squeeze, graze = facts["squeeze"], facts["graze"]
    still = squeeze["moved"] < 1e-9 and max(abs(x - 1) for x in squeeze["c_force"]) < 1e-6
    return f"""
## A square, squeezed and grazed

Four fingers that squeeze: perfect control is `{squeeze["perfect"]}`,
{claim("finite gains hold the square still with λ = 1/c at each finger", still)}.
Fingers that graze two sides, the upper pair upwards and the lower one downwards: {claim("perfect control allows several motions", graze["not_unique"] > 0)}
({graze["not_unique"]} of its steps are `NotUnique`), {claim("finite gains one", graze["finite"] == ["Solved"])},
{claim("in which the square rests", graze["moved"] < 1e-9)}.
"""


def text_of_peg(facts: dict) -> str:
    peg = facts["peg"]
    return f"""
## A peg and its slot

{picture("grasping_peg")}

{picture("grasping_peg_forces")}

{claim("Jammed", peg["moved_in_jam"] < 1e-3)} at ({", ".join(digits(peg["jam"], 4))}) from {JAM[0]:.1f} to {JAM[1]:.1f} s; at the end at
({", ".join(digits(peg["end"], 4))}). Deepest penetration of the true geometry: {-peg["gap_mm"]:.2f} mm
(polygons turn within a step, their linearised gaps do not).
"""


def text_of_arms(facts: dict) -> str:
    rows = facts["arms"] + [[row["who"], *row["pose"][-1]] for row in map(recorded_arms, ("limit surface", "Stewart", "MuJoCo"))]
    escapes = all(y > 0.01 and theta > 0.5 for _, _, y, theta in rows)
    return f"""
## Four arms

{picture("grasping_arms")}

The arms pinch a square and comply unequally: {claim("it moves along +y and spins", escapes)}. The second-order simulation has masses, the same
velocity control as dampers of 1/(cB) in the joints, friction with the table, and Stewart and Trinkle's scheme. MuJoCo (soft contacts, elliptic cones)
runs the same masses, dampers and friction; its run and those with finer steps are those that `./run bench arms` recorded. The models do not share one
square: on the limit surface its weight is spread evenly, the second-order models carry it on four corners, whose loads friction does not determine,
and MuJoCo's contacts creep a little while they stick.

{table(["model", "x [m]", "y [m]", "θ [rad]"], [[who, *digits(pose, 4)] for who, *pose in rows])}
"""


def text(facts: dict) -> str:
    return f"""
# Pushing, grasping and jamming on a table

Source: M. Halm, M. Posa, *A quasi-static model and simulation approach for pushing, grasping, and jamming*, 2018. Scenes:
`grasping_*` in `scenes/reproductions`. Written by `./run reproduce grasping`. Objects slide on supports with friction (limit surfaces), fingers are
velocity controlled and comply by c B F; contacts obey Coulomb's law exactly (`step.model: limit-surface`).
`deft sim scenes/reproductions/grasping_peg.deft.yaml` writes a page of its own for each scene: the load on the limit surface, jams, proofs, and other motions
as ghosts.
**Given**: the disc and its fingers, rate and duration, the peg's tolerance and gains, the arms' sizes. **Facts of the authors' program**: starts and
commands of the manoeuvres, the peg's geometry and its controller. **Ours**: everything about the arms but their sizes.
{text_of_disc(facts)}{text_of_squares(facts)}{text_of_peg(facts)}{text_of_arms(facts)}
## Invariants

Over all steps of these runs: error of the energy identity at most {facts["balance"]:.1e} of its terms, c‖F_m‖ at most {facts["bound"]:.12g} of its bound.
"""
