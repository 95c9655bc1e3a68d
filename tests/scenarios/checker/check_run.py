"""Checks a run: every step against the laws, rebuilt from the scene file; every status against what it claims."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from . import outlines
from .equations import WITH_MOMENTUM, Contact, build, displacement, load
from .modes import Modes
from .supports import Support
from .world import Place, World

# Relative errors of a law; what the program promises for its own, scaled, residuals is 1e-8.
LAW = 1e-7
GEOMETRY = 1e-9
ROUNDING = 1e-13  # [m]
SOLVED = ("Solved", "NotUnique")


@dataclass
class CheckReport:
    """What was found wrong (one line each), and the largest error of each law."""

    wrong: list[str] = field(default_factory=list)
    errors: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    statuses: dict[str, int] = field(default_factory=dict)

    def hold(self, law: str, k: int, error: float, limit: float, *about) -> None:
        """Notes an error of a law in step k."""
        error = float(error)
        self.errors[law] = max(self.errors.get(law, 0.0), error)
        if not error <= limit:
            self.wrong.append(f"step {k}: {law} {error:.2e} " + " ".join(map(str, about)))

    def say(self, k: int, text: str) -> None:
        """Notes a wrong claim."""
        self.wrong.append(f"step {k}: {text}")


class Run:
    """The data of run.h5 that the check reads."""

    def __init__(self, path: Path):
        with h5py.File(path) as f:
            self.names_q = [str(n) for n in f.attrs["names_q"]]
            self.names_u = [str(n) for n in f.attrs["names_u"]]
            self.bodies = [str(n) for n in f.attrs["names_bodies"]]
            self.words = [str(n) for n in f.attrs["status_words"]]
            self.t, self.q, self.u = (np.array(f[k]) for k in ("t", "q", "u"))
            self.v = np.array(f["v"]) if "v" in f else None
            self.offset = np.array(f["contacts/offset"])
            self.contacts = {
                k: np.array(f[f"contacts/{k}"]) for k in ("a", "b", "point_W", "normal_W", "gap", "gap_start", "force_W", "mu", "state")
            }
            self.steps = {k: np.array(f[f"steps/{k}"]) for k in f["steps"]}

    def status(self, k: int) -> str:
        return self.words[int(self.steps["status"][k])]

    def of_step(self, k: int, world: World) -> list[Contact]:
        """Contacts of a step. The run has the midpoint of the witness points p_A = p_B + φn as their bodies carry them to the end of the step."""
        out, c, here, there = [], self.contacts, world.places(self.q[k]), world.places(self.q[k + 1])
        for i in range(self.offset[k], self.offset[k + 1]):
            n, gap, a, b = c["normal_W"][i], float(c["gap_start"][i]), self.bodies[c["a"][i]], self.bodies[c["b"][i]]
            (R_A, t_A), (R_B, t_B) = carried(here[a], there[a]), carried(here[b], there[b])
            p_B = np.linalg.solve((R_A + R_B) / 2, c["point_W"][i] - (R_A @ n * gap + t_A + t_B) / 2)
            out.append(Contact(a, b, p_B + n * gap, p_B, n, gap, float(c["mu"][i]), c["force_W"][i], float(c["gap"][i])))
        return out


def carried(here: Place, there: Place) -> tuple:
    """p ↦ R p + t: where a body takes its points."""
    R = there.R @ here.R.T
    return R, there.p - R @ here.p


def check_run(
    scene: Path, run: Run | Path, model: str, overlay: dict | None = None, modes: int = 6, uniqueness: bool = True
) -> CheckReport:
    """Checks all steps of a run. `modes`: contacts up to which statuses are checked by branching on all modes."""
    run = run if isinstance(run, Run) else Run(run)
    world = World(scene, run.names_q, overlay)
    out = CheckReport(steps=len(run.steps["status"]))
    known = {b.name: b for b in world.bodies}
    order = [
        world.columns(name.rsplit("/", 1)[0])[[n for n in run.names_u if n.startswith(name.rsplit("/", 1)[0] + "/")].index(name)]
        for name in run.names_u
    ]
    for k in range(out.steps):
        status = run.status(k)
        out.statuses[status] = out.statuses.get(status, 0) + 1
        u = world.command(k, run.q[0])
        out.hold("command", k, np.abs(u[order] - run.u[k]).max(initial=0), 1e-12 * (1 + np.abs(u).max(initial=0)))
        v = run.v[k] if run.v is not None else np.zeros(world.nv)
        contacts = run.of_step(k, world)
        for c in contacts:
            c.mu_own = world.friction(known[c.a], known[c.b]) if c.a in known and c.b in known else c.mu
            out.hold("friction", k, abs(c.mu_own - c.mu), 1e-12, f"{c.a} – {c.b}")
        e = build(world, model, run.q[k], v, u, contacts)
        delta = displacement(world, run.q[k], run.q[k + 1])
        check_geometry(out, world, run, k, contacts, delta, status, model)
        if status in SOLVED:
            check_laws(out, world, k, e, contacts, delta, run.q[k], model)
            if model in WITH_MOMENTUM:
                assert run.v is not None
                out.hold("velocity", k, np.abs(run.v[k + 1] * world.h - delta).max(), 1e-9 * max(1e-3, np.abs(delta).max()))
        elif np.abs(delta).max(initial=0) > 0:
            out.say(k, f"moves by {np.abs(delta).max()} although its status is {status}")
        if world.plane and uniqueness and not model.startswith("convex"):
            check_claims(out, world, run, k, e, contacts, delta, status, model, u, modes)
    return out


def near(c: Contact, o: outlines.Candidate) -> bool:
    """Whether a contact of the run is this candidate, seen from either body."""
    sign = 1 if (c.a, c.b) == (o.a.name, o.b.name) else -1 if (c.b, c.a) == (o.a.name, o.b.name) else 0
    return (
        sign != 0
        and abs(c.gap - o.gap) <= GEOMETRY * (1 + abs(o.gap))
        and np.abs(c.n - sign * o.n).max() <= 1e-7
        and np.abs(c.p_A + c.p_B - o.p_A - o.p_B).max() <= 1e-7 * (1 + abs(o.gap))
    )


def check_geometry(out, world, run, k, contacts, delta, status, model) -> None:
    """Every contact is one that the shapes give; gaps at the end are linearised; of contacts left out none is penetrated."""
    if world.plane is None:
        return
    places = world.places(run.q[k])
    groups = outlines.candidates(world, places)
    taken: set[int] = set()
    by_pair: dict[frozenset[str], list[int]] = {}
    for i, group in enumerate(groups):
        by_pair.setdefault(frozenset((group[0].a.name, group[0].b.name)), []).append(i)
    for c in contacts:
        found = [i for i in by_pair.get(frozenset((c.a, c.b)), []) if any(near(c, o) for o in groups[i])]
        if found:
            taken.update(found)
        elif model == "limit-surface":
            out.say(k, f"a contact {c.a} – {c.b} at {c.p_A} with gap {c.gap:.6g}, normal {c.n} that the shapes do not give")
        elif not touches(world, places, c):
            out.say(k, f"a contact {c.a} – {c.b} at {c.p_A}, {c.p_B} off the shapes")
    if status not in SOLVED:
        return
    still = [i for name in world.frozen for i in world.columns(name)]
    size = max(1e-6, np.abs(delta).max(initial=0))
    later = None
    for i, group in enumerate(groups):
        if i in taken or model != "limit-surface":
            continue
        ends = []
        for o in group:
            motion = places[o.a.name].velocity_rows(o.p_A) - places[o.b.name].velocity_rows(o.p_B)
            motion[:, still] = 0
            ends.append(o.gap + o.n @ motion @ delta)
        if max(ends) >= 0:
            continue
        later = later or outlines.candidates(world, world.places(run.q[k + 1]))
        end = max(*ends, later[i][0].gap)  # what passes a corner is not in the way
        out.hold("left out", k, max(0.0, -end), 1e-8 * size + 1e-9, group[0].a.name, group[0].b.name, "from", group[0].gap, "to", max(ends))
    if model == "limit-surface":
        return
    listed = {frozenset((c.a, c.b)) for c in contacts}
    for a, b in outlines.touching_bodies(world):
        gap = outlines.distance(*(outlines.outline(world.plane, body, places[body.name]) for body in (a, b)))
        if gap < 1e-3 and frozenset((a.name, b.name)) not in listed:  # less than any drawn margin
            out.say(k, f"{a.name} and {b.name} at {gap:.3e} m have no contact")


def touches(world, places, c) -> bool:
    """Whether the witness points lie on their shapes' outlines."""
    known = {b.name: b for b in world.bodies}
    for name, p in ((c.a, c.p_A), (c.b, c.p_B)):
        shape = outlines.outline(world.plane, known[name], places[name])
        ((d, *_),) = outlines.between(outlines.Disc(outlines.flat(world.plane, p), 0.0), shape)[0][:1]
        if abs(d) > 1e-7:
            return False
    return True


def check_laws(out, world, k, e, contacts, delta, q, model) -> None:
    """Motion, non-penetration, complementarity, cone, direction of sliding."""
    f = load(e, contacts)
    error = e.L @ delta - e.r - e.S @ f
    strength = sum(np.abs(c.force).max() for c in contacts)
    arms = max((np.abs(J).max() for c, J in zip(contacts, e.J_t, strict=True)), default=0)
    loads = 1e-12 / LAW * strength * (1 + arms) + sum(
        (np.abs(e.J_n[i] * (c.n @ c.force)) + np.abs((e.tangents[i] @ c.force) @ e.J_t[i]) for i, c in enumerate(contacts)),
        np.zeros(world.nv),
    )
    size = np.abs(e.L) @ np.abs(delta) + np.abs(e.r) + np.abs(e.S) @ loads
    skip, far = supported(world), np.abs(q).max()
    for i in range(world.nv):
        if i not in skip:
            out.hold(
                "motion",
                k,
                abs(error[i]) / (size[i] + np.abs(e.L[i]).max() * ROUNDING * (1 + far) / LAW + 1e-300),
                LAW,
                "velocity",
                i,
                world.model_of_v(i),
            )
    check_supports(out, world, k, e, contacts, delta, q)
    if not contacts:
        return
    length = natural_length(e, delta, model)
    force = max(*(abs(c.n @ c.force) for c in contacts), 1e-9 * np.abs(e.r).max(), 1e-30)
    for i, c in enumerate(contacts):
        name = f"{c.a} – {c.b}"
        gap, slip = c.gap + e.J_n[i] @ delta, e.J_t[i] @ delta
        normal, along = c.n @ c.force, e.tangents[i] @ c.force
        out.hold("linearised gap", k, abs(gap - c.gap_end), 1e-9 * (1 + abs(gap)), name)
        out.hold("off plane", k, np.linalg.norm(c.force - normal * c.n - along @ e.tangents[i]) / force, 1e-12, name)
        fastest, strongest = friction_sizes(world, slip, along)
        # What a convex model keeps at zero or above: sliding bodies separate by μ times the slip.
        kept = gap - c.mu_own * fastest if is_associated(world, model) else gap
        out.hold("penetration", k, max(0.0, -kept - ROUNDING) / length, LAW if c.gap >= -1e-9 else np.inf, name, "gap", c.gap, "→", gap)
        out.hold("adhesion", k, max(0.0, -normal) / force, LAW, name)
        out.hold(
            "complementarity", k, min(max(kept - ROUNDING, 0) / length, max(normal, 0) / force), LAW, name, "gap", kept, "force", normal
        )
        limit = c.mu_own * normal
        outside = max(0.0, strongest - limit) / force
        out.hold("cone", k, outside, LAW, name, "f_t", along, "f_n", normal, "mu", c.mu_own)
        loss = along @ slip + limit * fastest  # zero where friction takes the most power that it may
        out.hold(
            "dissipation",
            k,
            min(abs(loss) / (force * length), max(0.0, fastest - ROUNDING) / length),
            LAW,
            name,
            "slip",
            slip,
            "f_t",
            along,
            "f_n",
            normal,
            "mu",
            c.mu_own,
        )


def is_associated(world, model: str) -> bool:
    """Whether a sliding contact opens: the convex models, where the scene does not ask for Coulomb's law."""
    return model.startswith("convex") and world.step.get("friction_law", "associated") == "associated"


def friction_sizes(world, slip: np.ndarray, along: np.ndarray) -> tuple[float, float]:
    """How fast a contact slides and how strong its friction is: by the polygon of the rays, or by the circle of a cone."""
    if world.step.get("cone") == "cone":
        return float(np.linalg.norm(slip)), float(np.linalg.norm(along))
    dirs = rays(world, len(slip))
    return np.abs(dirs @ slip).max(), inside_polygon(along, dirs)


def rays(world, tangential: int) -> np.ndarray:
    """Directions of the friction polygon."""
    if tangential == 1:
        return np.array([[1.0], [-1.0]])
    n = int(world.step.get("rays", 4))
    a = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(a), np.sin(a)])


def inside_polygon(f: np.ndarray, dirs: np.ndarray) -> float:
    """The smallest Σβ with Σβ_j d_j = f, β ≥ 0: the gauge of the polygon of the rays."""
    if len(f) == 1:
        return abs(f[0])
    n = len(dirs)
    middle = 2 * np.pi * (np.arange(n) + 0.5) / n
    return (np.column_stack([np.cos(middle), np.sin(middle)]) @ f).max() / np.cos(np.pi / n)


def supported(world) -> set[int]:
    """Velocities of objects whose support is exact."""
    return {
        v
        for b in world.objects
        if isinstance(world.doc["bodies"].get(b.model, {}).get("limit_surface"), dict) and b.model not in world.frozen
        for v in world.columns(b.model)
    }


def check_supports(out, world, k, e, contacts, delta, q) -> None:
    """Objects on exact supports move as their load says, F = D(V) ∇D(V)."""
    f = load(e, contacts)
    for b in world.objects:
        text = world.doc["bodies"].get(b.model, {}).get("limit_surface")
        if not isinstance(text, dict) or b.model in world.frozen:
            continue
        columns = world.columns(b.model)
        theta = q[b.q + 2]
        R = np.array([[np.cos(theta), -np.sin(theta), 0], [np.sin(theta), np.cos(theta), 0], [0, 0, 1]])
        V, F = R.T @ delta[columns] / world.h, R.T @ f[columns]
        support = Support(text, b.mass * np.linalg.norm(world.gravity))
        wanted = support.driving(V)
        scale = np.array([1, 1, support.size])
        strength = max((float(np.abs(c.force).max()) for c in contacts), default=0.0)  # what cancels in F
        size = max(float(np.linalg.norm(F / scale)), float(np.linalg.norm(wanted / scale)), 1e-2 * strength)
        if size > 0:
            out.hold(
                "support",
                k,
                np.linalg.norm((F - wanted) / scale) / size,
                1e-6 if support.radius is None else 1e-5,
                b.model,
                "V",
                V,
                "F",
                F,
                "not",
                wanted,
            )


def check_claims(out, world, run, k, e, contacts, delta, status, model, u, limit) -> None:
    """Infeasible: no mode has a solution. NotUnique: the alternative motion obeys the laws. Unique: no mode has another motion."""
    if supported(world):
        return
    length = natural_length(e, delta, model)
    force = natural_force(e, contacts, length)
    second = run.steps.get("second_delta")
    if second is not None and np.isfinite(second[k]).all():
        if np.abs(second[k] - delta).max() <= 1e-7 * length:
            out.say(k, "the alternative motion is the first")
        if not any(
            Modes(e, length, force).allows(second[k], tolerance) for tolerance in (1e-6, 1e-7, 1e-5)
        ):  # far motions are hard to scale
            out.say(k, f"the alternative motion breaks a law: {second[k]}")
        if status != "NotUnique" or run.steps["uniqueness"][k] != 2:
            out.say(k, f"an alternative motion, but status {status}, uniqueness {run.steps['uniqueness'][k]}")
    elif status == "NotUnique":
        out.say(k, "NotUnique without an alternative motion")
    if len(contacts) > limit:
        return
    search = Modes(e, length, force)
    if status == "Infeasible":
        found = search.solve()
        if found is not None:
            out.say(k, f"Infeasible, but this motion obeys all laws: {found}")
    elif status not in SOLVED:
        found = search.solve()
        out.say(
            k,
            f"{status}, but "
            + (
                f"this motion obeys all laws: {found}"
                if found is not None
                else "there is no solution"
                if search.complete
                else "the check does not know either"
            ),
        )
    elif run.steps["uniqueness"][k] == 1:
        found = search.another(delta)
        if found is not None:
            out.say(k, f"unique, but this motion obeys all laws, too: {found} beside {delta}")


def natural_length(e, delta, model: str) -> float:
    """What moves in the step, or would if nothing were in the way [m]."""
    free = 0.0
    if model in ("limit-surface", "perfect-tracking"):
        free = np.abs(e.r).max(initial=0)
    elif model.startswith("convex"):  # springs and masses, each for itself
        stiff = np.diag(e.L) > 0
        free = np.abs(e.r[stiff] / np.diag(e.L)[stiff]).max(initial=0)
    return max(np.abs(delta).max(initial=0), free, 1e-9)


def natural_force(e, contacts, length: float) -> float:
    """A force that moves something by `length`, or the largest one of the step."""
    largest = max((abs(c.n @ c.force) for c in contacts), default=0.0)
    compliance = np.abs(np.diag(e.S)) if np.abs(np.diag(e.L) - 1).max(initial=0) == 0 else np.zeros(1)
    return largest if largest > 0 else length / compliance.max() if compliance.max(initial=0) > 0 else max(np.abs(e.r).max(), 1.0)
