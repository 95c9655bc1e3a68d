"""Success of the planner over seeds, for every system of scenes/planning."""

from __future__ import annotations

from .programs import Failed, output_of, say
from .recording import Request

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
} | {f"cube-{goal}": ("allegro_cube", ["--goal", goal, "--seeds", "10"]) for goal in CUBE}


def bench_plans(request: Request) -> list[str]:
    """Arguments: systems (all unless given), then options of planning_benchmark for all of them (--seeds 20 --threads 1)."""
    first = next((i for i, word in enumerate(request.arguments) if word.startswith("-")), len(request.arguments))
    names, options = request.arguments[:first] or list(SYSTEMS), request.arguments[first:]
    lines = []
    for name in names:
        if name not in SYSTEMS:
            raise Failed(f"plans: unknown system {name!r}; there are {', '.join(SYSTEMS)}")
        scene, fixed = SYSTEMS[name]
        say(name)
        text = output_of([str(request.build / "benchmarks/planning_benchmark"), "--threads", "0", "--set", "plan.time_limit_s=60", "--set", "plan.judges=[h]", *fixed, *options,
                          f"scenes/planning/{scene}.deft.yaml"])  # fmt: skip
        print(text, end="", flush=True)
        lines += text.splitlines()
    return lines
