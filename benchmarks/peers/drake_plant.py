#!/usr/bin/env python3
"""Repeats the commands of a run folder in Drake and writes what happened there as a run folder of the same layout; prints JSON.

Usage: drake_plant.py RUN {--out DIR | --segments} [--step 0.001] [--approximation sap|lagged|similar|tamsi] [--contact hydroelastic|point] [--speed 0.5] [--deft PROGRAM] …

RUN is a folder of `deft sim`, `plan` or `track`. The Drake model is built from the scene in it (drake_model.py): robots are springs of the
scene's stiffness with damping D = step.joint_damping or max(2ζ√(K M_ii), K · lag); joint targets go linearly from knot to knot; the world starts at
the run's first configuration. Objects that gravity does not act on feel −γ M v, γ = 1/h (--object-damping). States are recorded at
the run's knots. `deft view DIR` makes the page. Exit 0: the commands were played to their end; 2: bad input; 3: Drake's step failed or diverged.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
from drake_model import APPROXIMATIONS, DrakeModel, DrakeOptions, build_model, joint_name
from plant_friction import combine
from plant_scene import ROOT, PlantScene, Record, SceneError, object_errors, read_run, retime, write_run
from pydrake.all import BasicVector, LeafSystem, MultibodyForces, PiecewisePolynomial, Simulator, SpatialForce, TrajectorySource

LARGEST = 1e6  # coordinates and speeds beyond it [m, rad, m/s, rad/s] have left the world


def object_damping(model: DrakeModel, stated: float | None) -> dict[str, float]:
    """γ [1/s] per object: stated, or 1/h for objects that gravity does not act on at the start, 0 for others."""
    run, plant = model.run, model.plant
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, model.from_scene(run.q[0], model.index_q, plant.num_positions()))
    weight = plant.CalcGravityGeneralizedForces(context)
    g = np.linalg.norm(run.info["settings"]["gravity"])
    result = {}
    for thing in run.info["objects"]:
        weighs = np.linalg.norm(weight[model.index_v[run.rows_v(thing["name"])]]) > 1e-9 * thing["mass"] * g
        result[thing["name"]] = stated if stated is not None else (0.0 if weighs else 1 / run.h)
    return result


class Surroundings(LeafSystem):
    """Generalised forces that are neither contact nor robots: −γ M v on objects, and the scene's wrenches."""

    def __init__(self, model: DrakeModel, damping: dict[str, float]):
        super().__init__()
        self.model, self.plant = model, model.plant
        self.context = model.plant.CreateDefaultContext()
        self.blocks = [(gamma, model.index_v[model.run.rows_v(name)]) for name, gamma in damping.items() if gamma > 0]
        self.wrenches = model.run.scene.get("wrenches") or []
        for wrench in self.wrenches:
            if wrench.get("when"):
                raise SceneError("wrenches with `when` cannot be repeated here")
        self.DeclareVectorInputPort("state", BasicVector(self.plant.num_multibody_states()))
        self.DeclareVectorOutputPort("force", BasicVector(self.plant.num_velocities()), self.calc)

    def calc(self, context, output) -> None:
        plant, state = self.plant, self.get_input_port(0).Eval(context)
        plant.SetPositionsAndVelocities(self.context, state)
        force = np.zeros(plant.num_velocities())
        if self.blocks:
            M, v = plant.CalcMassMatrix(self.context), plant.GetVelocities(self.context)
            for gamma, rows in self.blocks:
                force[rows] -= gamma * M[np.ix_(rows, rows)] @ v[rows]
        if self.wrenches:
            forces = MultibodyForces(plant)
            for wrench in self.wrenches:
                self.add(wrench, context.get_time(), forces)
            force += plant.CalcGeneralizedForces(self.context, forces)
        output.SetFromVector(force)

    def add(self, wrench: dict, t: float, forces: MultibodyForces) -> None:
        """The mean over the step [t, t + h] of a force; an impulse over h in the step that it falls in."""
        h, run = self.plant.time_step(), self.model.run
        impulse = "impulse_W" in wrench or "angular_impulse_W" in wrench
        if impulse:
            share = 1 / h if t <= float(wrench.get("at", 0)) + 1e-9 * h < t + h else 0.0
        else:
            share = max(0.0, min(t + h, float(wrench.get("to", np.inf))) - max(t, float(wrench.get("from", 0)))) / h
        if share == 0:
            return
        push, turn = ("impulse_W", "angular_impulse_W") if impulse else ("force_W", "torque_W")
        name = "/".join(wrench["body"].rsplit("::", 1))
        body = self.model.bodies[run.names_bodies.index(name)]
        F = SpatialForce(share * np.asarray(wrench.get(turn, [0, 0, 0]), float), share * np.asarray(wrench.get(push, [0, 0, 0]), float))
        body.AddInForce(self.context, np.zeros(3), F, self.plant.world_frame(), forces)


def connect_commands(model: DrakeModel, times: np.ndarray, period_shift: float) -> None:
    """Joint targets of each robot, linear between knots. A step [t, t + h] takes the target of its end."""
    run, plant, builder = model.run, model.plant, model.builder
    knots = np.vstack([run.u_start(), run.u])
    for robot in run.info["robots"]:
        instance = plant.GetModelInstanceByName(robot["name"])
        order = [joint_name(plant, plant.get_joint_actuator(i).joint()) for i in plant.GetJointActuatorIndices(instance)]
        columns = [run.names_u.index(name) for name in order]
        targets = np.hstack([knots[:, columns], np.zeros((len(knots), len(columns)))])  # speeds wanted: none
        trajectory = PiecewisePolynomial.FirstOrderHold(times - period_shift, targets.T)
        source = builder.AddSystem(TrajectorySource(trajectory, 0, True))
        builder.Connect(source.get_output_port(), plant.get_desired_state_input_port(instance))


def velocity_at(plant, context, body, point: np.ndarray) -> np.ndarray:
    """Velocity [m/s] of the body's material point at `point`."""
    X = plant.EvalBodyPoseInWorld(context, body)
    return plant.EvalBodySpatialVelocityInWorld(context, body).Shift(point - X.translation()).translational()


def contacts_of(model: DrakeModel, context, h: float) -> list[dict]:
    """Contacts of Drake's last step in the scene's bodies. Force on a; the normal points from b to a."""
    plant, inspector = model.plant, model.scene_graph.model_inspector()
    results, found = plant.get_contact_results_output_port().Eval(context), []

    def add(a, b, point, normal, gap, force, torque, slip, mu):
        found.append({"a": model.body_of[a], "b": model.body_of[b], "point_W": point, "normal_W": normal, "gap": gap, "gap_start": gap,
                      "boundary_gap": 0.0, "mu": mu, "force_W": force, "torque_W": torque,
                      "state": 0 if np.linalg.norm(force) == 0 else (2 if slip * h > 1e-7 else 1)})  # fmt: skip

    def friction(one, other):
        return combine(model.friction[one], model.friction[other])

    for i in range(results.num_point_pair_contacts()):
        info = results.point_pair_contact_info(i)
        pair = info.point_pair()
        add(pair.id_A, pair.id_B, info.contact_point(), pair.nhat_BA_W, -pair.depth, -info.contact_force(), np.zeros(3), info.slip_speed(),
            friction(pair.id_A, pair.id_B))  # fmt: skip
    for i in range(results.num_hydroelastic_contacts()):
        info = results.hydroelastic_contact_info(i)
        surface = info.contact_surface()
        ids = (surface.id_M(), surface.id_N())
        bodies = [plant.GetBodyFromFrameId(inspector.GetFrameId(geometry)) for geometry in ids]
        point, F = surface.centroid(), info.F_Ac_W()
        faces = surface.num_faces()
        normal = sum((surface.area(k) * surface.face_normal(k) for k in range(faces)), np.zeros(3))  # out of N into M
        normal = normal / np.linalg.norm(normal)
        slip = velocity_at(plant, context, bodies[0], point) - velocity_at(plant, context, bodies[1], point)
        add(*ids, point, normal, 0.0, F.translational(), F.rotational(), np.linalg.norm(slip - normal * (slip @ normal)), friction(*ids))
    return found


def replay(
    run: PlantScene, options: DrakeOptions, stated_damping: float | None, speed: float, settle: float
) -> tuple[Record, str, list[str]]:
    """Plays the run's commands. @returns rows at the knots (and at the end of `settle`), the status, what the plant adds to the scene."""
    model = build_model(run, options)
    plant = model.plant
    damping = object_damping(model, stated_damping)
    if any(damping.values()) or run.scene.get("wrenches"):
        surroundings = model.builder.AddSystem(Surroundings(model, damping))
        model.builder.Connect(plant.get_state_output_port(), surroundings.get_input_port(0))
        model.builder.Connect(surroundings.get_output_port(0), plant.get_applied_generalized_force_input_port())
        if any(damping.values()):
            model.settings.append(
                "force −γ M v on objects, γ [1/s]: " + ", ".join(f"{name} {gamma:.6g}" for name, gamma in damping.items())
            )
    times = retime(run.t - run.t[0], run.u_start(), run.u, speed)
    times = np.round(times / options.step) * options.step  # Drake's steps are all equally long
    if np.any(np.diff(times) <= 0):
        raise SceneError(f"a step of {options.step} s is longer than a period between knots ({np.diff(run.t).min():g} s)")
    connect_commands(model, times, options.step)
    diagram = model.builder.Build()
    simulator = Simulator(diagram)
    context = plant.GetMyMutableContextFromRoot(simulator.get_mutable_context())
    plant.SetPositions(context, model.from_scene(run.q[0], model.index_q, plant.num_positions()))
    v = run.v_start if run.v_start is not None else np.zeros(len(run.names_v))
    plant.SetVelocities(context, model.from_scene(v, model.index_v, plant.num_velocities()))
    for thing in run.scene.get("objects") or []:
        if thing.get("frozen"):
            for index in plant.GetJointIndices(plant.GetModelInstanceByName(thing["name"])):
                plant.get_joint(index).Lock(context)
    simulator.Initialize()
    record, status = Record(), "Completed"
    ends = np.append(times, times[-1] + settle) if settle > 0 else times
    keep_state(model, context, record, run.t[0])
    for k in range(1, len(ends)):
        began = time.perf_counter()
        try:
            simulator.AdvanceTo(ends[k])
        except RuntimeError as error:
            print(f"drake_plant: at {simulator.get_context().get_time():g} s: {error}", file=sys.stderr)
            status = "NumericalFailure"
            break
        state = plant.GetPositionsAndVelocities(context)
        if not np.all(np.isfinite(state)) or np.abs(state).max() > LARGEST:
            status = "Diverged"
            break
        record.step_us.append(1e6 * (time.perf_counter() - began))
        record.u.append(run.u[min(k, len(run.u)) - 1] if len(run.u) else np.zeros(len(run.names_u)))
        record.contacts.append(contacts_of(model, context, options.step))
        keep_state(model, context, record, run.t[0] + ends[k])
        record.energy.append(plant.CalcKineticEnergy(context) + plant.CalcPotentialEnergy(context))
    record.failed = status != "Completed"
    return record, status, model.settings


def keep_state(model: DrakeModel, context, record: Record, t: float) -> None:
    plant = model.plant
    record.t.append(float(t))
    q = plant.GetPositions(context)[model.index_q]
    for rows in model.run.quaternion_rows():
        q[rows] /= np.linalg.norm(q[rows])  # Drake's integration lets the norm drift
    record.q.append(q)
    record.v.append(plant.GetVelocities(context)[model.index_v])
    poses = [plant.EvalBodyPoseInWorld(context, body) for body in model.bodies]
    record.X_WB.append([np.r_[X.rotation().ToQuaternion().wxyz(), X.translation()] for X in poses])


def summary_of(run: PlantScene, record: Record, status: str, options: DrakeOptions, settings: list[str], out: Path) -> dict:
    """What is printed: the objects' errors against the run, at its end and the largest at its knots."""
    each = [object_errors(run, q, reference) for q, reference in zip(record.q, run.q)]
    final = object_errors(run, record.q[-1], run.q[-1])
    worst = lambda rows, key: max((error[key] for row in rows for error in row.values()), default=0.0)  # noqa: E731
    h = max(options.step, 1e-12)
    per_step = [us * h / dt for us, dt in zip(record.step_us, np.diff(record.t))]
    return {"status": status, "success": status == "Completed", "plant": "drake", "steps": len(record.t) - 1, "t_end": record.t[-1],
            "final_error": {key: worst([final], key) for key in ("position_m", "rotation_rad")},
            "max_error": {key: worst(each, key) for key in ("position_m", "rotation_rad")}, "final_error_of": final,
            "step_us": {"p50": float(np.percentile(per_step, 50)), "p95": float(np.percentile(per_step, 95))} if per_step else None,
            "q": dict(zip(run.names_q, map(float, record.q[-1]))), "settings": settings,
            "files": [str(out / name) for name in ("run.h5", "summary.json", "config.yaml")]}  # fmt: skip


def replay_segments(run: PlantScene, options: DrakeOptions, given: argparse.Namespace) -> list[dict]:
    """Each segment of a plan from the plan's own state at its beginning: how far the objects are from the plan at its end."""
    rows = []
    for first, last, transfer, _ in run.segments if run.segments is not None else []:
        piece = run.piece(int(first), int(last))
        record, status, _ = replay(piece, options, given.object_damping, given.speed, given.settle)
        errors, moved = (object_errors(run, record.q[-1], piece.q[-1]), object_errors(run, piece.q[0], piece.q[-1]))
        rows.append({"first": int(first), "last": int(last), "transfer": bool(transfer), "status": status,
                     **{key: max(error[key] for error in errors.values()) for key in ("position_m", "rotation_rad")},
                     **{f"moved_{key}": max(error[key] for error in moved.values()) for key in ("position_m", "rotation_rad")}})  # fmt: skip
    return rows


def arguments_of(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="drake_plant.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = DrakeOptions()
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, help="run folder; not with --segments")
    parser.add_argument(
        "--deft", type=Path, default=Path(os.environ.get("DEFT_BUILD_DIR", ROOT / "build/release")) / "deft", help="the program deft"
    )
    parser.add_argument("--step", type=float, default=default.step, help="[s], Drake's step; periods between knots become multiples of it")
    parser.add_argument("--approximation", choices=list(APPROXIMATIONS), default=default.approximation)
    parser.add_argument(
        "--contact", choices=["hydroelastic", "point"], default=default.flat_contact, help="of boxes, prisms, cylinders and half-spaces"
    )
    parser.add_argument("--stiffness", type=float, default=default.stiffness, help="[N/m] of point contact")
    parser.add_argument("--relaxation", type=float, default=default.relaxation, help="[s] of contact")
    parser.add_argument("--modulus", type=float, default=default.modulus, help="[Pa] of hydroelastic contact")
    parser.add_argument("--damping-ratio", type=float, default=default.damping_ratio)
    parser.add_argument("--joint-lag", type=float, default=default.joint_lag, help="[s]")
    parser.add_argument(
        "--object-damping", type=float, help="γ [1/s] for all objects; default 1/h for those that gravity does not act on, 0 for others"
    )
    parser.add_argument("--speed", type=float, default=np.inf, help="[rad/s, m/s]: knots are moved apart until no joint target is faster")
    parser.add_argument("--settle", type=float, default=0.0, help="[s] for which the last command is held")
    parser.add_argument(
        "--segments", action="store_true", help="plays each segment of a plan from the plan's own state, and prints where it ends"
    )
    arguments = parser.parse_args(words)
    if arguments.segments == (arguments.out is not None):
        parser.error("either --out or --segments is needed")
    for name in ("step", "stiffness", "modulus", "speed"):
        if not getattr(arguments, name) > 0:
            parser.error(f"--{name}: must be greater than 0, it is {getattr(arguments, name)}")
    for name in ("relaxation", "damping_ratio", "joint_lag", "settle", "object_damping"):
        if getattr(arguments, name) is not None and not getattr(arguments, name) >= 0:
            parser.error(f"--{name.replace('_', '-')}: must not be negative, it is {getattr(arguments, name)}")
    return arguments


def main() -> int:
    given = arguments_of(sys.argv[1:])
    options = DrakeOptions(given.step, given.approximation, given.contact, given.stiffness, given.relaxation, given.modulus,
                           given.damping_ratio, given.joint_lag)  # fmt: skip
    try:
        run = read_run(given.run, given.deft)
        if given.segments:
            print(json.dumps({"segments": replay_segments(run, options, given)}))
            return 0
        began = time.perf_counter()
        record, status, extra = replay(run, options, given.object_damping, given.speed, given.settle)
    except (SceneError, RuntimeError) as error:  # Drake's parser and model builder complain by RuntimeError
        print(f"drake_plant: {error}", file=sys.stderr)
        return 2
    settings = [f"Drake {importlib.metadata.version('drake')}, discrete steps of {options.step:g} s, approximation {options.approximation}",
                f"contact: {options.flat_contact} between flat shapes (modulus {options.modulus:g} Pa), points else ({options.stiffness:g} N/m), "
                f"relaxation {options.relaxation:g} s",
                *extra]  # fmt: skip
    summary = summary_of(run, record, status, options, settings, given.out)
    summary["seconds"] = time.perf_counter() - began
    write_run(given.out, run, record, "drake", settings, summary)
    print("\n".join(settings), file=sys.stderr)
    print(json.dumps(summary))
    return 0 if status == "Completed" else 3


if __name__ == "__main__":
    sys.exit(main())
