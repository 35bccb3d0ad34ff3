"""Scores random policies that balance a pole, an episode each (brax)."""

import time

import jax
import jax.numpy as jnp
from brax import envs

env = envs.get_environment("inverted_pendulum", backend="positional")
LENGTH = 60


@jax.jit
def episode(state, weights):
    def body(state, _):
        action = jnp.tanh(state.obs @ weights)
        state = env.step(state, action[None])
        return state, state.reward

    _, rewards = jax.lax.scan(body, state, None, LENGTH)
    return rewards.sum()


def main():
    reset = jax.jit(env.reset)
    keys = list(jax.random.split(jax.random.key(3), 13))
    weights = list(jax.random.normal(jax.random.key(4), (13, env.observation_size)))
    episode(reset(keys[0]), weights[0]).block_until_ready()
    scores = []
    start = time.perf_counter()
    for key, own in zip(keys[1:], weights[1:]):
        scores.append(episode(reset(key), own))
    jax.block_until_ready(scores)
    print(f"{len(scores)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(scores).mean()))


if __name__ == "__main__":
    main()
