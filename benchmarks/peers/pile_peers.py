#!/usr/bin/env python3
"""MuJoCo and Drake on a heap of boxes: milliseconds per step of 10 ms, falling and settled.

Usage: pile_peers.py FILE [--seconds S]      FILE: JSON {"falling": boxes, "settled": boxes} of piles/heap.py; prints JSON

`falling` starts where deft's heap starts; `settled` where deft's lies still, after some steps in which the rival finds a
rest of its own. Each rival stops after 20 steps, or after S seconds and three steps.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "piles"))
import heap

STEPS, LEAD_IN = 20, 20


def timed(step, most_seconds: float, count: int) -> list[float]:
    """Milliseconds of up to `count` calls."""
    times: list[float] = []
    start = time.perf_counter()
    while len(times) < count and (len(times) < 3 or time.perf_counter() - start < most_seconds):
        before = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - before))
    return times


class Mujoco:
    """Soft contacts, several points per face; the solver by name. Its convergence test is its own: the scaled improvement
    and gradient of its cost below `tolerance` (1e-8) within `iterations` (100)."""

    def __init__(self, solver: str, boxes: list[heap.Box]):
        import mujoco

        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(heap.mjcf(boxes, f'solver="{solver}"'))
        self.data = mujoco.MjData(self.model)
        self.iterations: list[int] = []
        self.gradients: list[float] = []
        self.unconverged = 0

    def step(self) -> None:
        self.mujoco.mj_step(self.model, self.data)

    def look(self) -> None:
        """Takes down what the last step's solver did."""
        islands = max(1, int(self.data.nisland))
        counts = np.array(self.data.solver_niter[: min(islands, 20)])
        most = int(counts.max())
        self.iterations.append(most)
        self.unconverged += most >= self.model.opt.iterations
        if 0 < most < 200:
            island = int(counts.argmax())
            self.gradients.append(float(self.data.solver[island * 200 + most - 1].gradient))

    def summary(self) -> dict:
        return {
            "contacts": int(self.data.ncon),
            "iterations": float(np.median(self.iterations)),
            "unconverged_steps": int(self.unconverged),
            "gradient": max(self.gradients, default=None),
            "speed": float(np.abs(self.data.qvel).max()),
        }


class Drake:
    """The contact approximation by name; point contact (one point per pair of bodies), or hydroelastic contact of boxes of
    `MODULUS_PA` on a rigid ground (a polygon per pair): stiffer ones fly apart in steps of 10 ms."""

    MODULUS_PA = 1e6
    DISSIPATION_S_M = 10.0  # of Hunt and Crossley, which the lagged approximation takes

    def __init__(self, approximation: str, boxes: list[heap.Box], hydroelastic: bool = False):
        from pydrake.all import (
            AddCompliantHydroelasticProperties,
            AddContactMaterial,
            AddRigidHydroelasticProperties,
            Box,
            ContactModel,
            CoulombFriction,
            DiagramBuilder,
            DiscreteContactApproximation,
            HalfSpace,
            MultibodyPlant,
            ProximityProperties,
            Quaternion,
            RigidTransform,
            SceneGraph,
            Simulator,
            SpatialInertia,
        )

        builder = DiagramBuilder()
        plant = builder.AddSystem(MultibodyPlant(time_step=heap.H))
        scene_graph = builder.AddSystem(SceneGraph())
        plant.RegisterAsSourceForSceneGraph(scene_graph)
        builder.Connect(scene_graph.get_query_output_port(), plant.get_geometry_query_input_port())
        builder.Connect(plant.get_geometry_pose_output_port(), scene_graph.get_source_pose_port(plant.get_source_id()))
        plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, approximation))
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -heap.GRAVITY])
        plant.set_contact_model(ContactModel.kHydroelasticWithFallback if hydroelastic else ContactModel.kPoint)
        ground, solid = ProximityProperties(), ProximityProperties()
        for properties in (ground, solid):
            AddContactMaterial(dissipation=self.DISSIPATION_S_M, friction=CoulombFriction(heap.MU, heap.MU), properties=properties)
        if hydroelastic:
            AddRigidHydroelasticProperties(ground)
            AddCompliantHydroelasticProperties(1.0, self.MODULUS_PA, solid)  # a box has no resolution
        plant.RegisterCollisionGeometry(plant.world_body(), RigidTransform(), HalfSpace(), "ground", ground)
        bodies = []
        for k, box in enumerate(boxes):
            inertia = SpatialInertia.SolidBoxWithMass(box.mass, *box.size)
            bodies.append(plant.AddRigidBody(f"b{k}", inertia))
            plant.RegisterCollisionGeometry(bodies[-1], RigidTransform(), Box(*box.size), f"b{k}", solid)
        plant.Finalize()
        diagram = builder.Build()
        self.context = diagram.CreateDefaultContext()
        self.plant, self.plant_context = plant, plant.GetMyMutableContextFromRoot(self.context)
        for body, box in zip(bodies, boxes, strict=True):
            plant.SetFreeBodyPose(
                self.plant_context, body, RigidTransform(Quaternion(box.quat_wxyz / np.linalg.norm(box.quat_wxyz)), box.position)
            )
        self.simulator = Simulator(diagram, self.context)
        self.simulator.Initialize()
        self.count = 0

    def step(self) -> None:
        self.count += 1
        self.simulator.AdvanceTo(self.count * heap.H)

    def look(self) -> None:
        pass

    def summary(self) -> dict:
        results = self.plant.get_contact_results_output_port().Eval(self.plant_context)
        contacts = results.num_point_pair_contacts() + results.num_hydroelastic_contacts()
        return {"contacts": contacts, "speed": float(np.abs(self.plant.GetVelocities(self.plant_context)).max())}


PEERS = {
    "MuJoCo Newton": lambda boxes: Mujoco("Newton", boxes),
    "MuJoCo CG": lambda boxes: Mujoco("CG", boxes),
    "Drake lagged": lambda boxes: Drake("kLagged", boxes),
    "Drake SAP": lambda boxes: Drake("kSap", boxes),
    "Drake lagged, hydroelastic": lambda boxes: Drake("kLagged", boxes, hydroelastic=True),
    "Drake SAP, hydroelastic": lambda boxes: Drake("kSap", boxes, hydroelastic=True),
}


def measure(peer, lead_in: int, most_seconds: float) -> dict:
    """Median time of a step and what the solver says of itself."""
    timed(peer.step, most_seconds, lead_in)
    times = []
    for _ in range(STEPS):
        times += timed(peer.step, 0, 1)
        peer.look()
        if len(times) >= 3 and sum(times) > 1e3 * most_seconds:
            break
    return {"step_ms": float(np.median(times)), "step_ms_p95": float(np.quantile(times, 0.95)), "steps": len(times), **peer.summary()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    starts = {phase: [heap.Box(*map(np.array, box)) for box in boxes] for phase, boxes in json.loads(options.file.read_text()).items()}
    rows, absent = [], {}
    for who, make in PEERS.items():
        for phase, boxes in starts.items():
            try:
                peer = make(boxes)
            except ImportError as error:
                absent[who] = str(error)
                continue
            rows.append(
                {"who": who, "phase": phase, "boxes": len(boxes), **measure(peer, LEAD_IN if phase == "settled" else 0, options.seconds)}
            )
    print(json.dumps({"rows": rows, "absent": absent}))


if __name__ == "__main__":
    main()
