"""Images: what is where, in which colour."""

import deft.gym
import deft.render
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import deft

BALL = """
deft: 1
name: ball
bodies:
  red: {shape: {sphere: {radius: 0.1}}, mass: 1, joint: free, mu: 0.5, color: [1, 0, 0]}
  tip: {shape: {box: {size: [0.1, 0.1, 0.1]}}, joint: {translation: xyz}, mu: 0.5}
robots: [{name: tip, stiffness: 500}]
objects: [{name: red}]
gravity: [0, 0, 0]
step: {h: 0.1}
configurations: {start: {tip: [0.5, 0, 0], red: {position: [0, 0, 0], quat_wxyz: [1, 0, 0, 0]}}}
initial: start
"""
FRONT = {"eye": [0, -2, 0], "target": [0, 0, 0], "fov": 20}  # x to the right, z up


@pytest.fixture(scope="module")
def scene():
    return deft.loads(BALL)


def red(image):
    """Rows and columns of red pixels."""
    image = image.astype(int)
    return np.argwhere((image[..., 0] > 2 * image[..., 1] + 20) & (image[..., 0] > 2 * image[..., 2] + 20))


def test_a_ball_is_round_and_where_it_is(scene):
    renderer = deft.render.Renderer(scene, 200, 100, camera=FRONT)
    image = renderer.render(scene.q())
    assert image.shape == (100, 200, 3) and image.dtype == np.uint8
    # Seen from 2 m a ball of 0.1 m covers asin(0.05) of an angle, of a picture of 2 tan(10 degrees) at distance 1.
    radius = 50 * np.tan(np.arcsin(0.05)) / np.tan(np.radians(10))
    found = red(image)
    assert len(found) == pytest.approx(np.pi * radius**2, rel=0.05)
    np.testing.assert_allclose(found.mean(0), [49.5, 99.5], atol=0.3)
    assert tuple(image[0, 0]) == tuple(image[-1, -1]) and image[0, 0].min() > 230

    moved = scene.q()
    moved[scene.slice("red").start + 4] = 0.1  # right
    moved[scene.slice("red").start + 6] = 0.05  # up
    per_metre = 50 / np.tan(np.radians(10)) / 2
    np.testing.assert_allclose(red(renderer.render(moved)).mean(0), [49.5 - 0.05 * per_metre, 99.5 + 0.1 * per_metre], atol=0.5)


def test_light_comes_from_above(scene):
    image = deft.render.Renderer(scene, 200, 200, camera=FRONT).render(scene.q())
    rows = red(image)
    column = image[:, 100, 0].astype(int)
    assert column[rows[:, 0].min() + 3] > column[rows[:, 0].max() - 3] + 20


def test_what_is_in_front_hides_what_is_behind(scene):
    renderer = deft.render.Renderer(scene, 200, 100, camera=FRONT)
    q = scene.q()
    q[scene.slice("tip")] = [0, -0.5, 0]
    assert len(red(renderer.render(q))) < 0.6 * len(red(renderer.render(scene.q())))


def test_cameras_are_checked(scene):
    with pytest.raises(ValueError, match="zoom"):
        deft.render.Renderer(scene, camera={"zoom": 2})
    with pytest.raises(ValueError, match="up"):
        deft.render.Renderer(scene, camera={**FRONT, "up": [0, 1, 0]})
    with pytest.raises(ValueError, match="width"):
        deft.render.Renderer(scene, width=0)


@pytest.mark.parametrize("name", ["planar_pushing", "planar_hand", "allegro_ball", "allegro_door", "bottle_roll"])
def test_robots_and_objects_are_in_the_picture(name):
    renderer = deft.render.Renderer(deft.load(deft.scene_path(f"planning/{name}")), 64, 48)
    image = renderer.render(renderer.scene.q())
    inside = (image != image[0, 0]).any(2)
    assert 0.02 < inside.mean()
    seen = renderer._role[(hit := renderer._trace(renderer._placed(renderer.scene.q())[0])["primID"])[hit >= 0]]
    assert {"robot", "object"} <= {deft.render._ROLES[role] for role in seen}


@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_an_environment_renders():
    env = gymnasium.make("deft/PlanarHand-v0", render_mode="rgb_array", camera={"width": 64, "height": 48})
    check_env(env.unwrapped)
    env.reset(seed=1)
    assert env.render().shape == (48, 64, 3)
    assert gymnasium.make("deft/PlanarHand-v0").unwrapped.render() is None
    with pytest.raises(ValueError, match="render_mode"):
        deft.gym.make_task("PlanarHand", render_mode="human")
