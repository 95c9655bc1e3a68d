"""The plant that is Drake, in a process of its own."""

import numpy as np
import pytest

import deft


def test_a_ball_falls():
    scene = deft.loads(
        "deft: 1\nbodies:\n  ball: {shape: {sphere: {radius: 0.05}}, mass: 1, mu: 0.5, joint: free}\nstep: {h: 0.1}\ngravity: [0, 0, -9.81]\n"
        "configurations: {start: {ball: {position: [0, 0, 3]}}}\ninitial: start\n"
    )
    plant = deft.DrakePlant(scene)
    plant.reset(scene.q(), scene.v(), scene.u(), 0)
    plant.step(scene.u(), 0.5)
    fallen = 3 - scene.body_pose(plant.q, "ball")[2, 3]
    assert fallen == pytest.approx(9.81 * 0.5**2 / 2, rel=5e-3)
    assert plant.time == pytest.approx(0.5)


def test_a_plan_is_followed_in_drake():
    scene = deft.load(deft.scene_path("planning/ball_grazing"))
    plan = deft.plan(scene, seed=1, time_limit=600)
    assert plan.success
    run = deft.track(plan, plant="drake")
    assert run.reason == "Completed" and run.arrived
    again = deft.track(plan, plant=deft.DrakePlant(scene))
    np.testing.assert_allclose(again.q[-1], run.q[-1], atol=1e-3)
