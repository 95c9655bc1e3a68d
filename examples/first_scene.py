"""A fingertip on springs pushes a box along the ground: load a scene, step it, take a derivative."""

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

scene = deft.loads(SCENE)
model = deft.StepModel(scene)
q, u = scene.q(), scene.u()
x = scene.slice("box").start + 4  # quaternion, then position
for _ in range(20):  # two seconds
    u[0] += 0.0075  # the target of the tip's spring [m]
    step = model.step(q, u)
    q = step.q.copy()
print(f"the box has moved {q[x]:.3f} m, status {step.status.name}")

d = model.derivatives(q, u)
print(f"a target 1 mm further moves it {d.dq_du[scene.slice_v('box').start + 3, 0]:.2f} mm more")
