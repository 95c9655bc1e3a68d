"""What was asked for after the study of plans that hold, outside its bars: first plans beside plans that hold, and the ball's plant over its damping."""

from __future__ import annotations

from .experiment import table
from .holding_feedback import executed_rows, failure_rows, median_words, standing
from .holding_study import LOST_M, MISSING, NOT_RUN, Study, percentile, share

KINDS = {"first": "first", "default": "holds"}  # variants that are compared
EXECUTED = ("open", "one-step", "ten-step", "feedback")


def kind_rows(study: Study) -> list[list]:
    """Where first plans and plans that hold lead: undisturbed, and disturbed with each controller."""
    rows = []
    for name in study.systems():
        for k, (variant, word) in enumerate(KINDS.items()):
            found = len(study.found(name, variant)) if study.rows(name, variant) else NOT_RUN
            arrived = study.arrivals(name, variant, "feedback")[0]
            of_all = f"{arrived} of {len(study.rows(name, variant))}" if is_known(study, name, variant) else MISSING
            plants = (study.arrival_words(name, variant, plant) for plant in ("mujoco", *EXECUTED))
            rows.append([name if k == 0 else "", word, found, *plants, of_all])
    return rows


def is_known(study: Study, name: str, variant: str) -> bool:
    """Whether what becomes of every seed with feedback is known: its plan was executed, or it has none."""
    rows = study.rows(name, variant)
    return bool(rows) and study.arrivals(name, variant, "feedback")[1] == len(study.found(name, variant))


def of_all_words(study: Study) -> str:
    """Over the systems of which both kinds are known: how many of all seeds arrive with feedback; where they differ."""
    both = [name for name in study.systems() if all(is_known(study, name, variant) for variant in KINDS)]
    if not both:
        return ""
    arrived = {variant: [study.arrivals(name, variant, "feedback")[0] for name in both] for variant in KINDS}
    seeds = {variant: sum(len(study.rows(name, variant)) for name in both) for variant in KINDS}
    first, holds = (sum(arrived[variant]) for variant in KINDS)
    apart = {word: [f"{name} ({one} against {other})" for name, one, other in zip(both, arrived["first"], arrived["default"]) if sign * (one - other) > 0]
             for word, sign in (("more", 1), ("fewer", -1))}  # fmt: skip
    return f"""Of all seeds of the {len(both)} systems of which both are known, with feedback: {share(first, seeds["first"])} arrive from first plans, {share(holds, seeds["default"])} with
plans that hold, which are not found for every seed. From first plans {"; ".join(f"{word} arrive of {', '.join(names)}" for word, names in apart.items() if names)}."""


def middle_and_most(values: list[float]) -> str:
    return f"{percentile(values, 0.5):.3g}, {max(values):.3g}" if values else MISSING


def duration_rows(study: Study) -> list[list]:
    """How long plans and runs last; new plans, and the time in which the robot stood."""
    rows = []
    for name in study.systems():
        for variant, word in KINDS.items():
            own = {plant: executed_rows(study, name, plant, variant) for plant in EXECUTED}
            if not any(own.values()):
                continue
            feedback = own["feedback"]
            rows.append([name, word, middle_and_most([row["duration_s"] for row in study.found(name, variant)]),
                         *(middle_and_most([row["duration_s"] for row in own[plant]]) for plant in ("open", "feedback")),
                         middle_and_most([float(row["new_plans"]) for row in feedback]), median_words(standing(feedback))])  # fmt: skip
    return rows


def damped_plants(study: Study) -> dict[str, dict]:
    return {name: how for name, how in study.settings["plants"].items() if "object_damping" in how}


def damping_words(how: dict) -> tuple[str, str]:
    """Damping of the plant [1/s], and whether its contacts resist rolling."""
    return f"{how['object_damping']:g}", "no" if "friction.rolling=0" in how.get("set", []) else "yes"


def damping_rows(study: Study) -> list[list]:
    """Feedback with first plans in plants that damp the object more or less, and in one whose contacts resist rolling."""
    rows = []
    for plant, how in damped_plants(study).items():
        for variant in how["variants"]:
            for name in study.settings["variants"][variant]["systems"]:
                own = executed_rows(study, name, plant, variant)
                lost = sum(row["position_m"] is None or row["position_m"] > LOST_M for row in own)
                rows.append([name, *damping_words(how), study.arrival_words(name, variant, plant), lost if own else MISSING,
                             middle_and_most([row["duration_s"] for row in own]),
                             middle_and_most([float(row["new_plans"]) for row in own])])  # fmt: skip
    return rows


def replaced_words(study: Study) -> str:
    """Results that stood here before their rows were made again, and why; nothing if there are none."""
    if not study.replaced:
        return ""
    rows = [[old["system"], old["plant"], f"{old['arrived']}/{old['runs']}", study.arrival_words(old["system"], old["variant"], old["plant"]), old["date"], old["processor"], old["history"]]
            for old in study.replaced]  # fmt: skip
    return f"""
### Rows of first plans that were made again

Plans are not kept, and rounding, which differs from one kind of processor to the next, makes another plan of the same seed. Where feedback was
added on another machine all cells of the row were therefore made again there and took the place of these, which the history of the repository has
at the commit named:

{table(["system", "plant", "before", "now", "made on", "processor", "commit"], rows)}
"""


def reason_words(rows: list[list]) -> str:
    return table(["system", "", "ended as", "runs", "seeds"], rows) if rows else "Nothing failed, or nothing was run."


def beside_words(study: Study) -> str:
    """Markdown."""
    damped = {variant for how in damped_plants(study).values() for variant in how["variants"]}
    return f"""## First plans with feedback

Asked for after the study and outside its bars (`beside.json`, fixed by a commit before it was run): with the study's program, seeds, plants and tolerances.
"first": `deft plan --first`, a plan at h; "holds": the study's own. Undisturbed in MuJoCo, then under all disturbances with each controller.

{table(["system", "plans", "found", "undisturbed", *(name.replace("-", " ") for name in EXECUTED), "feedback, of all seeds"], kind_rows(study))}

{of_all_words(study)}

Durations in seconds, median and largest; new plans, likewise; share of the time in which the robot stood, median.

{table(["system", "plans", "plan", "open loop", "feedback", "new plans", "standing [%]"], duration_rows(study))}

How runs of first plans ended that did not arrive:

{reason_words(failure_rows(study, "first"))}

### What the ball's plant does to the result

First plans of the ball with feedback under all disturbances, twenty seeds. Damping: γ of a force −γ M v on the ball, which no real ball feels; rolling: contacts resist
rolling by the scene's `friction.rolling`, the physical kind. Lost: more than {LOST_M:g} m off at the end. Durations [s] and new plans: median, largest.

{table(["system", "γ [1/s]", "rolling friction", "arrive", "lost", "duration [s]", "new plans"], damping_rows(study))}

{"".join(reason_words(failure_rows(study, variant)) for variant in sorted(damped))}
{replaced_words(study)}"""
