"""The published contact planner's search: what its ideas are worth, its time, and its small trees (Pang, Suh, Yang, Tedrake, T-RO 2023)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from math import pi

import numpy as np

from .experiment import Laboratory, claim, new_figure, picture, save_figure, table

SEEDS, MANY, NODES, SMALL = 5, 40, 1000, 50
TREES, GROWN = 100, 500  # seeds of the small trees, and how far they are grown
TITLES = {"planar_pushing": "PlanarPushing", "planar_hand": "PlanarHand", "allegro_ball": "AllegroHand", "allegro_plate": "AllegroPlate",
          "allegro_pen": "AllegroPen", "allegro_door": "AllegroDoor"}  # fmt: skip
COLOURS = {"published": "tab:green", "global metric": "tab:red", "no contact sampling": "tab:blue", "no smoothing": "k",
           "smoothed steps": "tab:gray", "first-order samples": "tab:purple", "zero-order samples": "tab:orange"}  # fmt: skip
PUBLISHED_S = {"planar_pushing": (7.5, 7.4), "planar_hand": (21.34, 21), "allegro_ball": (80.12, 82), "allegro_plate": (161.64, 168.11),
               "allegro_pen": (86.12, 81.23), "allegro_door": (34.55, 33.8)}  # Table III, first and zero order # fmt: skip
# What Fig. 11 shows of the first against each of these; None: no difference that matters.
NOT_NEEDED = {("allegro_plate", "no contact sampling"), ("allegro_pen", "no contact sampling")}
OURS = {"published": "baseline"}  # what the published search is called in tables: what is shown is our implementation of it
COMPARED = ("global metric", "no contact sampling", "no smoothing")


@dataclass
class Measured:
    runs: dict[str, dict[str, list[dict]]]  # system → variant → five seeds
    many: dict[str, dict[str, list[dict]]]  # the same with more seeds, where five show another ordering than Fig. 11
    trees: dict[str, list[dict]]  # metric → a tree per seed


def ablation(lab: Laboratory, seeds: int, *arguments: str) -> dict[str, dict[str, list[dict]]]:
    runs: dict[str, dict[str, list[dict]]] = {}
    for run in lab.program("single_step_ablation", "--seeds", str(seeds), "--nodes", str(NODES), *arguments):
        runs.setdefault(run["system"], {}).setdefault(run["variant"], []).append(run)
    return runs


def measure(lab: Laboratory) -> Measured:
    runs = ablation(lab, SEEDS)
    doubtful = list(dict.fromkeys(system for system, _ in reversed_orderings(runs)))
    many = ablation(lab, MANY, "--without-samples", *doubtful) if doubtful else {}
    trees: dict[str, list[dict]] = {}
    for tree in lab.program("single_step_ablation", "--trees", str(GROWN), "--seeds", str(TREES)):
        trees.setdefault(tree["metric"], []).append(tree)
    return Measured(runs, many, trees)


def ends(runs: list[dict], what: str) -> np.ndarray:
    """The measure of the whole trees, one per seed."""
    return np.array([run[what][-1] for run in runs])


def reversed_orderings(runs: dict[str, dict[str, list[dict]]]) -> list[tuple[str, str]]:
    """The orderings of Fig. 11 that the means of the closest distance do not show: system and variant."""
    return [(system, name) for system, variants in runs.items() for name in COMPARED
            if (system, name) not in NOT_NEEDED and ends(variants["published"], "closest").mean() >= ends(variants[name], "closest").mean()]  # fmt: skip


def broom(tree: dict) -> int:
    """The most steps that were taken from one node of the small tree."""
    parents = [parent for parent, regrasped, *_ in tree["nodes"][1 : SMALL + 1] if not regrasped]
    return max((parents.count(parent) for parent in set(parents)), default=0)


def draw_ablation(m: Measured) -> None:
    figure, axes = new_figure(3, 4)
    for k, (system, variants) in enumerate(m.runs.items()):
        for row, what in enumerate(("closest", "packing")):
            axis = axes[2 * (k // 3) + row, k % 3]
            for name, runs in variants.items():
                values = np.array([run[what] for run in runs])
                axis.plot(runs[0]["marks"], values.mean(axis=0), color=COLOURS[name], label=name)
                axis.fill_between(runs[0]["marks"], values.min(axis=0), values.max(axis=0), color=COLOURS[name], alpha=0.1, linewidth=0)
            axis.set(xscale="log", xlabel="nodes", ylabel=("closest distance to the goal [m²]", "packing ratio")[row])
            if row == 0:
                axis.set(title=TITLES[system], yscale="log")
            else:
                axis.set(ylim=(-0.03, 1.03))
    axes[0, 0].legend(fontsize=7)
    save_figure(figure, "single_step_search")


def draw_trees(m: Measured) -> None:
    figure, axes = new_figure(2)
    for axis, (metric, trees) in zip(axes[0], m.trees.items()):
        nodes = trees[0]["nodes"][: SMALL + 1]
        for parent, regrasped, z, theta in nodes[1:]:
            if parent >= 0 and not regrasped:
                axis.plot([nodes[parent][3], theta], [nodes[parent][2], z], "-", color="tab:blue", linewidth=0.8)
        pose = np.array([node[2:] for node in nodes])
        axis.plot(pose[:, 1], pose[:, 0], ".", color="k", markersize=3)
        axis.plot([pi], [0.35], "*", color="tab:red")
        axis.set(xlabel="θ [rad]", ylabel="z [m]", title=f"{metric} metric", xlim=(-1.2, 3.6), ylim=(0.2, 0.6))
    save_figure(figure, "single_step_trees")


def draw(m: Measured) -> None:
    draw_ablation(m)
    draw_trees(m)


def extent(values: np.ndarray) -> list[float]:
    """Mean, least, most."""
    return [values.mean(), values.min(), values.max()]


def quartiles(values: np.ndarray) -> list[float]:
    return [np.quantile(values, share) for share in (0.25, 0.5, 0.75)]


def facts_of_trees(trees: dict[str, list[dict]]) -> dict:
    """Packing ratio per metric and mark (quartiles), in what share of the seeds the local metric packs more, by how much in the median; brooms."""
    marks = trees["local"][0]["marks"]
    large = [k for k, mark in enumerate(marks) if mark >= 20]
    at = {metric: np.array([tree["packing"] for tree in grown]) for metric, grown in trees.items()}
    brooms = {metric: np.array([broom(tree) for tree in grown]) for metric, grown in trees.items()}
    return {
        "marks": [marks[k] for k in large],
        "packing": {metric: [quartiles(values[:, k]) for k in large] for metric, values in at.items()},
        "local_more": [np.mean(at["local"][:, k] > at["global"][:, k]) for k in large],
        "gains": [np.median(at["local"][:, k] - at["global"][:, k]) for k in large],
        "brooms": {metric: quartiles(values) for metric, values in brooms.items()},
        "global_broom_larger": np.mean(brooms["global"] > brooms["local"]),
    }


def facts(m: Measured) -> dict:
    """{"systems": {system: {search: mean, least and most of its measures}}, "reversed": orderings of Fig. 11 that these do not show; "many": quartiles and
    means where more seeds were looked at, "remaining": orderings that those do not show either; "trees": the small ones}"""
    systems = {system: {name: {"closest": extent(ends(runs, "closest")), "packing": extent(ends(runs, "packing")),
                               "regrasps": np.mean([run["regrasps"] for run in runs]), "wall_s": extent(np.array([run["wall_s"] for run in runs])),
                               "published_s": runs[0]["published_s"]} for name, runs in variants.items()}
               for system, variants in m.runs.items()}  # fmt: skip
    many = [[system, name, *quartiles(ends(runs, "closest")), ends(runs, "closest").mean(), ends(runs, "packing").mean()]
            for system, variants in m.many.items() for name, runs in variants.items()]  # fmt: skip
    return {"systems": systems, "reversed": reversed_orderings(m.runs), "many": many, "remaining": reversed_orderings(m.many),
            "trees": facts_of_trees(m.trees)}  # fmt: skip


def spread(values: list[float]) -> str:
    mean, least, most = values
    return f"{mean:.3g} ({least:.2g} … {most:.2g})"


def seconds(search: dict) -> str:
    """Least and most wall time of the seeds."""
    _, least, most = search["wall_s"]
    return f"{least:.2g} … {most:.2g}"


def comparison(system: str, variant: str, searches: dict[str, dict]) -> str:
    """How many times nearer the baseline search comes, how much more it packs, and what Fig. 11 says."""
    closest, packing = ([searches[name][what][0] for name in ("published", variant)] for what in ("closest", "packing"))
    nearer = f"{closest[1] / closest[0]:.2g}×"
    return f"{nearer}, {packing[0] - packing[1]:+.2f}" + (" (not needed)" if (system, variant) in NOT_NEEDED else "")


def account(facts: dict) -> str:
    """What of the orderings of Fig. 11 holds here, as sentences, with the systems that were looked at again."""

    def named(orderings: list[list[str]], mean: dict[tuple[str, str], float]) -> str:
        return "; ".join(
            claim(f"{TITLES[system]} comes nearer with {name}", mean[system, name] <= mean[system, "published"])
            for system, name in orderings
        )

    found, left = facts["reversed"], facts["remaining"]
    few = {(system, name): search["closest"][0] for system, searches in facts["systems"].items() for name, search in searches.items()}
    many = {(system, name): mean for system, name, *_, mean, _ in facts["many"]}
    if not found:
        return f"With {SEEDS} seeds the means of the closest distance are in that order on all systems."
    again = [
        [TITLES[system], OURS.get(name, name), *(f"{x:.3g}" for x in closest), f"{packing:.3f}"]
        for system, name, *closest, packing in facts["many"]
    ]
    return f"""{sampled_words(facts)}With {SEEDS} seeds the means of the closest distance are in that order
but: {named(found, few)}. {SEEDS} seeds are few where a search either arrives or does not; with {MANY} of them
(of these systems alone, in the mean of the closest distance, whatever the packing ratio says; systems that agreed with {SEEDS} seeds were not looked
at again, which favours agreement)
{"the ordering is the published one" if not left else "there remains: " + named(left, many)}:

{table(["system", "search", "closest distance, quartile [m²]", "median", "quartile", "mean", "packing ratio"], again)}"""


def sampled_words(facts: dict) -> str:
    """Systems on which a search with sampled gradients comes nearer in the mean than the baseline, whose gradients are analytic; none is a sentence less."""
    nearer = [f"{TITLES[system]} ({OURS.get(name, name)})" for system, searches in facts["systems"].items() for name in searches
              if "samples" in name and searches[name]["closest"][0] < searches["published"]["closest"][0]]  # fmt: skip
    return f"Nearer than the baseline in the mean come, with sampled gradients: {', '.join(nearer)}. " if nearer else ""


def needed_here(facts: dict) -> str:
    """Where a search packs clearly less without something that Fig. 11 does not need."""
    lines = []
    for system, name in sorted(NOT_NEEDED):
        less, packing = (facts["systems"][system][variant]["packing"][0] for variant in (name, "published"))
        if less < packing - 0.1:
            lines.append(f" Here {TITLES[system]} packs {less:.2g} with {name}, and {packing:.2g} otherwise.")
    return "".join(lines)


def text_of_ideas(facts: dict) -> str:
    systems = facts["systems"]
    measures = [[TITLES[system], OURS.get(name, name), spread(search["closest"]), spread(search["packing"]), round(search["regrasps"])]
                for system, searches in systems.items() for name, search in searches.items()]  # fmt: skip
    orderings = [[TITLES[system], *(comparison(system, name, searches) for name in COMPARED)] for system, searches in systems.items()]
    return f"""
## Which ideas matter (Fig. 11)

{picture("single_step_search")}

Trees of {NODES} nodes, means of {SEEDS} seeds with the range between them, at the published settings and with the published contact
samplers. **{OURS["published"]}**, in our implementation: exact steps, gradients smoothed at κ = 100, local metric, teleported regrasps. The others change one thing:
the global (weighted Euclidean) metric; no regrasps (but the tree starts in touch, as the source's do); exact gradients, not smoothed;
steps that are smoothed too, as the public code has had it since; and gradients of 100 exact steps under noise (σ = 0.1), of
first and of zero order. Both measures follow the published evaluation: the closest
distance is Σ w e² in metres and radians (w = 1 for positions), packing is the share of 1000 random poses of the box whose local distance to
some node is below a threshold. All trees of a system are measured by the same smoothed metric, with the published code each by its own.

{table(["system", "search", "closest distance [m²]", "packing ratio", "regrasps"], measures)}

The closest distance with each of the others as a multiple of the baseline search's, and what the baseline search packs more:

{table(["system", *COMPARED], orderings)}

Published are curves, no numbers: smoothing is far better than none and the local metric far better than the global one on all systems;
without contact sampling PlanarPushing, PlanarHand and AllegroHand get stuck, while AllegroPlate and
AllegroPen do not need it ("not needed" above).{needed_here(facts)} {account(facts)}

What differs from the source: joint limits hold; rotations are differences on SO(3), not of quaternions (a squared radian counts ¼, as
it does in a quaternion); thresholds of two systems are not public (PlanarPushing: 50, the limit of its search; AllegroHand: 3, that of
the planar hand); the floating hand's palm is placed by one offset per object. In the published code a contact without force has no
exact gradient, so steps from it fail; here a step that no command moves leaves no node either.
"""


def text_of_times(facts: dict) -> str:
    times = [[TITLES[system], searches["published"]["published_s"], seconds(searches["published"]), seconds(searches["smoothed steps"]),
              PUBLISHED_S[system][0], seconds(searches["first-order samples"]), PUBLISHED_S[system][1], seconds(searches["zero-order samples"])]
             for system, searches in facts["systems"].items()]  # fmt: skip
    head = ["analytic, published [s]", "deft [s]", "deft, smoothed steps [s]", "first order, published [s]", "deft [s]",
            "zero order, published [s]", "deft [s]"]  # fmt: skip
    return f"""
## How long trees of {NODES} nodes take (Table III)

{table(["system", *head], times)}

Published on sixteen cores, here with two threads. Gradients of first and zero order are of 100 exact steps per node under noise of 0.1
(`plan.gradient`). Taken while the figures were made, on two cores of whatever machine that was, least and most of {SEEDS} seeds; `./run bench planning`
measures it on a quiet one.
"""


def text_of_small_trees(facts: dict) -> str:
    """What a hundred trees say that one picture does not."""
    trees = facts["trees"]
    packing, marks, own, other = trees["packing"], trees["marks"], trees["brooms"]["local"], trees["brooms"]["global"]
    words = lambda low, median, high: f"{median:.2f} ({low:.2f} … {high:.2f})"  # noqa: E731
    rows = [[mark, *(words(*values[k]) for values in packing.values()), f"{trees['local_more'][k]:.0%}"] for k, mark in enumerate(marks)]
    first = next((mark for k, mark in enumerate(marks) if min(trees["gains"][k:]) > 0), None)
    ahead = (
        f"The median difference is in favour of the local metric from {first} nodes on"
        if first
        else "At the end the median difference is not in favour of the local metric"
    )
    behind = list(itertools.takewhile(lambda k: trees["local_more"][k] < 0.5, range(len(marks))))
    at_first = (
        f"Other than published, the local metric packs more in less than half of the seeds up to {marks[behind[-1]]} nodes."
        if behind
        else ""
    )
    if own[1] > other[1]:
        at_first += " The brooms, too, are other than published."
    return f"""
## Small trees (Fig. 9)

{picture("single_step_trees")}

{SMALL} nodes on the hand whose ball only rises and turns; lines are steps, regrasps have none, the star is the goal. In the published
figure, one tree each, the local metric spreads the tree, and the global one grows brooms: the nearest node is asked again and again for
what it cannot do. Packing ratio, median and quartiles of {TREES} seeds, and in how many of them the local metric packs more:

{table(["nodes", *(f"{metric} metric" for metric in packing), "local packs more"], rows)}

{ahead}. {at_first} The broom of a tree, the most steps that were taken from one of its first {SMALL} nodes, has {own[1]:.0f} of them in the median with the
local metric ({own[0]:.0f} … {own[2]:.0f}) and {other[1]:.0f} with the global one ({other[0]:.0f} … {other[2]:.0f});
the global one's is the larger in {trees["global_broom_larger"]:.0%} of the seeds.
"""


def text(facts: dict) -> str:
    return f"""
# The baseline search: smoothing, metric, contacts

Source: T. Pang, H. J. T. Suh, L. Yang, R. Tedrake, *Global planning for contact-rich manipulation via local smoothing of
quasi-dynamic contact models*, IEEE T-RO 2023: Fig. 9, Fig. 11, Table III. Scenes: `scenes/planning` with
`scenes/planning/single_step`; `scenes/reproductions/planar_hand_fixed_y.deft.yaml`. Written by `./run reproduce single_step_search`.
{text_of_ideas(facts)}{text_of_times(facts)}{text_of_small_trees(facts)}"""
