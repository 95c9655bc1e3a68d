"""Environments: Gymnasium's own checker, rewards and ends, the vector against single ones."""

import importlib.metadata
import subprocess
import sys

import deft.gym
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import deft

# A peg on a spring pushes a box along a line, to a goal 3 cm further.
LINE = """
deft: 1
name: line
bodies:
  box: {shape: {box: {size: [0.1, 0.1, 0.1]}}, mass: 1, joint: {translation: x}, mu: 0.5}
  peg: {shape: {sphere: {radius: 0.05}}, mass: 0.1, joint: {translation: x}, mu: 0.5}
robots: [{name: peg, stiffness: 1000}]
objects: [{name: box}]
gravity: [0, 0, 0]
step: {h: 0.1, contact_margin: .inf}
configurations: {start: {peg: {x: -0.1}, box: {x: 0}}}
initial: start
goals: {further: {box: {x: 0.03}, tolerance: {joint: 0.004}}}
"""


@pytest.fixture(scope="module")
def line():
    return deft.loads(LINE)


@pytest.mark.filterwarnings("ignore:.*Box observation space")
@pytest.mark.parametrize("task", deft.gym.TASKS)
def test_gymnasiums_checker_passes(task):
    check_env(gymnasium.make(f"deft/{task}-v0").unwrapped, skip_render_check=True)


def test_tasks_are_known_by_their_module():
    code = "import gymnasium; print(type(gymnasium.make('deft.gym:deft/PlanarHand-v0').unwrapped).__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "ContactEnv\n"


@pytest.mark.installed
def test_the_package_names_its_environments():
    (found,) = importlib.metadata.entry_points(group="gymnasium.envs", name="deft")  # read by Gymnasium before 1.0
    assert found.load() is deft.gym.register


def test_an_episode_ends_at_the_goal(line):
    env = deft.gym.ContactEnv(line, max_change=0.005)
    observation, info = env.reset(seed=1)
    assert observation.shape == (4,)  # q, target of the peg, residual
    assert info["distance"] == pytest.approx(env.task.goal.distance(line.q()))
    assert env.reset(seed=1)[0].tolist() == observation.tolist()
    rewards = []
    for _ in range(40):
        observation, reward, terminated, truncated, info = env.step([1.0])
        rewards.append(reward)
        if terminated:
            break
    assert terminated and not truncated and info["is_success"]
    assert env.q[line.index("box/x")] == pytest.approx(0.03, abs=0.004)
    assert -1 < rewards[0] < -0.8 and np.all(np.diff(rewards) > -1e-9) and rewards[-1] > -0.2


def test_actions_keep_to_the_limits_and_episodes_to_their_steps(line):
    env = deft.gym.ContactEnv(
        line, reward=lambda before, after, reached, q, action: before - after + action[0], max_steps=3, max_change=0.005
    )
    env.reset()
    ends = [env.step([5.0]) for _ in range(3)]
    assert [end[3] for end in ends] == [False, False, True] and not ends[-1][2]
    assert ends[0][0][line.n_q] == pytest.approx(0.005 + line.q()[line.index("peg/x")] - ends[0][0][line.index("peg/x")])
    assert ends[0][1] == pytest.approx(5.0, abs=0.02)
    with pytest.raises(ValueError, match="action"):
        env.step([1.0, 2.0])


def test_a_plant_may_move_instead(line):
    stepped = deft.gym.ContactEnv(line, plant=deft.StepPlant(deft.StepModel(line)))
    plain = deft.gym.ContactEnv(line)
    for env in (stepped, plain):
        env.reset(seed=4)
    for _ in range(5):
        np.testing.assert_allclose(stepped.step([1.0])[0], plain.step([1.0])[0], atol=1e-9)


def test_a_plant_says_where_it_begins_and_may_fail(line):
    class Elsewhere(deft.StepPlant):
        def reset(self, q, v, u, seed):
            super().reset(q + 0.02, v, u, seed)

    env = deft.gym.ContactEnv(line, plant=Elsewhere(deft.StepModel(line)))
    observation, info = env.reset()
    assert observation[: line.n_q] == pytest.approx(line.q() + 0.02)
    assert info["distance"] == pytest.approx(env.task.goal.distance(line.q() + 0.02))

    class Broken(deft.StepPlant):
        def step(self, u, dt):
            self.q = self.q * np.nan

    env = deft.gym.ContactEnv(line, plant=Broken(deft.StepModel(line)))
    start, _ = env.reset()
    observation, _, terminated, truncated, info = env.step([0.0])
    assert terminated and not truncated and info["failed"] and not info["is_success"]
    assert observation[: line.n_q] == pytest.approx(start[: line.n_q])


def test_a_goal_reached_on_the_last_step_is_no_truncation(line):
    single = deft.gym.ContactEnv(line, max_change=0.03, max_steps=1)
    vector = deft.gym.ContactVectorEnv(1, line, max_change=0.03, max_steps=1)
    single.reset(), vector.reset()
    assert single.step([1.0])[2:4] == (True, False)
    _, _, terminated, truncated, _ = vector.step([[1.0]])
    assert terminated[0] and not truncated[0]


def test_a_start_at_the_goal_is_worth_nothing_less_than_a_tolerance(line):
    env = deft.gym.ContactEnv(line.with_({"goals.further.box.x": 0.0}), max_change=0.01)
    env.reset()
    assert -3 < env.step([1.0])[1] < -0.5


def test_a_scene_without_goal_wants_a_reward(line):
    scene = deft.loads(LINE[: LINE.index("goals:")])
    with pytest.raises(ValueError, match="reward"):
        deft.gym.ContactEnv(scene)
    env = deft.gym.ContactEnv(scene, reward=lambda before, after, reached, q, action: 1.0)
    env.reset()
    assert env.step([0.0])[1:4] == (1.0, False, False)
    with pytest.raises(deft.InputError, match="elsewhere"):
        deft.gym.ContactEnv(line, goal="elsewhere")


def test_the_vector_does_what_single_environments_do():
    envs = gymnasium.make_vec("deft/PlanarHand-v0", num_envs=3, max_steps=4)
    single = [deft.gym.make_task("PlanarHand", max_steps=4) for _ in range(3)]
    assert isinstance(envs.unwrapped, deft.gym.ContactVectorEnv)
    observations, _ = envs.reset(seed=7)
    for i, env in enumerate(single):
        np.testing.assert_allclose(observations[i], env.reset(seed=7 + i)[0], atol=1e-12)
    random = np.random.default_rng(0)
    for k in range(4):
        actions = random.uniform(-1, 1, (3, 4))
        observations, rewards, terminated, truncated, info = envs.step(actions)
        for i, env in enumerate(single):
            alone = env.step(actions[i])
            np.testing.assert_allclose(info["final_obs"][i] if k == 3 else observations[i], alone[0], atol=1e-7)
            np.testing.assert_allclose((rewards[i], terminated[i], truncated[i]), alone[1:4], atol=1e-7)
    assert truncated.all() and info["_final_obs"].all() and info["final_info"]["_distance"].all()
    np.testing.assert_allclose(info["final_info"]["distance"], [env.task.distance(env.q) for env in single], atol=1e-7)
    np.testing.assert_allclose(info["distance"], envs.unwrapped.task.distance(envs.unwrapped._q), atol=1e-12)
    assert envs.unwrapped.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    assert np.all(np.abs(observations - info["final_obs"][0]).max(1) > 1e-6)  # the first ones of the next episodes


def test_some_environments_are_reset_and_others_go_on():
    envs = deft.gym.make_vec("deft/PlanarHand-v0", 2)
    envs.reset(seed=1)
    moved = envs.step(np.ones((2, 4)))[0]
    after, _ = envs.reset(options={"reset_mask": np.array([True, False])})
    assert after[1].tolist() == moved[1].tolist() and after[0].tolist() != moved[0].tolist()
    for wrong in ([0, 1], np.array([0, 1]), np.array([True]), np.array([False, False])):
        with pytest.raises(ValueError, match="reset_mask"):
            envs.reset(options={"reset_mask": wrong})
    envs.reset(seed=[5, 6], options={"reset_mask": np.array([False, True])})
    alone = deft.gym.make_task("PlanarHand")
    assert envs._observe()[1].tolist() == pytest.approx(alone.reset(seed=6)[0].tolist())
    q = alone.scene.q() + 0.01
    assert np.all(envs.reset(options={"q": q})[0][:, : len(q)] == q)
    for actions in (np.ones((3, 4)), np.full((2, 4), np.nan)):
        with pytest.raises(ValueError, match="actions"):
            envs.step(actions)
    with pytest.raises(ValueError, match="elsewhere"):
        envs.reset(options={"elsewhere": 1})
    with pytest.raises(RuntimeError, match="reset"):
        deft.gym.make_vec("deft/PlanarHand-v0", 2).step(np.zeros((2, 4)))
    with pytest.raises(KeyError, match="deft/PlanarHand-v0"):
        deft.gym.make_vec("deft/Nothing-v0", 2)


def test_distances_of_goals(line):
    goal = line.goal()
    q = np.array([line.q(), line.pack({"box": {"x": 0.03}})])
    assert goal.name == "further" and goal.size == 1
    np.testing.assert_allclose(goal.distance(q), [abs(goal.residual(q[0])[0]), 0], atol=1e-12)
    assert goal.reached(q) == [False, True] and goal.reached(goal.q) is True
    assert goal.error(q[0])[2] == pytest.approx(0.03)
