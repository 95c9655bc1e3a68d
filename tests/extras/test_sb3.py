"""deft.gym.SB3VecEnv: stable-baselines3's algorithms take it."""

import deft.gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor


def test_ppo_learns_on_it():
    envs = VecMonitor(deft.gym.SB3VecEnv("deft/PlanarHand-v0", 8, max_steps=20))
    model = PPO("MlpPolicy", envs, n_steps=20, batch_size=40, n_epochs=2, seed=1, device="cpu")
    model.learn(800)
    assert model.num_timesteps == 800
    assert len(model.ep_info_buffer) == 40 and all(np.isfinite(episode["r"]) for episode in model.ep_info_buffer)


def test_ends_are_marked_as_the_library_marks_them():
    envs = deft.gym.SB3VecEnv("deft/PlanarHand-v0", 2, max_steps=3)
    envs.seed(4)
    first = envs.reset()
    for _ in range(3):
        observations, _rewards, dones, infos = envs.step(np.zeros((2, 4)))
    assert dones.all() and all(info["TimeLimit.truncated"] for info in infos)
    assert infos[0]["terminal_observation"].shape == observations[0].shape
    assert not np.array_equal(infos[0]["terminal_observation"], observations[0])
    envs.seed(4)
    assert np.array_equal(envs.reset(), first)
    assert envs.get_attr("max_steps") == [3, 3] and envs.env_method("reset", indices=[0])[0][0].shape == (2, 14)
