"""Looks for the gains of a pendulum's controller on a grid."""

import time

import gymnax
import jax
import jax.numpy as jnp

env, env_params = gymnax.make("Pendulum-v1")
LENGTH, EPISODES = 200, 16


def evaluate(key, stiffness, damping):
    """The mean return of a controller with these gains."""

    @jax.jit
    def episode(key):
        obs, state = env.reset(key, env_params)

        def body(carry, key):
            obs, state = carry
            action = jnp.clip(-stiffness * obs[1] - damping * obs[2], -2.0, 2.0)
            obs, state, reward, *_ = env.step(key, state, action[None], env_params)
            return (obs, state), reward

        _, rewards = jax.lax.scan(body, (obs, state), jax.random.split(key, LENGTH))
        return rewards.sum()

    return jnp.stack([episode(k) for k in jax.random.split(key, EPISODES)]).mean()


def main():
    key = jax.random.key(0)
    grid = [(k, d) for k in (2.0, 6.0, 10.0) for d in (0.5, 1.5, 3.0)]
    evaluate(key, 1.0, 1.0).block_until_ready()
    start = time.perf_counter()
    scores = [float(evaluate(key, k, d)) for k, d in grid]
    print(f"{len(grid)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", max(scores), sum(scores))


if __name__ == "__main__":
    main()
