"""Plans of quasidynamic planning played open loop in two simulators of second order (the published planner's sim-to-sim check), from recorded runs."""

from __future__ import annotations

import json

import numpy as np

from .experiment import ROOT, Laboratory, new_figure, save_figure, table, write_page

RECORDED = ROOT / "benchmarks/baselines/sim-to-sim.json"  # of `./run bench sim-to-sim --record`, which needs MuJoCo and Drake
ARRIVED = (0.01, 0.1)  # [m], [rad]
LOST_M = 1.0  # an object that is farther from its plan has left it
KEYS = ("position_m", "rotation_rad")
WHOLE = {"drake": "whole plan, Drake", "mujoco": "whole plan, MuJoCo", "feedback": "the same with feedback"}


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is simulated here."""
    return json.loads(RECORDED.read_text())["result"]


def contact_segments(row: dict) -> list[int]:
    """Segments of a plan in which the robots are to move the object."""
    return [k for k, part in enumerate(row["segments"]) if not part["transfer"]]


def written(metres: float, radians: float) -> list[str]:
    """Both errors for a table; what has left the plan is lost."""
    return ["lost", "lost"] if metres > LOST_M else [f"{metres:.2g}", f"{radians:.2g}"]


def apart(row: dict) -> tuple[float, float]:
    """Largest difference of Drake's and MuJoCo's errors over the ends of the segments, as long as the object is not lost: [m], [rad]."""
    pairs = [(a, b) for a, b in zip(row["drake"]["along"], row["mujoco"]["along"]) if max(a["position_m"], b["position_m"]) < LOST_M]
    metres, radians = (max((abs(a[key] - b[key]) for a, b in pairs), default=0.0) for key in KEYS)
    return metres, radians


def refined_words(rows: list[dict]) -> str:
    """How far plain and refined plans of the same system end from the plan, in Drake."""
    by_name = {row["system"]: row["drake"]["whole"] for row in rows}
    pairs = [(name, by_name[name], by_name[f"{name}, refined"]) for name in by_name if f"{name}, refined" in by_name]
    words = [
        f"{name} {plain['position_m']:.2g} m, {plain['rotation_rad']:.2g} rad → {fine['position_m']:.2g} m, {fine['rotation_rad']:.2g} rad"
        for name, plain, fine in pairs
    ]
    return f" (at the end, in Drake: {'; '.join(words)})" if words else ""


def feedback_words(rows: list[dict]) -> str:
    """What feedback changes at the end of whole plans in MuJoCo."""
    both = [row for row in rows if "feedback" in row and "mujoco" in row]
    if not both:
        return ""
    near = lambda row, who: all(row[who]["whole"][key] <= bound for key, bound in zip(KEYS, ARRIVED))  # noqa: E731
    farther = [row["system"] for row in both if all(row["feedback"]["whole"][key] > row["mujoco"]["whole"][key] for key in KEYS)]
    return (f"\n- **With feedback** (`deft track PLAN --plant mujoco --controller mpc`, the settings of each scene, the same speed) {sum(near(row, 'feedback') for row in both)} of {len(both)} plans end "
            f"within {1e3 * ARRIVED[0]:g} mm and {ARRIVED[1]:g} rad of where they should, open loop {sum(near(row, 'mujoco') for row in both)}. "
            f"Feedback is worse in both errors: {', '.join(farther) or 'nowhere'}. Under disturbances and over many seeds: [feedback](feedback.md).")  # fmt: skip


def draw(result: dict) -> None:
    rows = result["rows"]
    figure, axes = new_figure(2)
    for axis, key, label in ((axes[0, 0], "position_m", "error of position [m]"), (axes[0, 1], "rotation_rad", "error of rotation [rad]")):
        for k, row in enumerate(rows):
            values = np.array([max(row["segments"][i][key], 1e-4) for i in contact_segments(row)])
            axis.plot(
                np.full(len(values), k) + np.linspace(-0.15, 0.15, len(values)),
                values,
                "o",
                color="C0",
                markersize=4,
                label="each segment, Drake" * (k == 0),
            )
            for who, marker, color in (("drake", "_", "C3"), ("mujoco", "x", "C1"), ("feedback", "^", "C2")):
                if who in row:
                    axis.plot([k + 0.3], [max(row[who]["whole"][key], 1e-4)], marker, color=color, label=WHOLE[who] * (k == 0))
        axis.set(yscale="log", ylabel=label, ylim=(1e-4, 10))
        axis.set_xticks(
            range(len(rows)), [row["system"].replace("_", " ").replace(", ", " ") for row in rows], fontsize=7, rotation=40, ha="right"
        )
    axes[0, 1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    picture = save_figure(figure, "sim_to_sim")
    short = [[row["system"], len(contact_segments(row)), *written(*(float(np.median([row["segments"][i][key] for i in contact_segments(row)])) for key in KEYS)),
              *written(*(row["drake"]["whole"][key] for key in KEYS)), *(written(*(row["mujoco"]["whole"][key] for key in KEYS)) if "mujoco" in row else ["–", "–"]),
              *([*written(*(row["feedback"]["whole"][key] for key in KEYS)), row["feedback"]["replans"]] if "feedback" in row else ["–"] * 3)]
             for row in rows]  # fmt: skip
    parts = []
    for row in rows:
        for k, i in enumerate(contact_segments(row)):
            part = row["segments"][i]
            parts.append([row["system"] if k == 0 else "", k + 1, *(f"{part['moved_' + key]:.2g}" for key in KEYS), *written(*(part[key] for key in KEYS)),
                          *written(*(row["drake"]["along"][i][key] for key in KEYS)),
                          *(written(*(row["mujoco"]["along"][i][key] for key in KEYS)) if "mujoco" in row else ["–", "–"])])  # fmt: skip
    agreement = [
        f"{row['system']} {metres:.2g} m, {radians:.2g} rad" for row in rows if "mujoco" in row for metres, radians in [apart(row)]
    ]
    write_page(
        "sim_to_sim",
        f"""
# Plans in simulators of second order, open loop and with feedback

Source: T. Pang, H. J. T. Suh, L. Yang and R. Tedrake, *Global planning for contact-rich manipulation via local smoothing of quasi-dynamic contact models*, IEEE T-RO 2023,
sim-to-sim figure; T. Pang's slides of 2022 on the same. Written by `./run reproduce sim_to_sim` from what `./run reproduce sim-to-sim` records, which needs MuJoCo and Drake.

**Given**: the systems; plans are played open loop on stiffness-controlled robots; errors by segment on a logarithmic axis, small in the plane, larger in space. **Ours**: everything else. Plans
are the first that `deft plan scenes/planning/NAME.deft.yaml --seed 0` finds, refined ones with `--set plan.refine=[2,5]`. Knots are moved apart until no joint target is faster than {result["speed"]:g} rad/s or m/s, the last command is held for
{result["settle_s"]:g} s; dampers of the joints are D = max(2 √(K M_ii), K · 10 ms); objects that gravity does not act on feel −γ M v, γ = 1/h. Steps are {1e3 * result["step_s"]:g} ms, Drake's solver is SAP.

{picture}

Median over the segments with contact, each played from the plan's own state at its start (Drake), and the whole plan at its end (both simulators). An object more than {LOST_M:g} m off is lost.

{table(["system", "segments", "segment [m]", "[rad]", "whole, Drake [m]", "[rad]", "whole, MuJoCo [m]", "[rad]", "with feedback, MuJoCo [m]", "[rad]", "new plans"], short)}

Every segment with contact: how far the object is meant to go, how far off it ends when the segment starts as planned (Drake), and how errors add up when the plan is played as a whole.

{table(["system", "segment", "moves [m]", "[rad]", "off, alone [m]", "[rad]", "off, whole, Drake [m]", "[rad]", "off, whole, MuJoCo [m]", "[rad]"], parts)}

- **The two simulators agree**, which share neither code nor a model of contact: largest differences at the ends of segments of the whole plan: {"; ".join(agreement)}. So what is off is
  the plan's model of the world, not a simulator.
- **A plan is only as good as its step.** The first seven plans were made for steps of one length. Commands of four of them (planar_pushing, planar_hand, allegro_pen, allegro_plate) in shorter
  steps of deft's own, without any change of speed, miss by as much (`deft sim SCENE --with plan.yaml --h 0.005`), allegro_plate in the same way segment by segment. Refined plans (`--set plan.refine=[2,5]`), which the planner has tried in steps of h/2 and h/5 too, hold
  in both simulators far better{refined_words(rows)}.
- **What is left** is what feedback is for: balls under gravity that roll off, and systems of which there is no refined plan here (planar_bimanual, allegro_ball, allegro_plate).{feedback_words(rows)}
""",
    )
