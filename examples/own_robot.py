"""A robot of one's own: a URDF, a scene made in code around it, and a plan."""

import deft

FINGER = """<robot name="finger">
  <link name="base"/>
  <link name="tip">
    <inertial><origin xyz="0 0 0.1"/><mass value="0.2"/><inertia ixx="0.001" iyy="0.001" izz="0.0001" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.02"/></geometry></collision>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="base"/><child link="tip"/><axis xyz="1 0 0"/><limit lower="-0.3" upper="0.3" effort="50" velocity="0.5"/>
  </joint>
</robot>"""

with open("finger.urdf", "w") as file:
    file.write(FINGER)

builder = deft.SceneBuilder("slider")
builder.add_model("finger.urdf", "finger", weld={"child": "base", "position": [-0.2, 0, -0.05]})
builder.robot("finger", stiffness=400)
builder.add_body("ground", shape={"half_space": {"normal": [0, 0, 1], "offset": 0}}, joint="fixed", mu=0.6)
builder.add_body("box", shape={"box": {"size": [0.1, 0.1, 0.1]}}, mass=0.3, joint="free", mu=0.6)
builder.object("box")
builder.configuration("start", {"finger": [0.0], "box": {"position": [0, 0, 0.05], "quat_wxyz": [1, 0, 0, 0]}})
builder.goal("further", {"box": {"position": [0.1, 0, 0.05]}}, tolerance={"position": 0.01})
scene = builder.set("step.h", 0.1).build()
print(f"{scene.name}: {scene.n_q} coordinates, {scene.n_u} command; robots {scene.robots}, objects {scene.objects}")

plan = deft.plan(scene, "further", seed=1, time_limit=60)
print(f"{plan.status}: off by {1000 * plan.error.position_m:.1f} mm after {len(plan.u) * 0.1:.1f} s")
