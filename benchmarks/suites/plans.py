"""Success of the planner over seeds, for every system of scenes/planning."""

from __future__ import annotations

import json

from .programs import Failed, output_of, percentile, say
from .recording import Request

LIMIT_S = 60  # of each seed
FIRST_SEED = 70001  # and after: no setting was chosen with these
CUBE = [
    f"{face}_up_{turn}"
    for face in ("z", "y", "minus_z", "minus_y", "minus_x", "x")
    for turn in (90, 180, 270, 0)
    if (face, turn) != ("z", 0)
]
PLANE = ["--seeds", "200"]
ANYWHERE = ["--random", "y", "-1", "1", "--random", "z", "-1", "1", "--random", "theta", "-3.1416", "3.1416"]
IN_THE_HAND = ["--random", "y", "-0.1", "0.1", "--random", "z", "0.32", "0.42", "--random", "theta", "-3.1416", "3.1416"]
FINER = ["--seeds", "50", "--set", "plan.refine=[2, 5]"]
CLOSE = ["--seeds", "100", "--set", "goals.down.tolerance.position=0.001", "--set", "goals.down.tolerance.rotation=0.005"]
IMPROVED = ["--seeds", "20", "--set", "plan.improve_s=5"]
SYSTEMS = {
    "pushing": ("planar_pushing", PLANE),
    "pushing-random": ("planar_pushing", [*PLANE, *ANYWHERE]),
    "hand": ("planar_hand", PLANE),
    "hand-random": ("planar_hand", [*PLANE, *IN_THE_HAND]),
    "hand-gravity": ("planar_hand", [*PLANE, "--set", "gravity=[0, 0, -10]"]),
    "pushing-close": ("planar_pushing", CLOSE),
    "pushing-random-close": ("planar_pushing", [*CLOSE, *ANYWHERE]),
    "pushing-improved": ("planar_pushing", IMPROVED),
    "pushing-random-improved": ("planar_pushing", [*IMPROVED, *ANYWHERE]),
    "hand-improved": ("planar_hand", IMPROVED),
    "hand-random-improved": ("planar_hand", [*IMPROVED, *IN_THE_HAND]),
    "hand-gravity-improved": ("planar_hand", [*IMPROVED, "--set", "gravity=[0, 0, -10]"]),
    "pushing-refined": ("planar_pushing", FINER),
    "pushing-random-refined": ("planar_pushing", [*FINER, *ANYWHERE]),
    "hand-refined": ("planar_hand", FINER),
    "hand-random-refined": ("planar_hand", [*FINER, *IN_THE_HAND]),
    "ball": ("allegro_ball", []),
    "pen": ("allegro_pen", []),
    "door": ("allegro_door", []),
    "plate": ("allegro_plate", ["--goal", "upright"]),
    "plate-published": ("allegro_plate", ["--goal", "published"]),
    "planar-bimanual": ("planar_bimanual", []),
    "bimanual": ("bimanual_cylinder", []),
    "box": ("bimanual_box", []),
    "book": ("book_pivot", []),
    "mug": ("mug_turn", ["--seeds", "50"]),
    "bottle": ("bottle_roll", ["--seeds", "50"]),
    "hammer": ("hammer_pivot", ["--seeds", "50"]),
} | {f"cube-{goal}": ("allegro_cube", ["--goal", goal, "--seeds", "10"]) for goal in CUBE}


COULOMB = ["--set", "step.friction_law=coulomb"]
SYSTEMS |= {f"{name}-coulomb": (scene, [*fixed, *COULOMB, "--seeds", "20"]) for name in ("pushing", "hand", "planar-bimanual", "ball", "door", "box")
            for scene, fixed in [SYSTEMS[name]]}  # fmt: skip


def bench_plans(request: Request) -> dict:
    """Rows of planning_benchmark by system; arguments: systems (all unless given), then options of planning_benchmark for all of them (--seeds 20 --threads 1)."""
    first = next((i for i, word in enumerate(request.arguments) if word.startswith("-")), len(request.arguments))
    names, options = request.arguments[:first] or list(SYSTEMS), request.arguments[first:]
    found: dict[str, dict] = {}
    print(f"{'system':26} {'found':>9} {'first plan, p50':>16} {'p95':>9} {'steps':>6} {'regrasps':>9}")
    for name in names:
        if name not in SYSTEMS:
            raise Failed(f"plans: unknown system {name!r}; there are {', '.join(SYSTEMS)}")
        scene, fixed = SYSTEMS[name]
        say(name)
        text = output_of([str(request.build / "benchmarks/planning_benchmark"), "--threads", "0", "--set", f"plan.time_limit_s={LIMIT_S}", "--set", "plan.judges=[h]", "--first-seed", str(FIRST_SEED),
                          *fixed, *options, "--json", f"scenes/planning/{scene}.deft.yaml"])  # fmt: skip
        row = json.loads(text)
        found[name] = {**row, "options": [*fixed, *options]}
        words = [f"{percentile(row[key], share):.3g}" if row[key] else "-" for key, share in (("first_s", 0.5), ("first_s", 0.95), ("steps", 0.5), ("regrasps", 0.5))]  # fmt: skip
        print(f"{name:26} {row['found']:>4}/{row['seeds']:<4} {words[0]:>14} s {words[1]:>7} s {words[2]:>6} {words[3]:>9}", flush=True)
        for why, count in row["failures"].items():
            print(f"  {count} failed: {why}")
        request.keep({"systems": found, "time_limit_s": LIMIT_S, "first_seed": FIRST_SEED})
    return {"systems": found, "time_limit_s": LIMIT_S, "first_seed": FIRST_SEED}
