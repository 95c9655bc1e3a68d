"""Shares of first plans that hold before and after `deft optimize`, with and without room in the friction cones."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from .programs import ROOT, DeftRuns, Failed, percentile, say
from .recording import Request

SYSTEMS = {"ball": "allegro_ball", "pen": "allegro_pen", "hand": "planar_hand"}
VARIANTS = {  # what differs from the scene's own settings
    "optimized": [],
    "without margins": ["optimize.cone_share=1", "optimize.force_weight=0"],
    "one world": ["optimize.corners=0"],
}
SEEDS, FIRST_SEED, TIME_LIMIT_S = 50, 1000, 10
THREADS = 2  # of each run


def rose(after: dict) -> bool:
    """Whether a plan that does not hold costs more than before; costs may be infinite (a word in JSON), or none."""
    known = after["cost"] is not None and after["cost_before"] is not None
    return known and not after["holds"] and float(after["cost"]) > float(after["cost_before"])


def optimize_one(runs: DeftRuns, scene: str, time_limit_s: float, variants: list[str], seed: int) -> dict | None:
    """What became of the first plan of a seed; none if there is no first plan."""
    folder, threads = runs.work / f"{scene}.{seed}", ("--threads", str(THREADS))
    first = runs.call(folder / "first", "plan", f"scenes/planning/{scene}.deft.yaml", "--first", "--seed", str(seed), *threads)
    if first["status"] != "Solved":
        return None
    row: dict = {"seed": seed, "steps": first["steps"]}
    for name in variants:
        sets = [word for value in VARIANTS[name] for word in ("--set", value)]
        after = runs.call(folder / "after", "optimize", str(folder / "first"), "--time-limit", f"{time_limit_s:g}", *threads, *sets)
        row["before"] = after["held_before"]
        row[name] = {"holds": after["success"], "time_s": after["time_s"], "duration_s": after["duration_s"], "cost": after["cost"],
                     "cost_before": after["cost_before"]}  # fmt: skip
        if rose(row[name]):
            raise Failed(f"{scene}, seed {seed}: the cost rose from {after['cost_before']} to {after['cost']}")
    shutil.rmtree(folder)
    say(f"{scene}  seed {seed}  " + "  ".join(f"{name}: {'holds' if row[name]['holds'] else 'does not hold'}" for name in variants))
    return row


def bench_optimize(request: Request) -> dict:
    """Arguments: systems (all unless given), --seeds N, --seed K (the first), --time-limit S, --only VARIANT, --at-once N (plans; two cores each)."""
    options = {"--seeds": str(SEEDS), "--seed": str(FIRST_SEED), "--time-limit": str(TIME_LIMIT_S), "--only": "", "--at-once": "1"}
    names: list[str] = []
    words = iter(request.arguments)
    for word in words:
        if word in options:
            options[word] = next(words, "")
        elif word in SYSTEMS:
            names.append(word)
        else:
            raise Failed(f"optimize: unknown argument {word!r}; there are {', '.join([*SYSTEMS, *options])}")
    variants = [options["--only"]] if options["--only"] else list(VARIANTS)
    if variants[0] not in VARIANTS:
        raise Failed(f"optimize: unknown variant {variants[0]!r}; there are {', '.join(VARIANTS)}")
    runs = DeftRuns(request.build, ROOT / "out/optimize")
    result: dict = {
        "time_limit_s": float(options["--time-limit"]),
        "first_seed": int(options["--seed"]),
        "systems": {},
    }
    print(
        f"{'system':10} {'plans':>5} {'hold at first':>14} "
        + " ".join(f"{name:>16}" for name in variants)
        + f" {'s, p50':>8} {'s, p95':>8}"
    )
    for name in names or list(SYSTEMS):
        one = partial(optimize_one, runs, SYSTEMS[name], result["time_limit_s"], variants)
        with ThreadPoolExecutor(int(options["--at-once"])) as pool:
            first = result["first_seed"]
            rows = [row for row in pool.map(one, range(first, first + int(options["--seeds"]))) if row is not None]
        result["systems"][name] = {"seeds": int(options["--seeds"]), "at_once": int(options["--at-once"]), "rows": rows}
        request.keep(result)
        times = [row[variants[0]]["time_s"] for row in rows if row[variants[0]]["holds"]]
        shares = " ".join(f"{sum(row[v]['holds'] for row in rows):>16}" for v in variants)
        p50, p95 = percentile(times, 0.5), percentile(times, 0.95)
        print(f"{name:10} {len(rows):>5} {sum(row['before'] for row in rows):>14} {shares} {p50 or 0:8.2f} {p95 or 0:8.2f}", flush=True)
    return result
