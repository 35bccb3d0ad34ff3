"""Evolution strategy on Gymnax's CartPole: rollouts of a whole population."""
import time

import gymnax
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

POPULATION = 512
EPISODE = 200
GENERATIONS = 120
HIDDEN = 16
SIGMA = 0.1
RATE = 0.1

env, env_params = gymnax.make("CartPole-v1")


def init_policy(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": 0.5 * jax.random.normal(k1, (4, HIDDEN)),
        "w2": 0.1 * jax.random.normal(k2, (HIDDEN, 2)),
    }


def act(policy, obs):
    return jnp.argmax(jnp.tanh(obs @ policy["w1"]) @ policy["w2"])


def rollout(policy, key):
    """Undiscounted return of one episode."""
    key_reset, key_steps = jax.random.split(key)
    obs, state = env.reset(key_reset, env_params)

    def body(carry, key):
        obs, state, alive, total = carry
        obs, state, reward, ended, cut, _ = env.step(key, state, act(policy, obs), env_params)
        total = total + reward * alive
        alive = alive * (1.0 - jnp.logical_or(ended, cut))
        return (obs, state, alive, total), None

    init = (obs, state, jnp.float32(1.0), jnp.float32(0.0))
    (_, _, _, total), _ = jax.lax.scan(body, init, jax.random.split(key_steps, EPISODE))
    return total


def make_generation(unravel):
    @jax.jit
    def generation(key, theta):
        key, key_noise, key_env = jax.random.split(key, 3)
        half = jax.random.normal(key_noise, (POPULATION // 2, theta.size))
        noise = jnp.concatenate([half, -half])
        policies = jax.vmap(unravel)(theta + SIGMA * noise)
        returns = jax.vmap(rollout)(policies, jax.random.split(key_env, POPULATION))
        advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
        return key, theta + RATE / SIGMA * (advantage @ noise) / POPULATION, returns.mean()

    return generation


def main():
    theta, unravel = ravel_pytree(init_policy(jax.random.PRNGKey(1)))
    generation = make_generation(unravel)
    key = jax.random.PRNGKey(2)
    jax.block_until_ready(generation(key, theta))

    scores = []
    start = time.perf_counter()
    for _ in range(GENERATIONS):
        key, theta, score = generation(key, theta)
        scores.append(score)
    scores = jnp.stack(scores).block_until_ready()
    elapsed = time.perf_counter() - start

    print(f"{GENERATIONS} steps in {elapsed:.2f} s")
    print(f"checksum first={float(scores[0]):.2f} last={float(scores[-1]):.2f}")


if __name__ == "__main__":
    main()
