"""How often `deft plan` finds a first plan at the scene's step length, and how fast, per system over seeds, from recorded runs."""

from __future__ import annotations

from .experiment import Laboratory, baseline, recorded_words, short, table
from .holding_study import MISSING, percentile, share

COULOMB = "-coulomb"


def measure(lab: Laboratory) -> dict:
    """What was recorded; nothing is run here."""
    nothing: dict = {"systems": {}, "sources": []}
    return {**(baseline("plans") or nothing), "new": baseline("new-scenes") or nothing}


def draw(result: dict) -> None:
    """The page has no figure."""


def seconds(values: list[float], part: float) -> str:
    return f"{percentile(values, part):.2g}" if values else MISSING


def middle(values: list[float]) -> str:
    return f"{percentile(values, 0.5):g}" if values else MISSING


def needs_more(row: dict) -> bool:
    """Whether the plan had to do more than lead to the goal at h: to hold at shorter steps, or to get better for a time."""
    return any(word.startswith(("plan.refine", "plan.improve_s")) for word in row["options"])


def option_words(options: list[str]) -> str:
    """Options, of those given twice the last."""
    last = {word: k for k, word in enumerate(options) if word.startswith("--") and word not in ("--set", "--random")}
    dropped = {k for k, word in enumerate(options) for at in [last.get(word)] if at is not None and k != at}
    return " ".join(word for k, word in enumerate(options) if k not in dropped and k - 1 not in dropped) or "–"


def success_rows(systems: dict[str, dict], held: bool) -> list[list]:
    """Plans at h, or those that had to do more, with how many hold at h/2 and h/5."""
    return [[f"{row['scene']}, `{row['goal']}`", option_words(row["options"]), share(row["found"], row["seeds"]), *([f"{row['hold_refined']} of {row['found']}"] * held), seconds(row["first_s"], 0.5),
             seconds(row["first_s"], 0.95), middle(row["steps"]), middle(row["regrasps"]), "; ".join(f"{count} {why}" for why, count in row["failures"].items()) or "–"]
            for row in systems.values() if needs_more(row) == held]  # fmt: skip


def law_rows(systems: dict[str, dict]) -> list[list]:
    """Systems that were planned under both laws: the seeds that both have, where the larger set found all; first seeds are the same."""
    pairs = [
        (systems[name.removesuffix(COULOMB)], row)
        for name, row in systems.items()
        if name.endswith(COULOMB) and name.removesuffix(COULOMB) in systems
    ]
    rows = []
    for plain, coulomb in pairs:
        count = coulomb["seeds"]
        assert plain["found"] == plain["seeds"] >= count  # so that its times are by seed
        rows.append(
            [
                plain["scene"],
                share(coulomb["found"], count),
                seconds(coulomb["first_s"], 0.5),
                share(count, count),
                seconds(plain["first_s"][:count], 0.5),
            ]
        )
    return rows


def latest(systems: dict[str, dict], robot: str, thing: str, first: bool) -> dict | None:
    """What was recorded of a robot with an object in the last version of that study, the one with the highest seeds."""
    rows = [row for row in systems.values() if (row["robot"], row["object"], row["first"]) == (robot, thing, first)]
    return max(rows, key=lambda row: row["first_seed"], default=None)


def runs_words(row: dict | None) -> str:
    return share(sum(run["success"] for run in row["runs"]), len(row["runs"])) if row else MISSING


def first_times(row: dict) -> list[float]:
    return sorted(run["first_solution_s"] for run in row["runs"] if run["first_solution_s"] is not None)


def new_rows(systems: dict[str, dict]) -> list[list]:
    """Robots with objects: first plans and those that hold, beside each other."""
    rows = []
    for robot, thing in dict.fromkeys((row["robot"], row["object"]) for row in systems.values()):
        first, holding = (latest(systems, robot, thing, option) for option in (True, False))
        known = first or holding
        assert known is not None
        times = first_times(known)
        rows.append([robot, thing, f"`{known['goal']}`", runs_words(first), seconds(times, 0.5), seconds(times, 1), runs_words(holding)])
    return rows


def earlier_row(row: dict, source: dict) -> list:
    """What a later version of the planner replaced, with its seeds."""
    times, kind = first_times(row), "first" if row["first"] else "holds"
    return [row["robot"], row["object"], kind, row["first_seed"], runs_words(row), seconds(times, 0.5), seconds(times, 1), short(source["commit"])]  # fmt: skip


def new_text(systems: dict[str, dict], sources: list[dict], limit_s: float | None) -> str:
    now: list[tuple[dict, dict]] = []
    earlier: list[tuple[dict, dict]] = []
    for row, source in zip(systems.values(), sources, strict=True):
        (now if row is latest(systems, row["robot"], row["object"], row["first"]) else earlier).append((row, source))
    seeds = sorted({row["first_seed"] for row, _ in now})
    limit = f"At most {limit_s:g} s a seed, seeds from {' or '.join(map(str, seeds))}. " if limit_s is not None else ""
    before = f"""
Versions of the planner before, each with seeds of its own, for those that came after were chosen with what these had shown:

{table(["robot", "object", "plan", "seeds from", "found", "p50 [s]", "longest [s]", "commit"], [earlier_row(*pair) for pair in earlier])}
"""
    return f"""`deft new ROBOT OBJECT --goal GOAL` writes a scene, `deft plan` plans for it as it is: hands turn the object, arms move it. `./run bench new-scenes ROBOT…`, with
`--first` and without. {limit}{recorded_words([source for _, source in now])}
First plans as above; those that hold do so before all judges of `plan.judges` ([plans that hold](plans_that_hold.md)).

{table(["robot", "object", "goal", "first plan found", "p50 [s]", "longest [s]", "plan that holds found"], new_rows(systems))}
{before if earlier else ""}"""


def text(result: dict) -> str:
    systems, limit = result["systems"], f"{result['time_limit_s']:g} s" if "time_limit_s" in result else MISSING
    recorded, new = recorded_words(result["sources"]), result["new"]
    return f"""
# First plans

Written by `./run reproduce first_plans` from what `./run bench plans --record` recorded. {recorded}

The first plan at the step length of the scene, `plan.judges: [h]`, all threads of the machine, at most {limit} a seed, seeds from {result.get("first_seed", MISSING)}, with which no setting was chosen; it holds with other steps and in other worlds by
chance: the page [plans that hold](plans_that_hold.md) has those that do. Shares with Wilson's interval of `95 %`; times of the seeds that found one.

{table(["system", "options", "found", "first plan, p50 [s]", "p95 [s]", "steps, p50", "regrasps, p50", "why seeds failed"], success_rows(systems, False))}

Asked for more: `plan.refine=[2, 5]` plans have to hold at h/2 and h/5 too; with `plan.improve_s=5` the plan is improved for five seconds. The first plan's time is still that at h;
steps and regrasps are those of the plan in the end.

{table(["system", "options", "found", "hold at h/2 and h/5", "first plan at h, p50 [s]", "p95 [s]", "steps, p50", "regrasps, p50", "why seeds failed"], success_rows(systems, True))}

## Under Coulomb's law

`--set step.friction_law=coulomb` plans with contacts that slide without separating: exact steps and the smoothed ones of the gradients. The first seeds of both, as many as the law was planned with.

{table(["system", "Coulomb's law: found", "first plan, p50 [s]", "associated law: found", "first plan, p50 [s]"], law_rows(systems))}

## From a model file

{new_text(new["systems"], new["sources"], new.get("time_limit_s")).rstrip()}
"""
