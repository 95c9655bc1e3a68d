"""Fit friction and mass to a recorded push, with gradients through contact (pip install deft-contact[torch])."""

import deft.torch
import numpy as np
import torch

import deft

SCENE = """
deft: 1
name: push
bodies:
  ground: {shape: {half_space: {normal: [0, 0, 1], offset: 0}}, joint: fixed, mu: 0.5}
  box:    {shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 0.5, joint: free, mu: 0.5}
  tip:    {shape: {sphere: {radius: 0.02}}, joint: {translation: xyz}, mu: 0.5}
robots:  [{name: tip, stiffness: 500}]
objects: [{name: box}]
step: {h: 0.1}
configurations:
  start: {tip: [-0.1, 0, 0.05], box: {position: [0, 0, 0.05], quat_wxyz: [1, 0, 0, 0]}}
initial: start
"""

torch.set_default_dtype(torch.float64)
NAMES = ("mu:box|ground", "mass:box")
scene = deft.loads(SCENE)
model = deft.StepModel(scene, kappa=1e4)  # smoothed: gradients where contacts come and go

# The record: pushes at several speeds with values that the fit does not know.
truth = dict(zip(NAMES, (0.32, 0.85)))
recorder = deft.StepModel(scene, kappa=1e4).with_params(truth)
Q, U, NEXT = [], [], []
for speed in (0.02, 0.06, 0.12, 0.2):
    q, u = scene.q(), scene.u()
    for _ in range(8):
        u[0] += speed * 0.1
        step = recorder.step(q, u)
        Q.append(q), U.append(u.copy()), NEXT.append(step.q.copy())
        q = step.q.copy()
Q, U, NEXT = (torch.from_numpy(np.array(rows)) for rows in (Q, U, NEXT))

values = torch.tensor([0.5, 0.5], requires_grad=True)  # what the scene says
optimizer = torch.optim.Adam([values], lr=0.03)
for k in range(120):
    optimizer.zero_grad()
    loss = ((deft.torch.step(model, Q, U, params=dict(zip(NAMES, values))) - NEXT) ** 2).sum() * 1e6  # [mm²]
    loss.backward()
    optimizer.step()
    if k % 30 == 0:
        print(f"{k:4}: loss {loss.item():9.4f} mm², friction {values[0].item():.3f}, mass {values[1].item():.3f} kg")
print(f"fitted: friction {values[0].item():.3f} (was {truth[NAMES[0]]}), mass {values[1].item():.3f} kg (was {truth[NAMES[1]]})")
