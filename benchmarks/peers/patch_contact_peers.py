#!/usr/bin/env python3
"""ODE, Bullet and MuJoCo on scenes/patch_contact/cube_slides: a cube that slides on the ground with four contact points.

Usage: patch_contact_peers.py STEPS        prints JSON: the cube's centre after every step [m], its turn about the vertical [rad], the time of the run

Size, mass, friction, gravity, step and start are read from the scene. Set-up of the published figure: ODE and Bullet with four points, ODE with
`dContactApprox1`; MuJoCo hardened (elliptic cone, impratio 10, contacts with a time constant of five steps: stiffer ones bounce and turn the cube). ODE is the shared library of the
system (Debian's libode8, double precision), called through ctypes.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import yaml

SCENE = Path(__file__).resolve().parents[2] / "scenes/patch_contact/cube_slides.deft.yaml"


class Cube:
    """What the scene says."""

    def __init__(self):
        scene = yaml.safe_load(SCENE.read_text())
        body, start = scene["bodies"]["cube"], scene["configurations"]["start"]["cube"]
        self.size, self.mass, self.mu = body["shape"]["box"]["size"], float(body["mass"]), float(body["mu"])
        self.gravity, self.h = float(scene["gravity"][2]), float(scene["step"]["h"])
        self.position, self.velocity = start["position"], start["velocity"][3:]
        self.inertia = [self.mass * (sum(s * s for s in self.size) - self.size[i] ** 2) / 12 for i in range(3)]


def yaw(R) -> float:
    """Turn about the vertical of a rotation matrix, by rows."""
    return float(np.arctan2(R[1][0], R[0][0]))


def recorded(who: str, step, pose, steps: int) -> dict:
    rows, turn = [], []
    began = time.perf_counter()
    for _ in range(steps):
        step()
        p, angle = pose()
        rows.append([round(float(x), 9) for x in p])
        turn.append(round(angle, 12))
    return {"who": who, "position": rows, "turn": turn, "seconds": time.perf_counter() - began}


def ode(cube: Cube, steps: int) -> dict:
    name = os.environ.get("DEFT_ODE_LIBRARY") or ctypes.util.find_library("ode")
    if not name:
        raise ImportError("no shared library of ODE: Debian's package libode8, or its path in DEFT_ODE_LIBRARY")
    lib = ctypes.CDLL(name)
    lib.dGetConfiguration.restype = ctypes.c_char_p
    if b"ODE_double_precision" not in lib.dGetConfiguration():
        raise ImportError("ODE in single precision")
    real, pointer = ctypes.c_double, ctypes.c_void_p

    class Surface(ctypes.Structure):
        _fields_ = [("mode", ctypes.c_int)] + [(f, real) for f in ("mu", "mu2", "rho", "rho2", "rhoN", "bounce", "bounce_vel", "soft_erp", "soft_cfm",
                                                                   "motion1", "motion2", "motionN", "slip1", "slip2")]  # fmt: skip

    class Geom(ctypes.Structure):
        _fields_ = [
            ("pos", real * 4),
            ("normal", real * 4),
            ("depth", real),
            ("g1", pointer),
            ("g2", pointer),
            ("side1", ctypes.c_int),
            ("side2", ctypes.c_int),
        ]

    class Contact(ctypes.Structure):
        _fields_ = [("surface", Surface), ("geom", Geom), ("fdir1", real * 4)]

    class Mass(ctypes.Structure):
        _fields_ = [("mass", real), ("c", real * 4), ("I", real * 12)]

    def call(function, *arguments, result=pointer):
        f = getattr(lib, function)
        f.restype = result
        return f(*(real(a) if isinstance(a, float) else pointer(a) if isinstance(a, int) and a > 1 << 20 else a for a in arguments))

    lib.dInitODE2(0)
    world, joints = call("dWorldCreate"), call("dJointGroupCreate", 0)
    space = call("dSimpleSpaceCreate", None)
    call("dWorldSetGravity", world, 0.0, 0.0, cube.gravity, result=None)
    body = call("dBodyCreate", world)
    mass = Mass()
    call("dMassSetBoxTotal", ctypes.byref(mass), cube.mass, *map(float, cube.size), result=None)
    call("dBodySetMass", body, ctypes.byref(mass), result=None)
    call("dBodySetPosition", body, *map(float, cube.position), result=None)
    call("dBodySetLinearVel", body, *map(float, cube.velocity), result=None)
    box, plane = call("dCreateBox", space, *map(float, cube.size)), call("dCreatePlane", space, 0.0, 0.0, 1.0, 0.0)
    call("dGeomSetBody", box, body, result=None)
    geoms = (Geom * 4)()

    def step():
        found = call("dCollide", box, plane, ctypes.c_int(4), geoms, ctypes.c_int(ctypes.sizeof(Geom)), result=ctypes.c_int)
        for geom in geoms[:found]:
            contact = Contact()
            contact.surface.mode, contact.surface.mu, contact.geom = 0x7000, cube.mu, geom  # dContactApprox1
            joint = call("dJointCreateContact", world, joints, ctypes.byref(contact))
            call("dJointAttach", joint, body, None, result=None)
        call("dWorldStep", world, cube.h, result=ctypes.c_int)
        call("dJointGroupEmpty", joints, result=None)

    def pose():
        p = call("dBodyGetPosition", body, result=ctypes.POINTER(real))
        R = call("dBodyGetRotation", body, result=ctypes.POINTER(real))
        return p[:3], yaw([[R[4 * i + j] for j in range(3)] for i in range(3)])

    found = recorded("ODE", step, pose, steps)
    lib.dCloseODE()
    return found


def bullet(cube: Cube, steps: int) -> dict:
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    import pybullet

    client = pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, cube.gravity)
    pybullet.setTimeStep(cube.h)
    ground = pybullet.createMultiBody(0, pybullet.createCollisionShape(pybullet.GEOM_PLANE))
    body = pybullet.createMultiBody(
        cube.mass, pybullet.createCollisionShape(pybullet.GEOM_BOX, halfExtents=[s / 2 for s in cube.size]), basePosition=cube.position
    )
    pybullet.changeDynamics(ground, -1, lateralFriction=1.0, restitution=0)  # Bullet multiplies the two
    pybullet.changeDynamics(
        body, -1, lateralFriction=cube.mu, restitution=0, linearDamping=0, angularDamping=0, localInertiaDiagonal=cube.inertia
    )
    pybullet.resetBaseVelocity(body, cube.velocity, [0, 0, 0])

    def pose():
        p, quat = pybullet.getBasePositionAndOrientation(body)
        return p, yaw(np.array(pybullet.getMatrixFromQuaternion(quat)).reshape(3, 3))

    found = recorded("Bullet", pybullet.stepSimulation, pose, steps)
    pybullet.disconnect(client)
    return found


def mujoco(cube: Cube, steps: int) -> dict:
    import mujoco as mj

    half = " ".join(str(s / 2) for s in cube.size)
    model = mj.MjModel.from_xml_string(f"""
<mujoco>
  <option timestep="{cube.h}" gravity="0 0 {cube.gravity}" cone="elliptic" impratio="10" tolerance="1e-12" iterations="200"/>
  <worldbody>
    <geom name="ground" type="plane" size="50 50 1"/>
    <body name="cube" pos="{" ".join(map(str, cube.position))}">
      <freejoint/>
      <geom name="cube" type="box" size="{half}" mass="{cube.mass}"/>
    </body>
  </worldbody>
  <contact>
    <pair geom1="cube" geom2="ground" condim="3" friction="{cube.mu} {cube.mu} 0.005 0.0001 0.0001" solref="{5 * cube.h} 1" solimp="0.9999 0.9999 0.001 0.5 2"/>
  </contact>
</mujoco>""")
    data = mj.MjData(model)
    data.qvel[:3] = cube.velocity

    def pose():
        return data.qpos[:3], yaw(data.body("cube").xmat.reshape(3, 3))

    return recorded(f"MuJoCo {mj.__version__}", lambda: mj.mj_step(model, data), pose, steps)


def main() -> None:
    steps, rows, absent = int(sys.argv[1]), [], {}
    for name, run in (("ODE", ode), ("Bullet", bullet), ("MuJoCo", mujoco)):
        try:
            rows.append(run(Cube(), steps))
        except (ImportError, OSError) as error:
            absent[name] = str(error)
    print(json.dumps({"rows": rows, "absent": absent}))


if __name__ == "__main__":
    main()
