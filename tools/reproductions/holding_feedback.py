"""The part of the study of plans that hold in which plans are executed under disturbances: open loop beside controllers, per system."""

from __future__ import annotations

from .experiment import record_words, table
from .holding_study import FEW, MISSING, Rows, Study, met, part_verdict, percentile, share, verdict

PERIOD_MS = 5  # of the controller: `track.period` unless a scene says otherwise
WORSE = {"position_m": 0.001, "rotation_rad": 0.01}  # than open loop: what counts as worse


def followed_plants(study: Study) -> dict[str, dict]:
    """Those in which a controller runs, by name; "open-loop" is one."""
    return {name: how for name, how in study.settings["plants"].items() if "controller" in how}


def executed_rows(study: Study, system: str, plant: str, variant: str = "default") -> Rows:
    """Of the plans that count as found."""
    found = {row["seed"] for row in study.found(system, variant)}
    return [row for row in study.rows(system, variant, plant) if row["seed"] in found]


def ratios(rows: Rows) -> list[float]:
    """How many times as long as the plan each run took; what is cut counts with the time it took."""
    return [row["duration_s"] / row["plan_duration_s"] for row in rows if row["plan_duration_s"]]


def ratio_words(rows: Rows) -> str:
    """ "1.0, 1.8": p50 and p95."""
    known = ratios(rows)
    return f"{percentile(known, 0.5):.2f}, {percentile(known, 0.95):.2f}" if known else MISSING


def standing(rows: Rows) -> list[float]:
    """Shares of the runs' time in which the command was held, in per cent."""
    return [100 * row["held_s"] / row["duration_s"] for row in rows if row["duration_s"]]


def median_words(values: list[float]) -> str:
    return f"{percentile(values, 0.5):.3g}" if values else MISSING


def off_by(row: dict, key: str) -> float:
    return float("inf") if row[key] is None else row[key]


def pairs_of(rows: Rows, open_loop: Rows) -> list[tuple[dict, bool]]:
    """Runs that have one of the same plan, plant and disturbance without feedback, and whether they end further off in any error, by more than WORSE."""
    others = {row["seed"]: row for row in open_loop}
    pairs = [(row, others[row["seed"]]) for row in rows if row["seed"] in others]
    return [(row, any(off_by(row, key) > off_by(other, key) + bound for key, bound in WORSE.items())) for row, other in pairs]


def worse_pairs(rows: Rows, open_loop: Rows) -> tuple[int, int]:
    """In how many pairs the run ends further off than open loop; and how many pairs there are."""
    pairs = pairs_of(rows, open_loop)
    return sum(worse for _, worse in pairs), len(pairs)


def worse_but_arrived(study: Study) -> tuple[int, int]:
    """Of all pairs of feedback that the settings judge: how many of the worse ones arrive, and how many are worse."""
    worse = [row for name in study.systems() for plant, how in followed_plants(study).items() if how.get("feedback_bar")
             for row, is_worse in pairs_of(executed_rows(study, name, plant), open_loop_of(study, name, plant)) if is_worse]  # fmt: skip
    return sum(row["arrived"] for row in worse), len(worse)


def worse_words(rows: Rows, open_loop: Rows) -> str:
    worse, count = worse_pairs(rows, open_loop)
    return f"{worse} of {count}" if count else MISSING


def open_loop_of(study: Study, system: str, plant: str) -> Rows:
    """The runs without feedback in the same simulator under the same disturbances; none beside themselves."""
    plants = followed_plants(study)
    same = [name for name, how in plants.items() if how["plant"] == plants[plant]["plant"] and how["controller"] == "open-loop"]
    return executed_rows(study, system, same[0]) if same and same[0] != plant else []


def feedback_bar_rows(study: Study) -> list[list]:
    """What was asked of feedback, per system and plant that the settings name for it."""
    bars, rows = study.settings["bars"].get("feedback"), []
    for name, system in study.systems().items() if bars else ():
        for plant in (plant for plant, how in followed_plants(study).items() if how.get("feedback_bar")):
            own = executed_rows(study, name, plant)
            if not own:
                continue
            good, asked, known = sum(row["arrived"] for row in own), bars["arrive"][system["group"]], ratios(own)
            worse, pairs = worse_pairs(own, open_loop_of(study, name, plant))
            left, still = study.seeds_left(name, plant), standing(own)
            said = [verdict(good, len(own), left, asked), *(part_verdict(known, part, left, bars[f"duration_p{100 * part:.0f}"]) for part in (0.5, 0.95)),
                    part_verdict(still, 0.5, left, bars["standing_p50_percent"]), verdict(pairs - worse, pairs, left, 1 - bars["worse"]) if pairs else MISSING]  # fmt: skip
            behind = [f"{good} of {len(own)}; {100 * asked:g} %", *(f"{percentile(known, part):.2f}" for part in (0.5, 0.95)),
                      f"{percentile(still, 0.5):.2g} %", f"{worse} of {pairs}"]  # fmt: skip
            rows.append([name, plant, *(f"{words if len(own) >= FEW else 'too few'} ({figure})" for words, figure in zip(said, behind))])
    return rows


def followed_rows(study: Study) -> list[list]:
    rows, plants = [], followed_plants(study)
    for name in study.systems():
        for k, plant in enumerate(plants):
            own = executed_rows(study, name, plant)
            if not own:
                continue
            open_loop = open_loop_of(study, name, plant)
            rows.append([name if k == 0 else "", plant, share(sum(row["arrived"] for row in own), len(own)), ratio_words(own),
                         median_words(standing(own)),
                         median_words([float(row["new_plans"]) for row in own]), worse_words(own, open_loop),
                         median_words([row["period_p99_us"] / 1000 for row in own if row["period_p99_us"]])])  # fmt: skip
    return rows


def failure_rows(study: Study, variant: str = "default") -> list[list]:
    """How runs ended that did not arrive."""
    rows = []
    for name in study.systems():
        counts: dict[tuple[str, str], list[int]] = {}
        for plant in followed_plants(study):
            for row in executed_rows(study, name, plant, variant):
                if not row["arrived"]:
                    counts.setdefault((plant, row["status"]), []).append(row["seed"])
        rows += [[name, plant, status, len(seeds), ", ".join(map(str, seeds[:6])) + (", …" if len(seeds) > 6 else "")]
                 for (plant, status), seeds in counts.items()]  # fmt: skip
    return rows


def period_words(study: Study) -> str:
    """What a period of the controller takes, alone on the machine, beside what was asked."""
    if study.periods is None:
        return ""
    most, rows = study.settings["bars"].get("feedback", {}).get("period_p99_ms", {}), []
    horizons = sorted({row["horizon"] for own in study.periods["systems"].values() for row in own})
    slowest = lambda own, key: max(row[key] for row in own) / 1e3  # noqa: E731
    for name, system in study.systems().items():
        recorded = study.periods["systems"].get(name, [])
        if not recorded:
            continue
        each = [[row for row in recorded if row["horizon"] == horizon] for horizon in horizons]
        asked, longest = most.get(system["group"]), slowest(each[-1], "p99_us")
        rows.append([name, *(f"{slowest(own, 'p50_us'):.2f}, {slowest(own, 'p99_us'):.2f}" for own in each),
                     MISSING if asked is None else f"{met(longest, asked, at_least=False)} ({asked:g} ms)"])  # fmt: skip
    return f"""
Control periods in milliseconds, p50 and p99, raw, of one plan of a pilot seed per system: one run at a time and nothing else on the machine but its search for new plans (`./run bench periods --record`; {record_words(study.periods["sources"])}).

{table(["system", *(f"N = {horizon}" for horizon in horizons), f"p99 at N = {horizons[-1]}"], rows)}
"""


def late_words(study: Study) -> str:
    """In how many runs of controllers the slowest hundredth of the periods took longer than a period lasts."""
    taken = [row["period_p99_us"] / 1e3 for name in study.systems() for plant, how in followed_plants(study).items() if how["controller"] != "open-loop"
             for row in executed_rows(study, name, plant) if row["period_p99_us"]]  # fmt: skip
    late = sum(value > PERIOD_MS for value in taken)
    return f"p99 is above {PERIOD_MS} ms in {late} of {len(taken)} runs with a controller" if taken else "none were recorded"


def feedback_words(study: Study, picture: str = "") -> str:
    """Markdown; empty where nothing of the kind is asked for."""
    plants = followed_plants(study)
    if not plants:
        return ""
    kinds = "\n".join(f"- **{name}**: `deft track --plant {how['plant']} --controller {how['controller']}`, disturbed by `{how['disturb']}`"
                      + (f", {', '.join(how['set'])}" if how.get("set") else "") for name, how in plants.items())  # fmt: skip
    failures, asked = failure_rows(study), feedback_bar_rows(study)
    heads = ["system", "", "arrive", "duration, p50", "p95", "standing, p50", "worse than open loop"]
    bars = study.settings["bars"].get("feedback")
    arrived, worse = worse_but_arrived(study)
    words = (f"What was asked: durations of at most {bars['duration_p50']:g} (p50) and {bars['duration_p95']:g} times (p95) the plan's, "
             f"standing at most {bars['standing_p50_percent']:g} %, worse than open loop in at most {100 * bars['worse']:g} % of pairs; fewer than {FEW} runs say neither.\n\n"
             f"{table(heads, asked)}\n\nOf {worse} pairs in which feedback is worse {arrived} arrive all the same: a run ends where it has arrived, "
             "anywhere within the tolerance.\n") if bars and asked else ""  # fmt: skip
    return f"""
## Executed under disturbances

The plans found, each with a disturbance of its own, drawn from its seed:

{kinds}

The plant waits for the controller: what a period takes on the machine is not charged to the run. On a robot a period of {PERIOD_MS} ms that takes longer comes late; {late_words(study)},
two of them at once on the machine.

Duration: of the plan's, p50 and p95. Standing: share of the time in which the command was held, p50. Worse: pairs in which feedback ends more than {1e3 * WORSE["position_m"]:g} mm or {WORSE["rotation_rad"]:g} rad
further off than open loop. Periods: p99 of the controller's time, two runs at once on the machine.

{table(["system", "", "arrive", "duration / plan's", "standing [%]", "new plans, p50", "worse", "period, p99 [ms]"], followed_rows(study))}

{picture}

{words}
{table(["system", "", "ended as", "runs", "seeds"], failures) if failures else "All arrive."}
{period_words(study)}"""
