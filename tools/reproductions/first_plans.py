"""How often `deft plan` finds a first plan at the scene's step length, and how fast, per system over seeds, from recorded runs."""

from __future__ import annotations

from .experiment import Laboratory, baseline, record_words, table
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


def success_rows(systems: dict[str, dict]) -> list[list]:
    return [[f"{row['scene']}, `{row['goal']}`", " ".join(row["options"]) or "–", share(row["found"], row["seeds"]), seconds(row["first_s"], 0.5),
             seconds(row["first_s"], 0.95), middle(row["steps"]), middle(row["regrasps"]), "; ".join(f"{count} {why}" for why, count in row["failures"].items()) or "–"]
            for row in systems.values()]  # fmt: skip


def law_rows(systems: dict[str, dict]) -> list[list]:
    """Systems that were planned under both laws."""
    pairs = [
        (systems[name.removesuffix(COULOMB)], row)
        for name, row in systems.items()
        if name.endswith(COULOMB) and name.removesuffix(COULOMB) in systems
    ]
    return [[plain["scene"], *(word for row in (coulomb, plain) for word in (share(row["found"], row["seeds"]), seconds(row["first_s"], 0.5)))] for plain, coulomb in pairs]  # fmt: skip


def new_rows(systems: dict[str, dict]) -> list[list]:
    """Robots with objects: first plans and those that hold, beside each other."""
    rows = []
    for robot, thing in dict.fromkeys((row["robot"], row["object"]) for row in systems.values()):
        first, holding = (systems.get(f"{robot} {thing}{option}") for option in (" --first", ""))
        known = first or holding
        assert known is not None
        shares = [share(sum(run["success"] for run in row["runs"]), len(row["runs"])) if row else MISSING for row in (first, holding)]
        times = sorted(run["first_solution_s"] for run in known["runs"] if run["first_solution_s"] is not None)
        rows.append([robot, thing, f"`{known['goal']}`", shares[0], seconds(times, 0.5), seconds(times, 1), shares[1]])
    return rows


def recorded_words(sources: list[dict]) -> str:
    return f"Recorded {record_words(sources)}" if sources else "**Nothing has been recorded yet.**"


def text(result: dict) -> str:
    systems, limit = result["systems"], f"{result['time_limit_s']:g} s" if "time_limit_s" in result else MISSING
    recorded, new = recorded_words(result["sources"]), result["new"]
    return f"""
# First plans

Written by `./run reproduce first_plans` from what `./run bench plans --record` recorded. {recorded}

The first plan at the step length of the scene, `plan.judges: [h]`, all threads of the machine, at most {limit} a seed, seeds from {result.get("first_seed", MISSING)}, with which no setting was chosen; it holds with other steps and in other worlds by
chance alone: the page [plans that hold](plans_that_hold.md) has those that do. Shares with Wilson's interval of `95 %`; times of the seeds that found one.

{table(["system", "options", "found", "first plan, p50 [s]", "p95 [s]", "steps, p50", "regrasps, p50", "why seeds failed"], success_rows(systems))}

## Under Coulomb's law

`--set step.friction_law=coulomb` plans with contacts that slide without separating: exact steps and the smoothed ones of the gradients.

{table(["system", "Coulomb's law: found", "first plan, p50 [s]", "associated law: found", "first plan, p50 [s]"], law_rows(systems))}

## From a model file

`deft new ROBOT OBJECT --goal GOAL` writes a scene, `deft plan` plans for it as it is: hands turn the object, arms move it. `./run bench new-scenes ROBOT…`, with
`--first` and without. {f"At most {new['time_limit_s']:g} s a seed, seeds from {new['first_seed']}. " if "first_seed" in new else ""}{recorded_words(new["sources"])}
First plans as above; those that hold do so before all judges of `plan.judges` ([plans that hold](plans_that_hold.md)).

{table(["robot", "object", "goal", "first plan found", "p50 [s]", "longest [s]", "plan that holds found"], new_rows(new["systems"]))}
"""
