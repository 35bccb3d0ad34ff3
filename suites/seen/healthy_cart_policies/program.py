"""A search for the best policy of a cart with a pole, by evolution."""

import functools
import time

import gymnax
import jax
import jax.numpy as jnp

POPULATION, EPISODES, LENGTH, GENERATIONS, HIDDEN = 1024, 4, 150, 12, 16
WEIGHTS = 4 * HIDDEN + HIDDEN + HIDDEN * 2

env, env_params = gymnax.make("CartPole-v1")


def act(weights, observation):
    inside = weights[: 4 * HIDDEN].reshape(4, HIDDEN)
    bias = weights[4 * HIDDEN : 5 * HIDDEN]
    outside = weights[5 * HIDDEN :].reshape(HIDDEN, 2)
    return jnp.argmax(jnp.tanh(observation @ inside + bias) @ outside)


def episode(weights, key):
    """Number of steps until the pole falls for the first time."""
    reset_key, key = jax.random.split(key)
    observation, state = env.reset_env(reset_key, env_params)

    def one_step(carry, _):
        observation, state, alive = carry
        action = act(weights, observation)
        observation, state, reward, done, _ = env.step_env(key, state, action, env_params)
        return (observation, state, alive * (1.0 - done)), reward * alive

    carry = (observation, state, jnp.ones(()))
    _, rewards = jax.lax.scan(one_step, carry, length=LENGTH)
    return rewards.sum()


def fitness(population, key):
    keys = jax.random.split(key, EPISODES)
    all_episodes = jax.vmap(jax.vmap(episode, in_axes=(None, 0)), in_axes=(0, None))
    return all_episodes(population, keys).mean(axis=1)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def generation(mean, spread, key):
    """Keeps the better quarter and draws around it."""
    noise_key, episode_key = jax.random.split(key)
    population = mean + spread * jax.random.normal(noise_key, (POPULATION, WEIGHTS))
    scores = fitness(population, episode_key)
    _, best = jax.lax.top_k(scores, POPULATION // 4)
    elite = population[best]
    return elite.mean(axis=0), elite.std(axis=0) + 0.02, scores.mean()


def main():
    keys = list(jax.random.split(jax.random.key(1), GENERATIONS + 1))
    mean, spread = jnp.zeros(WEIGHTS), jnp.ones(WEIGHTS)
    mean, spread, score = generation(mean, spread, keys[0])
    score.block_until_ready()
    start = time.perf_counter()
    scores = []
    for key in keys[1:]:
        mean, spread, score = generation(mean, spread, key)
        scores.append(score)
    jax.block_until_ready(scores)
    print(f"{GENERATIONS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(scores[-1]))


if __name__ == "__main__":
    main()
