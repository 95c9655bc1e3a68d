"""Simulate, write a run folder, read it again: with deft, and with h5py alone."""

import sys
from pathlib import Path

import h5py
import numpy as np

import deft

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out/push_run")
scene = deft.load(deft.scene_path("planning/planar_hand"))
closing = scene.u() + np.linspace(0, 0.1, 20)[:, None] * np.array([-1, -1, 1, 1])  # (steps, joints)
deft.simulate(scene, commands=closing).save(folder)

run = deft.Run.open(folder)  # nothing is read before it is asked for
print(f"{len(run.t)} times, {run.t[-1]:.1f} s, q {run.q.shape}, u {run.u.shape}")
contacts = run.contacts(run.t[-1])
for (a, b), force in zip(contacts.bodies, contacts.force, strict=True):
    if np.any(force):
        print(f"{a} on {b}: {np.linalg.norm(force):.2f} N")

with h5py.File(folder / "run.h5") as file:
    print("the same file holds", ", ".join(sorted(file)))
