"""A scene as a Drake model: Drake's own parser reads the model files, inline bodies are built here."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import yaml
from drake_bodies import joint_axes, shape_and_pose, spatial_inertia, transform
from plant_friction import combine, fit_coefficients
from plant_scene import ROOT, PlantScene, SceneError
from pydrake.all import (
    AddCompliantHydroelasticProperties,
    AddMultibodyPlantSceneGraph,
    AddRigidHydroelasticProperties,
    Box,
    CollisionFilterDeclaration,
    ContactModel,
    Convex,
    CoulombFriction,
    Cylinder,
    DiagramBuilder,
    DiscreteContactApproximation,
    FixedOffsetFrame,
    HalfSpace,
    LoadModelDirectivesFromString,
    MultibodyPlant,
    Parser,
    PdControllerGains,
    PrismaticJoint,
    ProcessModelDirectives,
    ProximityProperties,
    RevoluteJoint,
    RoleAssign,
    SceneGraph,
    SpatialInertia,
)

RENAMED = "__joint"  # suffix of joints that share their name with a link
APPROXIMATIONS = {"sap": "kSap", "lagged": "kLagged", "similar": "kSimilar", "tamsi": "kTamsi"}


@dataclass
class DrakeOptions:
    """How Drake computes."""

    step: float = 1e-3  # [s] > 0
    approximation: str = "sap"  # of APPROXIMATIONS
    flat_contact: str = "hydroelastic"  # of boxes, prisms, cylinders and half-spaces; or "point": one point per pair of bodies' geometries
    stiffness: float = 1e7  # [N/m] of point contact
    relaxation: float = 1e-3  # [s], dissipation of both kinds of contact: forces die out over it (SAP)
    modulus: float = 1e8  # [Pa] of hydroelastic contact
    damping_ratio: float = 1.0  # ζ ≥ 0
    joint_lag: float = 0.01  # [s] ≥ 0
    stiction: float = 1e-4  # [m/s], v_s of the approximations other than sap


@dataclass
class DrakeModel:
    """The built model and where the scene's coordinates are in it."""

    builder: DiagramBuilder
    plant: MultibodyPlant
    scene_graph: SceneGraph
    run: PlantScene
    index_q: np.ndarray = field(default_factory=lambda: np.zeros(0, int))  # of the scene's coordinates in Drake's q
    index_v: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    bodies: list = field(default_factory=list)  # Drake's bodies in the order of names_bodies
    on_world: dict = field(default_factory=dict)  # ids of geometries of fixed bodies that are on Drake's world body, by body
    body_of: dict = field(default_factory=dict)  # geometry id → place in names_bodies
    friction: dict = field(default_factory=dict)  # geometry id → μ
    settings: list[str] = field(default_factory=list)  # what Drake's model adds to the scene, a line each

    def to_scene_q(self, q: np.ndarray) -> np.ndarray:
        return q[self.index_q]

    def from_scene(self, values: np.ndarray, index: np.ndarray, size: int) -> np.ndarray:
        result = np.zeros(size)
        result[index] = values
        return result


def add_inline_body(model: DrakeModel, name: str, node: dict) -> None:
    """One body; each axis of its joint is a Drake joint of its own, with massless bodies between."""
    plant = model.plant
    instance = plant.AddModelInstance(name)
    entries = [node["shape"]] if node.get("shape") is not None else node.get("shapes") or []
    shapes = [shape_and_pose(entry) for entry in entries]
    body = plant.AddRigidBody(name, instance, spatial_inertia(node, shapes))
    X_WJ = transform(node.get("pose"))
    # A half-space on a body of its own has an infinite box in the tree of moving geometries, which breaks it; the world's geometries have another tree.
    on_world = node["joint"] == "fixed" and any(isinstance(shape, HalfSpace) for shape, _ in shapes)
    for k, (shape, X_BG) in enumerate(shapes):
        if on_world:
            geometry = plant.RegisterCollisionGeometry(
                plant.world_body(), X_WJ @ X_BG, shape, f"{name}_shape_{k}", CoulombFriction(0.5, 0.5)
            )
            model.on_world.setdefault(name, []).append(geometry)
        else:
            plant.RegisterCollisionGeometry(body, X_BG, shape, f"shape_{k}", CoulombFriction(0.5, 0.5))
    if node["joint"] == "fixed":
        plant.WeldFrames(plant.world_frame(), body.body_frame(), X_WJ)
        return
    if node["joint"] == "free":
        return
    axes = joint_axes(node["joint"])
    frame = plant.AddFrame(FixedOffsetFrame(f"{name}_joint_frame", plant.world_frame(), X_WJ, instance))
    for k, (coordinate, turns, axis) in enumerate(axes):
        last = k + 1 == len(axes)
        child = body if last else plant.AddRigidBody(f"{name}_{coordinate}_slide", instance, SpatialInertia.Zero())
        lower, upper = (node.get("limits") or {}).get(coordinate, [-np.inf, np.inf])
        kind = RevoluteJoint if turns else PrismaticJoint
        plant.AddJoint(kind(coordinate, frame, child.body_frame(), axis, float(lower), float(upper), 0.0))
        frame = child.body_frame()


def model_file(name: str) -> str:
    return name.replace("package://deft_scenes", str(ROOT / "scenes"))


def frame_by_name(plant: MultibodyPlant, name: str):
    """`world`, `model::frame`, an inline body, or a name that only one model has."""
    if name == "world":
        return plant.world_frame()
    if "::" in name or "/" in name:
        scope, local = ("/".join(name.rsplit("::", 1))).rsplit("/", 1)
        return plant.GetFrameByName(local, plant.GetModelInstanceByName(scope))
    return plant.GetFrameByName(name)


def add_bodies(model: DrakeModel) -> None:
    """Models of files, inline bodies, then what ties them together."""
    plant, scene, groups = model.plant, model.run.scene, []
    directives = [next(iter(directive.items())) for directive in scene.get("directives") or []]
    inline = scene.get("bodies") or {}
    for value in [value for word, value in directives if word == "add_model"] + [
        thing for thing in scene.get("objects") or [] if thing.get("file")
    ]:
        add_model_file(plant, value["name"], value["file"])
    for name, node in inline.items():
        if node is not None:
            add_inline_body(model, name, node)
    for word, value in directives:
        if word == "add_frame":
            X_PF = value["X_PF"]
            scope, _, local = value["name"].rpartition("::")
            base = frame_by_name(plant, X_PF["base_frame"])
            instance = plant.GetModelInstanceByName(scope) if scope else base.model_instance()
            plant.AddFrame(FixedOffsetFrame(local, base, transform(X_PF), instance))
        elif word == "add_weld":
            plant.WeldFrames(frame_by_name(plant, value["parent"]), frame_by_name(plant, value["child"]), transform(value.get("X_PC")))
        elif word == "add_collision_filter_group":
            full = lambda n: f"{n}::{n}" if n in inline else n  # noqa: E731
            groups.append({word: {key: [full(n) for n in item] if key == "members" else item for key, item in value.items()}})
        elif word == "add_model_instance":
            plant.AddModelInstance(value["name"])
        elif word != "add_model":
            raise SceneError(
                f"directive {word} is not known here; valid: add_model, add_model_instance, add_frame, add_weld, add_collision_filter_group"
            )
    if groups:
        ProcessModelDirectives(LoadModelDirectivesFromString(yaml.safe_dump({"directives": groups})), Parser(plant))


def add_model_file(plant: MultibodyPlant, name: str, file: str) -> None:
    path = file.replace("package://deft_scenes", str(ROOT / "scenes"))
    parser = Parser(plant, name)  # the prefix keeps two copies of a file apart
    text = renamed_joints(Path(path).read_text()) if path.endswith(".sdf") else None
    instances = parser.AddModelsFromString(text, "sdf") if text else parser.AddModels(path)
    if len(instances) != 1:
        raise SceneError(f"{file}: holds {len(instances)} models; one is expected")
    plant.RenameModelInstance(instances[0], name)


def renamed_joints(text: str) -> str | None:
    """An SDFormat file in which joints do not share their names with links, which Drake's reader refuses; None if none does."""
    root = ET.fromstring(text)
    links = {link.get("name") for link in root.iter("link")}
    shared = [joint for joint in root.iter("joint") if joint.get("name") in links]
    for joint in shared:
        joint.set("name", f"{joint.get('name')}{RENAMED}")
    return ET.tostring(root, encoding="unicode") if shared else None


def joint_name(plant: MultibodyPlant, joint) -> str:
    """`model/joint`, as the scene calls it."""
    return f"{plant.GetModelInstanceName(joint.model_instance())}/{joint.name().removesuffix(RENAMED)}"


def joints_by_name(plant: MultibodyPlant) -> dict:
    return {joint_name(plant, joint): joint for joint in map(plant.get_joint, plant.GetJointIndices())}


def exclude_collisions(model: DrakeModel) -> None:
    """Robots do not meet themselves unless asked; a joint's two sides, with what is welded to them, do not meet."""
    plant, manager = model.plant, model.scene_graph.collision_filter_manager()
    asked = {robot["name"]: robot.get("self_collision", False) for robot in model.run.scene.get("robots") or []}
    collect = lambda bodies: plant.CollectRegisteredGeometries(list(bodies))  # noqa: E731
    for name, self_collision in asked.items():
        if not self_collision:
            bodies = [plant.get_body(i) for i in plant.GetBodyIndices(plant.GetModelInstanceByName(name))]
            manager.Apply(CollisionFilterDeclaration().ExcludeWithin(collect(bodies)))
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        parent, child = joint.parent_body(), joint.child_body()
        if joint.num_positions() == 0 or parent.index() == plant.world_body().index():
            continue
        sides = [plant.GetBodiesWeldedTo(body) for body in (parent, child)]
        if any(body.index() == plant.world_body().index() for body in sides[0]):
            sides = [[parent], [child]]  # what stands on the ground is no neighbour of the arm's first link
        manager.Apply(CollisionFilterDeclaration().ExcludeBetween(collect(sides[0]), collect(sides[1])))


def fit_friction(model: DrakeModel, geometries: list[tuple[object, str, float]]) -> None:
    """Coefficients per geometry that give the scene's pairs, as far as they can; the other pairs are said in the settings."""
    run, at = model.run, {geometry_id: k for k, (geometry_id, _, _) in enumerate(geometries)}
    mu = np.array([mu for _, _, mu in geometries], float)
    if (run.scene.get("friction") or {}).get("pairs"):
        pairs = [(at[a], at[b]) for a, b in model.scene_graph.model_inspector().GetCollisionCandidates() if a in at and b in at]
        wanted = np.array([run.pair_friction(geometries[a][1], mu[a], geometries[b][1], mu[b]) for a, b in pairs])
        mu, missed = fit_coefficients(mu, pairs, wanted)
        lines = {f"friction of {geometries[a][1]} and {geometries[b][1]}: {combine(mu[a], mu[b]):.6g} in Drake, {wanted[i]:.6g} in the scene"
                 for i in missed for a, b in [pairs[i]]}  # fmt: skip
        model.settings += sorted(lines)
    model.friction = {geometry_id: mu[k] for k, (geometry_id, _, _) in enumerate(geometries)}


def scene_geometries(model: DrakeModel) -> list[tuple[object, str, float]]:
    """(id, body, μ) of all collision geometries, in the scene's order."""
    result = []
    for k, (entry, body) in enumerate(zip(model.run.info["bodies"], model.bodies)):
        ids = model.on_world.get(entry["name"])
        if ids is None:
            ids = [] if entry["name"] == "world" else model.plant.GetCollisionGeometriesForBody(body)
        model.body_of |= dict.fromkeys(ids, k)
        if len(ids) != len(entry["geometries"]):
            raise SceneError(f"body {entry['name']} has {len(ids)} collision geometries in Drake and {len(entry['geometries'])} in deft")
        result += [(geometry_id, entry["name"], float(g["mu"])) for geometry_id, g in zip(ids, entry["geometries"])]
    return result


def assign_contact_properties(model: DrakeModel, options: DrakeOptions) -> None:
    plant, graph = model.plant, model.scene_graph
    inspector = graph.model_inspector()
    for geometry_id, mu in model.friction.items():
        shape = inspector.GetShape(geometry_id)
        properties = ProximityProperties()
        properties.AddProperty("material", "coulomb_friction", CoulombFriction(mu, mu))
        properties.AddProperty("material", "point_contact_stiffness", 2 * options.stiffness)  # two in a row: `stiffness` per pair
        properties.AddProperty("material", "relaxation_time", options.relaxation / 2)  # Drake adds both bodies'
        properties.AddProperty("material", "hunt_crossley_dissipation", 0.0 if options.approximation == "sap" else 10.0)
        if options.flat_contact == "hydroelastic":
            if isinstance(shape, HalfSpace):
                AddRigidHydroelasticProperties(properties)
            elif isinstance(shape, (Box, Convex, Cylinder)):
                size = shape.radius() / 4 if isinstance(shape, Cylinder) else 1.0
                AddCompliantHydroelasticProperties(size, options.modulus, properties)
        graph.AssignRole(plant.get_source_id(), geometry_id, properties, RoleAssign.kReplace)


def actuate(model: DrakeModel) -> None:
    """One actuator per joint of a robot, without limits unless the scene has them; gains come later."""
    plant, run = model.plant, model.run
    for index in list(plant.GetJointActuatorIndices()):
        plant.RemoveJointActuator(plant.get_joint_actuator(index))
    if run.scene.get("step", {}).get("effort_limits"):
        raise SceneError("step.effort_limits: Drake's springs have no limits here")
    joints = joints_by_name(plant)
    for name in run.names_u:
        plant.AddJointActuator(name.replace("/", "_"), joints[name])


def refuse_what_differs(run: PlantScene) -> None:
    for robot in run.scene.get("robots") or []:
        if robot.get("drive", "position") != "position":
            raise SceneError(f"robot {robot['name']}: drive {robot['drive']} is not known here; valid: position")
    if (run.scene.get("commands") or {}).get("type", "position") == "velocity":
        raise SceneError("commands.type: velocity belongs to the limit-surface model; Drake's robots follow joint targets")
    if -1 in list(run.attributes.get("u_index_q", [])):
        raise SceneError("commands that are forces cannot be repeated here")


def build_model(run: PlantScene, options: DrakeOptions) -> DrakeModel:
    """The scene in Drake, finalised, gains and damping set as `settings` says. @throws SceneError, RuntimeError (Drake's own)."""
    refuse_what_differs(run)
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, options.step)
    model = DrakeModel(builder, plant, graph, run)
    plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, APPROXIMATIONS[options.approximation]))
    plant.set_contact_model(ContactModel.kHydroelasticWithFallback if options.flat_contact == "hydroelastic" else ContactModel.kPoint)
    plant.set_stiction_tolerance(options.stiction)
    plant.mutable_gravity_field().set_gravity_vector(run.info["settings"]["gravity"])
    add_bodies(model)
    if not run.scene.get("step", {}).get("robot_gravity", False):
        for robot in run.info["robots"]:
            plant.set_gravity_enabled(plant.GetModelInstanceByName(robot["name"]), False)
    actuate(model)
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        if joint.num_velocities() and hasattr(joint, "set_default_damping"):
            joint.set_default_damping(0.0)
        if joint.num_positions() == 1 and not run.scene.get("step", {}).get("joint_limits", True):
            joint.set_position_limits([-np.inf], [np.inf])
    find_bodies(model)
    exclude_collisions(model)
    fit_friction(model, scene_geometries(model))
    assign_contact_properties(model, options)
    set_gains(model, options)
    plant.Finalize()
    find_coordinates(model)
    return model


def find_bodies(model: DrakeModel) -> None:
    plant = model.plant
    for name in model.run.names_bodies:
        scope, _, local = name.rpartition("/")
        body = plant.world_body() if name == "world" else plant.GetBodyByName(local, plant.GetModelInstanceByName(scope or name))
        model.bodies.append(body)


def find_coordinates(model: DrakeModel) -> None:
    """Where each coordinate and velocity of the scene is in Drake, by name."""
    plant, where_q, where_v = model.plant, {}, {}
    for index in plant.GetJointIndices():
        joint = plant.get_joint(index)
        name = joint_name(plant, joint)
        if joint.num_positions() == 1:
            where_q[name], where_v[name] = joint.position_start(), joint.velocity_start()
        elif joint.num_positions() == 7:
            scope = plant.GetModelInstanceName(joint.child_body().model_instance())
            q, v = joint.position_start(), joint.velocity_start()
            where_q |= {f"{scope}/{c}": q + i for i, c in enumerate(("qw", "qx", "qy", "qz", "x", "y", "z"))}
            where_v |= {f"{scope}/{c}": v + i for i, c in enumerate(("wx", "wy", "wz", "vx", "vy", "vz"))}
    for names, where in ((model.run.names_q, where_q), (model.run.names_v, where_v)):
        unknown = [name for name in names if name not in where]
        if unknown:
            raise SceneError(f"coordinates {', '.join(unknown)} have no counterpart in Drake's model; it has {', '.join(sorted(where))}")
    model.index_q = np.array([where_q[name] for name in model.run.names_q], int)
    model.index_v = np.array([where_v[name] for name in model.run.names_v], int)


def set_gains(model: DrakeModel, options: DrakeOptions) -> None:
    """Springs of the scene's stiffness on the joints of robots, and dampers: step.joint_damping, or max(2ζ√(K M_ii), K · lag), M_ii at the start."""
    run, plant = model.run, model.plant
    K, D = run.stiffness(), run.stated_damping()
    if D is None and len(K):
        M = mass_diagonal(run)
        D = np.maximum(2 * options.damping_ratio * np.sqrt(K * M), K * options.joint_lag)
    by_name = {joint_name(plant, actuator.joint()): actuator for actuator in map(plant.get_joint_actuator, plant.GetJointActuatorIndices())}
    for name, k, d in zip(run.names_u, K, D if D is not None else K):
        by_name[name].set_controller_gains(PdControllerGains(p=k, d=0.0))
        by_name[name].joint().set_default_damping(d)
    if D is not None and len(K):
        model.settings.append(
            "joints of robots: K = [" + ", ".join(f"{k:.6g}" for k in K) + "], D = [" + ", ".join(f"{d:.6g}" for d in D) + "]"
        )


def mass_diagonal(run: PlantScene) -> np.ndarray:
    """M_ii [nu] of the robots' joints at the start, from a copy of the model: gains are set before a model is finalised, masses are known after."""
    builder = DiagramBuilder()
    plant, graph = AddMultibodyPlantSceneGraph(builder, 1e-3)
    twin = DrakeModel(builder, plant, graph, run)
    add_bodies(twin)
    plant.Finalize()
    find_coordinates(twin)
    context = plant.CreateDefaultContext()
    plant.SetPositions(context, twin.from_scene(run.q[0] if run.q_inertia is None else run.q_inertia, twin.index_q, plant.num_positions()))
    M = plant.CalcMassMatrix(context)
    rows = [run.names_v.index(name) for name in run.names_u]
    return np.array([M[twin.index_v[i], twin.index_v[i]] for i in rows])
