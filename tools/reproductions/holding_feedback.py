"""The part of the study of plans that hold in which plans are executed under disturbances: open loop beside controllers, per system."""

from __future__ import annotations

from .experiment import table
from .holding_study import MISSING, Rows, Study, percentile, share

WORSE = {"position_m": 0.001, "rotation_rad": 0.01}  # than open loop: what counts as worse


def followed_plants(study: Study) -> dict[str, dict]:
    """Those in which a controller runs, by name; "open-loop" is one."""
    return {name: how for name, how in study.settings["plants"].items() if "controller" in how}


def executed_rows(study: Study, system: str, plant: str) -> Rows:
    """Of the plans that count as found."""
    found = {row["seed"] for row in study.found(system, "default")}
    return [row for row in study.rows(system, "default", plant) if row["seed"] in found]


def ratio_words(rows: Rows) -> str:
    """ "1.0, 1.8": p50 and p95 of how many times as long as the plan a run took; what is cut counts with the time it took."""
    ratios = [row["duration_s"] / row["plan_duration_s"] for row in rows if row["plan_duration_s"]]
    return f"{percentile(ratios, 0.5):.2f}, {percentile(ratios, 0.95):.2f}" if ratios else MISSING


def median_words(values: list[float]) -> str:
    return f"{percentile(values, 0.5):.3g}" if values else MISSING


def worse_words(rows: Rows, open_loop: Rows) -> str:
    """In how many pairs of the same plan, plant and disturbance the run ends further off than open loop, by more than WORSE."""
    others = {row["seed"]: row for row in open_loop}
    pairs = [(row, others[row["seed"]]) for row in rows if row["seed"] in others]
    off = lambda row, key: float("inf") if row[key] is None else row[key]  # noqa: E731
    worse = sum(any(off(row, key) > off(other, key) + bound for key, bound in WORSE.items()) for row, other in pairs)
    return f"{worse} of {len(pairs)}" if pairs else MISSING


def followed_rows(study: Study) -> list[list]:
    rows, plants = [], followed_plants(study)
    for name in study.systems():
        for k, (plant, how) in enumerate(plants.items()):
            own = executed_rows(study, name, plant)
            if not own:
                continue
            beside = [other for other, its in plants.items() if its["plant"] == how["plant"] and its["controller"] == "open-loop"]
            open_loop = executed_rows(study, name, beside[0]) if beside and beside[0] != plant else []
            rows.append([name if k == 0 else "", plant, share(sum(row["arrived"] for row in own), len(own)), ratio_words(own),
                         median_words([100 * row["held_s"] / row["duration_s"] for row in own if row["duration_s"]]),
                         median_words([float(row["new_plans"]) for row in own]), worse_words(own, open_loop),
                         median_words([row["period_p99_us"] / 1000 for row in own if row["period_p99_us"]])])  # fmt: skip
    return rows


def failure_rows(study: Study) -> list[list]:
    """How runs ended that did not arrive."""
    rows = []
    for name in study.systems():
        counts: dict[tuple[str, str], list[int]] = {}
        for plant in followed_plants(study):
            for row in executed_rows(study, name, plant):
                if not row["arrived"]:
                    counts.setdefault((plant, row["status"]), []).append(row["seed"])
        rows += [[name, plant, status, len(seeds), ", ".join(map(str, seeds[:6])) + (", …" if len(seeds) > 6 else "")]
                 for (plant, status), seeds in counts.items()]  # fmt: skip
    return rows


def feedback_words(study: Study) -> str:
    """Markdown; empty where nothing of the kind is asked for."""
    plants = followed_plants(study)
    if not plants:
        return ""
    kinds = "\n".join(f"- **{name}**: `deft track --plant {how['plant']} --controller {how['controller']}`, disturbed by `{how['disturb']}`"
                      + (f", {', '.join(how['set'])}" if how.get("set") else "") for name, how in plants.items())  # fmt: skip
    failures = failure_rows(study)
    return f"""
## Executed under disturbances

The plans found, each with a disturbance of its own, drawn from its seed:

{kinds}

Duration: of the plan's, p50 and p95. Standing: share of the time in which the command was held, p50. Worse: pairs in which feedback ends more than {1e3 * WORSE["position_m"]:g} mm or {WORSE["rotation_rad"]:g} rad
further off than open loop. Periods: p99 of the controller's time, two runs at once on the machine.

{table(["system", "", "arrive", "duration / plan's", "standing [%]", "new plans, p50", "worse", "period, p99 [ms]"], followed_rows(study))}

{table(["system", "", "ended as", "runs", "seeds"], failures) if failures else "All arrive."}
"""
