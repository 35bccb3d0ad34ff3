"""Evolution strategies on gymnax's Pendulum: all rollouts of a generation in one call."""

import time

import gymnax
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree

PAIRS, EPISODE, SIGMA, HIDDEN = 128, 100, 0.05, 16

env, env_params = gymnax.make("Pendulum-v1")


def initial_policy(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": 0.3 * jax.random.normal(k1, (3, HIDDEN)),
        "b1": jnp.zeros(HIDDEN),
        "w2": 0.3 * jax.random.normal(k2, (HIDDEN, 1)),
    }


def act(policy, obs):
    return 2.0 * jnp.tanh(jnp.tanh(obs @ policy["w1"] + policy["b1"]) @ policy["w2"])


def episode_return(policy, key):
    reset_key, key = jax.random.split(key)
    obs, state = env.reset(reset_key, env_params)

    def body(carry, key):
        obs, state = carry
        obs, state, reward, *_ = env.step(key, state, act(policy, obs), env_params)
        return (obs, state), reward

    _, rewards = jax.lax.scan(body, (obs, state), jax.random.split(key, EPISODE))
    return rewards.sum()


flat, unravel = ravel_pytree(initial_policy(jax.random.key(0)))
tx = optax.adam(0.02)


@jax.jit
def generation(flat, opt_state, key):
    noise_key, roll_key = jax.random.split(key)
    noise = jax.random.normal(noise_key, (PAIRS, flat.size))
    tries = jnp.concatenate([flat + SIGMA * noise, flat - SIGMA * noise])
    keys = jnp.tile(jax.random.split(roll_key, PAIRS), 2)
    returns = jax.vmap(lambda p, k: episode_return(unravel(p), k))(tries, keys)
    gain = returns[:PAIRS] - returns[PAIRS:]
    grad = -(gain / (gain.std() + 1e-6)) @ noise / PAIRS
    updates, opt_state = tx.update(grad, opt_state)
    return optax.apply_updates(flat, updates), opt_state, returns.mean()


def main(flat=flat):
    opt_state = tx.init(flat)
    keys = jax.random.split(jax.random.key(1), 61)
    flat, opt_state, score = generation(flat, opt_state, keys[0])
    score.block_until_ready()
    scores = []
    start = time.perf_counter()
    for key in keys[1:]:
        flat, opt_state, score = generation(flat, opt_state, key)
        scores.append(score)
    jax.block_until_ready(scores)
    print(f"{len(scores)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(scores).mean()))


if __name__ == "__main__":
    main()
