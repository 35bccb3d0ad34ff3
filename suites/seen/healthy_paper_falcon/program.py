"""Policy-gradient training on CartPole with many Gymnax environments in parallel."""
import time

import gymnax
import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 180
ENVS = 256
HORIZON = 128
HIDDEN = 64
DISCOUNT = 0.98

env, env_params = gymnax.make("CartPole-v1")
optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(5e-3))


def init_policy(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (4, HIDDEN)) / 2.0,
        "b1": jnp.zeros(HIDDEN),
        "w2": 0.01 * jax.random.normal(k2, (HIDDEN, 2)),
        "b2": jnp.zeros(2),
    }


def policy(params, obs):
    hidden = jnp.tanh(obs @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def rollout(params, obs, state, key):
    def step(carry, key):
        seen, state = carry
        act_key, env_key = jax.random.split(key)
        action = jax.random.categorical(act_key, policy(params, seen))
        env_keys = jax.random.split(env_key, ENVS)
        obs, state, reward, ended, cut, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            env_keys, state, action, env_params
        )
        return (obs, state), (seen, action, reward, ended | cut)

    return jax.lax.scan(step, (obs, state), jax.random.split(key, HORIZON))


def discounted_returns(reward, done):
    def back(future, inputs):
        reward, done = inputs
        future = reward + DISCOUNT * future * (1.0 - done)
        return future, future

    _, returns = jax.lax.scan(back, jnp.zeros(ENVS), (reward, done), reverse=True)
    return returns


def loss_fn(params, obs, action, advantage):
    log_prob = jax.nn.log_softmax(policy(params, obs))
    chosen = jnp.take_along_axis(log_prob, action[..., None], axis=-1)[..., 0]
    return -jnp.mean(chosen * advantage)


@jax.jit
def train_step(params, opt_state, obs, state, key):
    (obs, state), (seen, action, reward, done) = rollout(params, obs, state, key)
    returns = discounted_returns(reward, done)
    advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
    grads = jax.grad(loss_fn)(params, seen, action, advantage)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    episodes = jnp.sum(reward) / jnp.maximum(jnp.sum(done), 1.0)
    return optax.apply_updates(params, updates), opt_state, obs, state, episodes


def main():
    params = init_policy(jax.random.key(0))
    opt_state = optimizer.init(params)
    reset_keys = jax.random.split(jax.random.key(1), ENVS)
    obs, state = jax.vmap(env.reset, in_axes=(0, None))(reset_keys, env_params)
    keys = jax.random.split(jax.random.key(2), STEPS + 1)

    jax.block_until_ready(train_step(params, opt_state, obs, state, keys[0]))

    start = time.perf_counter()
    lengths = []
    for key in keys[1:]:
        params, opt_state, obs, state, length = train_step(params, opt_state, obs, state, key)
        lengths.append(length)
    jax.block_until_ready(params)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    lengths = np.asarray(jax.device_get(lengths))
    print(f"checksum {lengths[0]:.2f} {lengths[-5:].mean():.2f}")


if __name__ == "__main__":
    main()
