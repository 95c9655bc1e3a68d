"""A block on an incline as a contact problem of one's own: numbers in, forces and a certificate out.

minimise ½ δᵀQδ + bᵀδ over the motion δ = (x, y) of one step, with gap + n·δ ≥ μ |t·δ| at the one contact.
"""

import math

import numpy as np

import deft

mass, h, mu = 1.0, 0.1, 0.3
for degrees in (10, 25):
    tilt = math.radians(degrees)
    problem = deft.Problem(
        kind="contact",
        nv=2,
        Q=np.eye(2) * mass / h**2,
        b=[-mass * 9.81 * math.sin(tilt), mass * 9.81 * math.cos(tilt)],  # minus the weight, along and across the incline
        contacts=[{"gap": 0, "mu": mu, "normal": {"cols": [1], "vals": [1]}, "tangents": [{"cols": [0], "vals": [1]}]}],
        model="cone",
        kappa=None,
    )
    found = deft.solve(problem)
    normal, friction = found["solution"]["force"][0]
    moved = 1000 * abs(found["solution"]["delta"][0])
    print(f"{degrees} degrees: {found['status']}, force {normal:.2f} N and {friction:.2f} N, moves {moved:.1f} mm in a step")
