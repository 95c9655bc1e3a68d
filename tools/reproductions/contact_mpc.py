"""Control through contact as a mixed-integer program: a disc between bevel, floor and wall (the note's Fig. 2 to 4)."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scene_runs import SCENES, SceneRun, deft_json

from .experiment import Laboratory, new_figure, save_figure, table, write_page

RADIUS = 0.6
GOAL = np.array([3.0, -5.0])
STEPS = 160
KNOTS = np.array([[0, -1, -1.707], [6, -3.793, -4.5], [16, 4.5, -4.5], [20, 4.5, -1.5]])  # t, x, y of disc_path


@dataclass
class Loop:
    """One closed loop; K periods."""

    t: np.ndarray  # [K+1]
    x: np.ndarray  # [K+1, 4] place and velocity
    u: np.ndarray  # [K, 2]
    force: np.ndarray  # [K] normal force on the disc, all contacts
    time_s: np.ndarray  # [K] of the period
    gap: np.ndarray
    proven: int
    cost: np.ndarray  # [K] stage costs ‖x − goal‖² + 10‖u‖², added up

    @property
    def touches(self) -> int:
        """The first step that ends on the floor."""
        return int(np.argmax(self.x[:, 1] < -5 + RADIUS + 1e-7))


def run(lab: Laboratory, name: str, *options: str) -> Loop:
    folder = lab.folder / name
    summary = deft_json(lab.deft, "sim", SCENES / "contact_mpc" / f"{name}.deft.yaml", "--controller", "mixed-integer", "--out", folder, *options)
    sim = SceneRun(name, {}, summary, folder)
    if sim.summary["status"] != "Completed" or sim.summary["control"]["fallbacks"]:
        raise RuntimeError(f"{name}: {sim.summary}")
    data = sim.data
    x = np.hstack([data["q"], data["v"]])
    offset = data["contacts/offset"]
    normal = np.abs((data["contacts/force_W"] * data["contacts/normal_W"]).sum(1))
    stage = ((x[:-1] - [*GOAL, 0, 0]) ** 2).sum(1) + 10 * (data["u"] ** 2).sum(1)
    return Loop(data["t"], x, data["u"], np.array([normal[a:b].sum() for a, b in zip(offset[:-1], offset[1:])]), data["mpc/time_s"], data["mpc/gap"],
                sim.summary["control"]["proven"], np.cumsum(stage))


def measure(lab: Laboratory) -> dict[str, Loop]:
    return {"N = 5": run(lab, "disc", "--steps", str(STEPS)), "N = 20": run(lab, "disc_long", "--steps", str(STEPS)), "path": run(lab, "disc_path")}


def tracking_error(loop: Loop) -> np.ndarray:
    """Distance from the path at each time [m]; 0.1 m of it is inside of the surfaces."""
    return np.hypot(*(loop.x[:, i] - np.interp(loop.t, KNOTS[:, 0], KNOTS[:, 1 + i]) for i in (0, 1)))


def draw_room(axis) -> None:
    """Where the centre of the disc can be: bevel, floor and wall moved in by its radius."""
    d = RADIUS * np.sqrt(2)
    corners = np.array([[4.4, 4.4 - d], [-4.4 + d, -4.4], [4.4, -4.4], [4.4, 4.4 - d]])
    axis.plot(*corners.T, color="0.5", linewidth=1)
    axis.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")


def draw(loops: dict[str, Loop]) -> None:
    short, long, path = loops["N = 5"], loops["N = 20"], loops["path"]
    both = {"N = 5": short, "N = 20": long}
    figure, axes = new_figure(3)
    draw_room(axes[0][0])
    axes[0][0].set(xlim=(-2.5, 3.5), ylim=(-5.3, -2.6))
    axes[0][0].plot(*GOAL, "x", color="0.3", label="goal, in the floor")
    for name, loop in both.items():
        axes[0][0].plot(loop.x[:, 0], loop.x[:, 1], ".-", markersize=3, label=name)
        axes[0][1].plot(loop.t, loop.x[:, 2], label=f"{name}: velocity along x [m/s]")
        axes[0][1].plot(loop.t[1:], loop.force, "--", label=f"{name}: normal force [N]")
        axes[0][2].plot(loop.t[1:], loop.cost, label=name)
    axes[0][1].set(xlabel="t [s]")
    axes[0][2].set(xlabel="t [s]", ylabel="cost up to t")
    for axis in axes[0]:
        axis.legend()
    approach = save_figure(figure, "contact_mpc_approach")
    figure, axes = new_figure(3)
    draw_room(axes[0][0])
    axes[0][0].plot(KNOTS[:, 1], KNOTS[:, 2], "--", color="0.5", label="path")
    axes[0][0].plot(path.x[:, 0], path.x[:, 1], label="disc")
    axes[0][1].plot(path.t, tracking_error(path))
    axes[0][1].axhline(0.1, color="0.6", linestyle=":")
    axes[0][1].set(xlabel="t [s]", ylabel="distance from the path [m]")
    for name, loop in loops.items():
        axes[0][2].semilogy(loop.t[:-1], 1e3 * loop.time_s, label="N = 10, path" if name == "path" else name)
    axes[0][2].set(xlabel="t [s]", ylabel="time of a period [ms]")
    for axis in (axes[0][0], axes[0][2]):
        axis.legend()
    tracking = save_figure(figure, "contact_mpc_tracking")
    rows = [[name, f"{loop.proven} of {len(loop.u)}", *(f"{1e3 * x:.2f}" for x in (np.median(loop.time_s), np.quantile(loop.time_s, 0.95), loop.time_s.max()))]
            for name, loop in loops.items()]  # fmt: skip
    error = tracking_error(path)
    write_page("contact_mpc", f"""
# Control through contact as a mixed-integer program

Source: *Introduction to 2D frictional contact model* (contact control as a mixed-integer quadratic program). Scenes: `scenes/contact_mpc/disc*.deft.yaml`. Written by
`./run reproduce contact_mpc`.

**Given**: a disc of {RADIUS:g} m and 1 kg without gravity between a bevel y = x, a floor y = −5 m and a wall x = 5 m, μ = 0.8, h = 0.1 s, |q| ≤ 5, |v| ≤ 1, |u| ≤ 1; start (−2, −4), goal (3, −5) m, which the
floor keeps out of reach; Q = Q_f = I, R = 10 I; N = 5 and 20. **Ours**: the path, with Q = diag(10, 10, 0.1, 0.1), R = 0.1 I and N = 10; it runs 0.1 m inside of where the disc can be.

{approach}

With N = 5 the disc touches the floor in step {short.touches}; with N = 20 in step {long.touches}. The longer horizon sees the end of the way and presses on the floor to brake; after {STEPS} steps
it has paid {long.cost[-1] / short.cost[-1]:.2f} times the cost of the short one.

{tracking}

Along the path the distance is {np.median(error):.3f} m in the median and {error[20:].max():.3f} m at most after 2 s, of which 0.1 m cannot be reached.

{table(["controller", "plans proven optimal (relative gap 1e-7)", "median [ms]", "95 % [ms]", "longest [ms]"], rows)}
""")
