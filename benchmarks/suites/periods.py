"""How long a period of the tracking controller takes, raw, one run at a time on a quiet machine, searches for new plans beside it."""

from __future__ import annotations

from itertools import islice

from .holding_cells import PLANNING, Cell
from .plans_that_hold import Study, open_study
from .programs import Failed, say
from .recording import Request

HORIZONS = (1, 3, 10)
PLANS = 1  # of a system, the first of the pilot's seeds that holds
MOST_DURATION = 2  # of the plan's


def bench_periods(request: Request) -> dict:
    """Plans of the study's pilot (three seeds that the study has not), made and followed by the program of the working tree; arguments: systems (all)."""
    study = open_study(request.build, pilot=True)
    known = list(study.values("systems"))
    names = request.arguments or known
    if unknown := [name for name in names if name not in known]:
        raise Failed(f"periods: unknown argument {unknown[0]!r}; there are {', '.join(known)}")
    systems = {}
    print(f"{'system':24} {'seed':>7} {'N':>3} {'p50 [ms]':>9} {'p99 [ms]':>9}  ended")
    try:
        for name in names:
            systems[name] = periods_of(study, name)
            request.keep({"systems": systems})
    finally:
        study.stop()
    return {"systems": systems}


def periods_of(study: Study, system: str) -> list[dict]:
    """A row per plan and horizon, with the disturbances of the study and the seeds of its pilot."""
    cell = Cell(system, "default", PLANNING, 0)
    made = ((seed, study.plan_folder(cell, k), study.make_plan(cell, k)) for k, seed in enumerate(study.seeds))
    held = list(islice((one for one in made if one[2]["success"]), PLANS))  # no plan is made after these
    if not held:
        say(f"{system}: none of the plans of {len(study.seeds)} seeds holds")
    rows, disturb = [], study.values("plants", "feedback")["disturb"]
    for seed, folder, plan in held:
        for horizon in HORIZONS:
            summary = study.call(study.work / f"periods.{system}.{seed}.{horizon}", "track", str(folder), "--plant", "mujoco", "--disturb", disturb, "--seed", str(seed),
                                "--set", f"track.horizon={horizon}", "--max-duration", f"{MOST_DURATION * plan['duration_s']:g}")  # fmt: skip
            period = summary["period_us"]
            rows.append(
                {
                    "system": system,
                    "seed": seed,
                    "horizon": horizon,
                    "p50_us": period["p50"],
                    "p99_us": period["p99"],
                    "new_plans": summary["new_plans"],
                }
            )
            print(
                f"{system:24} {seed:>7} {horizon:>3} {period['p50'] / 1e3:9.2f} {period['p99'] / 1e3:9.2f}  {summary['status']}", flush=True
            )
    return rows
