#!/usr/bin/env python3
"""Steps a scene in Drake for deft's plant `drake`: a process that is told the model, states and steps through its standard input.

Usage: drake_server.py            frames on stdin and stdout (below); ends with stdin
       drake_server.py --version  prints Drake's version

A frame is a length (uint32, little-endian, of what follows) and so many bytes: a letter, then the letter's payload. Numbers are
little-endian doubles, so that nothing is lost. What is asked, and what is answered:

  M  text: the model (README.md of the module, "Drake")     K  text: what Drake adds to the scene, a line each
  R  q [nq], v [nv]                                        K
  S  h, want, u [nu], tau [nv]: one step                   K  q [nq], v [nv], then with want = 1 per contact two indices of
                                                              geometries and fourteen numbers: a, b, point, normal (b to a), force on a, torque
                                                              on a, gap, slip speed
  any of them                                              E  text: why it cannot be done
                                                           F  text: Drake's step failed; the state is the one before it
"""

from __future__ import annotations

import importlib.metadata
import os
import struct
import sys
from dataclasses import dataclass, field

import numpy as np

CONTACT = struct.Struct("<16d")
FLAT = {"box", "convex", "cylinder", "half_space"}  # of two of these, contact is a patch; else a point
LARGEST_EDGE = 16  # edges of a cylinder's mesh are its radius over this
# Friction of the lagged approximation has the bound μ k x of the depth x where a step starts, which the normal force of the
# step need not reach: a body that a finger hits at speed v gets up to μ k v h² too much. Contact is therefore so soft, and
# Drake's steps are so short, that this is little for tenths of a kilogram; it yields 0.1 mm under 10 N.
SUBSTEPS = 4  # of Drake in a step
STIFFNESS = 1e5  # [N/m] of point contact
MODULUS = 3e6  # [Pa] of patches
DISSIPATION = 50.0  # [s/m] of Hunt and Crossley, of both: what is hit does not bounce
PATCH_DISSIPATION = 5.0  # [s/m] of patches: more of it would resist the rolling of cylinders
STICTION = 1e-4  # [m/s], what counts as sticking


class ModelError(Exception):
    """A model that Drake cannot simulate."""


@dataclass
class Description:
    """The lines of a model, by their first words."""

    lines: dict[str, list[list[str]]] = field(default_factory=dict)

    @staticmethod
    def parse(text: str) -> Description:
        result = Description()
        for line in text.splitlines():
            if not line.strip():
                continue
            word, *rest = line.split()
            result.lines.setdefault(word, []).append(rest)
        return result

    def rows(self, word: str) -> list[list[str]]:
        return self.lines.get(word, [])

    def one(self, word: str) -> list[str]:
        return self.rows(word)[0]


def numbers(words: list[str]) -> np.ndarray:
    return np.array([float.fromhex(word) for word in words])


class Model:
    """The scene in Drake for one length of step."""

    def __init__(self, said: Description, h: float):
        import pydrake.all as drake

        self.drake, self.said, self.h = drake, said, h
        builder = drake.DiagramBuilder()
        self.plant, self.graph = drake.AddMultibodyPlantSceneGraph(builder, h / SUBSTEPS)
        plant = self.plant
        plant.set_discrete_contact_approximation(getattr(drake.DiscreteContactApproximation, said.one("approximation")[0]))
        plant.set_contact_model(drake.ContactModel.kHydroelasticWithFallback)
        plant.set_stiction_tolerance(STICTION)
        plant.set_adjacent_bodies_collision_filters(False)
        plant.SetUseSampledOutputPorts(False)  # contacts are those of the step to come
        plant.mutable_gravity_field().set_gravity_vector(numbers(said.one("gravity")))
        self.instance = plant.AddModelInstance("scene")
        self.bodies = {0: plant.world_body()}
        self.geometry_of: dict = {}
        self.friction: dict = {}
        self.locked: list = []
        self.index_q: list[int] = []
        self.index_v: list[int] = []
        self.quaternions: list[slice] = []
        self.add_bodies()
        self.add_actuators()
        self.add_couplings()
        self.add_springs()
        copies = self.add_geometries()
        plant.Finalize()
        self.allow_collisions(copies)
        self.find_coordinates()
        self.diagram = builder.Build()
        self.root = self.diagram.CreateDefaultContext()
        self.next = self.diagram.AllocateDiscreteVariables()
        self.context = plant.GetMyMutableContextFromRoot(self.root)
        self.actuated = plant.num_actuators() > 0
        # Fixed once: each FixValue builds anew what depends on the port.
        if self.actuated:
            targets = plant.get_desired_state_input_port(self.instance)
            self.targets = targets.FixValue(self.context, np.zeros(targets.size()))
        self.applied = plant.get_applied_generalized_force_input_port().FixValue(self.context, np.zeros(len(self.index_v)))
        for joint in self.locked:
            joint.Lock(self.context)

    def pose(self, words: list[str]):
        """quaternion w x y z, then the position."""
        values = numbers(words)
        return self.drake.RigidTransform(self.drake.Quaternion(values[:4] / np.linalg.norm(values[:4])), values[4:])

    def add_bodies(self) -> None:
        """`body INDEX mass com inertia`: about the centre of mass; `joint INDEX PARENT kind frozen pose`; `axis INDEX turns x y z lower upper damping`."""
        drake, plant = self.drake, self.plant
        for index, *rest in self.said.rows("body"):
            values = numbers(rest)
            mass, com, six = values[0], values[1:4], values[4:]
            inertia = drake.SpatialInertia.MakeFromCentralInertia(mass, com, drake.RotationalInertia(*six))
            self.bodies[int(index)] = plant.AddRigidBody(f"b{index}", self.instance, inertia)
        axes: dict[str, list] = {}
        for index, turns, *rest in self.said.rows("axis"):
            axes.setdefault(index, []).append((turns == "1", numbers(rest)))
        self.joints = []  # in the order of the scene's coordinates: a list of Drake's joints each
        for index, parent, kind, frozen, *rest in self.said.rows("joint"):
            body = self.bodies[int(index)]
            if kind == "free":
                joints = [plant.AddJoint(drake.QuaternionFloatingJoint(f"j{index}", plant.world_frame(), body.body_frame()))]
            else:
                joints = self.add_axes(index, self.bodies[int(parent)], body, self.pose(rest), axes.get(index, []))
            self.joints.append(joints)
            if frozen == "1":
                self.locked += joints

    def add_axes(self, index: str, parent, body, X_PJ, axes: list) -> list:
        """One after the other, with massless bodies between."""
        drake, plant, joints = self.drake, self.plant, []
        frame = plant.AddFrame(drake.FixedOffsetFrame(f"f{index}", parent.body_frame(), X_PJ, self.instance))
        if not axes:
            plant.WeldFrames(frame, body.body_frame())
        for k, (turns, values) in enumerate(axes):
            last = k + 1 == len(axes)
            child = body if last else plant.AddRigidBody(f"b{index}_{k}", self.instance, drake.SpatialInertia.Zero())
            kind = drake.RevoluteJoint if turns else drake.PrismaticJoint
            axis, (lower, upper, damping) = values[:3] / np.linalg.norm(values[:3]), values[3:]
            joints.append(plant.AddJoint(kind(f"j{index}_{k}", frame, child.body_frame(), axis, lower, upper, damping)))
            frame = child.body_frame()
        return joints

    def joints_by_velocity(self) -> dict:
        at = {}
        first = 0
        for joint in [joint for joints in self.joints for joint in joints]:
            at[first] = joint
            first += joint.num_velocities()
        return at

    def add_actuators(self) -> None:
        """`actuator VELOCITY stiffness limit armature`: springs and the inertia of their drives, in the order of the commands."""
        at = self.joints_by_velocity()
        for k, (velocity, *rest) in enumerate(self.said.rows("actuator")):
            stiffness, limit, armature = numbers(rest)
            actuator = self.plant.AddJointActuator(f"u{k}", at[int(velocity)], limit)
            actuator.set_controller_gains(self.drake.PdControllerGains(p=stiffness, d=0.0))
            actuator.set_default_rotor_inertia(armature)  # the gear ratio is 1

    def add_couplings(self) -> None:
        """`coupling FOLLOWER LEADER ratio offset`: q of the follower is ratio times that of the leader, plus the offset."""
        at = self.joints_by_velocity()
        for follower, leader, *rest in self.said.rows("coupling"):
            ratio, offset = numbers(rest)
            self.plant.AddCouplerConstraint(at[int(follower)], at[int(leader)], ratio, offset)

    def add_springs(self) -> None:
        """`spring VELOCITY stiffness reference`: of joints, of their own."""
        drake, at = self.drake, self.joints_by_velocity()
        for velocity, *rest in self.said.rows("spring"):
            stiffness, reference = numbers(rest)
            joint = at[int(velocity)]
            kind = drake.RevoluteSpring if isinstance(joint, drake.RevoluteJoint) else drake.PrismaticSpring
            self.plant.AddForceElement(kind(joint, reference, stiffness))

    def shape(self, word: str, values: np.ndarray):
        drake = self.drake
        if word == "half_space":
            return drake.HalfSpace()
        if word == "convex":
            return drake.Convex(values.reshape(-1, 3).T, "hull")
        return {
            "sphere": drake.Sphere,
            "box": drake.Box,
            "capsule": drake.Capsule,
            "cylinder": drake.Cylinder,
            "ellipsoid": drake.Ellipsoid,
        }[word](*values)

    def add_geometries(self) -> dict:
        """`geometry INDEX BODY shape pose numbers` and `pair A B mu`. Drake knows friction of geometries, not of pairs: a geometry is there once for each
        coefficient that it has with others, and once for patches and for points; copies meet where both sides are alike. @returns the ids by (mu, patch)
        and geometry."""
        shapes = {int(index): word for index, _, word, *_ in self.said.rows("geometry")}
        self.partners: dict = {}
        for a, b, mu in self.said.rows("pair"):
            one, other = int(a), int(b)
            patch = shapes[one] in FLAT and shapes[other] in FLAT
            kind = (float.fromhex(mu), patch)
            self.partners.setdefault(kind, {}).setdefault(one, set()).add(other)
        copies: dict = {}
        for index, body, word, *rest in self.said.rows("geometry"):
            X_BG, values = self.pose(rest[:7]), numbers(rest[7:])
            for kind, partners in self.partners.items():
                if int(index) not in partners and not any(int(index) in others for others in partners.values()):
                    continue
                mu, patch = kind
                properties = self.properties(word, values, mu, patch)
                name = f"g{index}_{list(self.partners).index(kind)}"
                added = self.plant.RegisterCollisionGeometry(self.bodies[int(body)], X_BG, self.shape(word, values), name, properties)
                copies.setdefault(kind, {})[int(index)] = added
                self.geometry_of[added] = int(index)
        return copies

    def properties(self, word: str, values: np.ndarray, mu: float, patch: bool):
        drake = self.drake
        properties = drake.ProximityProperties()
        properties.AddProperty("material", "coulomb_friction", drake.CoulombFriction(mu, mu))
        properties.AddProperty("material", "point_contact_stiffness", 2 * STIFFNESS)  # two in a row
        properties.AddProperty("material", "hunt_crossley_dissipation", PATCH_DISSIPATION if patch else DISSIPATION)  # two alike give it
        if patch and word == "half_space":
            drake.AddRigidHydroelasticProperties(properties)
        elif patch:
            edge = values[0] / LARGEST_EDGE if word == "cylinder" else 1.0
            drake.AddCompliantHydroelasticProperties(edge, MODULUS, properties)
        return properties

    def allow_collisions(self, copies: dict) -> None:
        drake, manager = self.drake, self.graph.collision_filter_manager()
        everything = drake.GeometrySet(list(self.geometry_of))
        manager.Apply(drake.CollisionFilterDeclaration().ExcludeWithin(everything))
        for kind, partners in self.partners.items():
            for one, others in partners.items():
                allowed = drake.CollisionFilterDeclaration()
                allowed.AllowBetween(drake.GeometrySet(copies[kind][one]), drake.GeometrySet([copies[kind][other] for other in others]))
                manager.Apply(allowed)

    def find_coordinates(self) -> None:
        q = 0
        for joints in self.joints:
            for joint in joints:
                n, m = joint.num_positions(), joint.num_velocities()
                if n == 7:
                    self.quaternions.append(slice(q, q + 4))
                self.index_q += range(joint.position_start(), joint.position_start() + n)
                self.index_v += range(joint.velocity_start(), joint.velocity_start() + m)
                q += n

    def set_state(self, q: np.ndarray, v: np.ndarray) -> None:
        positions, velocities = np.zeros(len(self.index_q)), np.zeros(len(self.index_v))
        positions[self.index_q], velocities[self.index_v] = q, v
        self.plant.SetPositions(self.context, positions)
        self.plant.SetVelocities(self.context, velocities)

    def step(self, u: np.ndarray, tau: np.ndarray, want: bool) -> tuple[np.ndarray, np.ndarray, bytes]:
        if self.actuated:
            self.targets.GetMutableData().get_mutable_value().SetFromVector(np.concatenate([u, np.zeros_like(u)]))
        force = np.zeros(len(self.index_v))
        force[self.index_v] = tau
        self.applied.GetMutableData().get_mutable_value().SetFromVector(force)
        contacts = b""
        for k in range(SUBSTEPS):
            if want and k + 1 == SUBSTEPS:
                contacts = self.contacts()
            self.diagram.CalcForcedDiscreteVariableUpdate(self.root, self.next)
            self.root.SetDiscreteState(self.next)
        plant, context = self.plant, self.context
        q, v = plant.GetPositions(context)[self.index_q], plant.GetVelocities(context)[self.index_v]
        for rows in self.quaternions:
            q[rows] /= np.linalg.norm(q[rows])
        return q, v, contacts

    def contacts(self) -> bytes:
        """Of the step to come."""
        plant, out = self.plant, []
        results = plant.get_contact_results_output_port().Eval(self.context)
        for i in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(i)
            pair = info.point_pair()
            out.append(CONTACT.pack(self.geometry_of[pair.id_A], self.geometry_of[pair.id_B], *info.contact_point(), *pair.nhat_BA_W, *-info.contact_force(),
                                    0, 0, 0, -pair.depth, info.slip_speed()))  # fmt: skip
        for i in range(results.num_hydroelastic_contacts()):
            info = results.hydroelastic_contact_info(i)
            surface, F = info.contact_surface(), info.F_Ac_W()
            ids = (surface.id_M(), surface.id_N())
            normal = sum((surface.area(k) * surface.face_normal(k) for k in range(surface.num_faces())), np.zeros(3))  # out of N into M
            normal /= np.linalg.norm(normal)
            point = surface.centroid()
            slip = self.velocity(ids[0], point) - self.velocity(ids[1], point)
            out.append(CONTACT.pack(self.geometry_of[ids[0]], self.geometry_of[ids[1]], *point, *normal, *F.translational(), *F.rotational(), 0,
                                    np.linalg.norm(slip - normal * (slip @ normal))))  # fmt: skip
        return b"".join(out)

    def velocity(self, geometry, point: np.ndarray) -> np.ndarray:
        plant = self.plant
        body = plant.GetBodyFromFrameId(self.graph.model_inspector().GetFrameId(geometry))
        X = plant.EvalBodyPoseInWorld(self.context, body)
        return plant.EvalBodySpatialVelocityInWorld(self.context, body).Shift(point - X.translation()).translational()


class Server:
    """What answers: the description, models by length of step, the state."""

    def __init__(self) -> None:
        self.said: Description | None = None
        self.models: dict[float, Model] = {}
        self.q = self.v = np.zeros(0)
        self.current: Model | None = None

    def model(self, h: float) -> Model:
        if self.said is None:
            raise ModelError("no model was given")
        if h not in self.models:
            if len(self.models) == 4:
                del self.models[next(iter(self.models))]
            self.models[h] = Model(self.said, h)
        return self.models[h]

    def answer(self, letter: str, payload: bytes) -> tuple[str, bytes]:
        if letter == "M":
            self.said = Description.parse(payload.decode())
            self.models.clear()
            model = self.model(float.fromhex(self.said.one("step")[0]))
            self.q, self.v = np.zeros(len(model.index_q)), np.zeros(len(model.index_v))
            version = importlib.metadata.version("drake")
            return "K", (
                f"Drake {version}, approximation {self.said.one('approximation')[0]}, {SUBSTEPS} steps of Drake in an inner step\n"
                f"contact: patches between flat shapes (modulus {MODULUS:g} Pa), points else ({STIFFNESS:g} N/m), "
                f"dissipation {DISSIPATION:g} s/m, stiction {STICTION:g} m/s"
            ).encode()
        values = np.frombuffer(payload, "<f8")
        if self.said is None:
            raise ModelError("no model was given")
        nq, nv = len(self.q), len(self.v)
        if letter == "R":
            self.q, self.v = values[:nq].copy(), values[nq:].copy()
            self.current = None
            return "K", b""
        h, want = values[:2]
        model = self.model(h)
        if model is not self.current:
            model.set_state(self.q, self.v)
            self.current = model
        nu = len(values) - 2 - nv
        try:
            q, v, contacts = model.step(values[2 : 2 + nu], values[2 + nu :], want == 1)
        except RuntimeError as error:
            self.current = None
            return "F", str(error).encode()
        self.q, self.v = q, v
        return "K", q.astype("<f8").tobytes() + v.astype("<f8").tobytes() + contacts


def serve(source, sink) -> None:
    server = Server()
    while head := source.read(4):
        body = source.read(struct.unpack("<I", head)[0])
        try:
            letter, payload = server.answer(chr(body[0]), body[1:])
        except Exception as error:  # whatever it is, the other side has to hear of it
            letter, payload = "E", f"{error}".encode()
        sink.write(struct.pack("<I", 1 + len(payload)) + letter.encode() + payload)
        sink.flush()


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        import pydrake.all  # noqa: F401  # that it can be imported is what was asked

        print(importlib.metadata.version("drake"))
        return 0
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Drake prints must not come between frames
    serve(sys.stdin.buffer, sink)
    return 0


if __name__ == "__main__":
    sys.exit(main())
