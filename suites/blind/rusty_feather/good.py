"""Off-policy control of a pendulum swarm: TD3-like critic updates with a device replay memory."""
import functools
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
import rlax

OBS_DIM = 96
ACT_DIM = 8
CAPACITY = 60_000
N_ENVS = 16
BATCH = 256
N_STEPS = 200


class Memory(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    next_obs: jax.Array
    cursor: jax.Array


def empty_memory():
    return Memory(
        obs=jnp.zeros((CAPACITY, OBS_DIM)),
        action=jnp.zeros((CAPACITY, ACT_DIM)),
        reward=jnp.zeros((CAPACITY,)),
        next_obs=jnp.zeros((CAPACITY, OBS_DIM)),
        cursor=jnp.array(0),
    )


def remember(memory, obs, action, reward, next_obs):
    at = (memory.cursor + jnp.arange(N_ENVS)) % CAPACITY
    return Memory(
        obs=memory.obs.at[at].set(obs),
        action=memory.action.at[at].set(action),
        reward=memory.reward.at[at].set(reward),
        next_obs=memory.next_obs.at[at].set(next_obs),
        cursor=memory.cursor + N_ENVS,
    )


def recall(memory, key):
    filled = jnp.minimum(memory.cursor, CAPACITY)
    rows = jax.random.randint(key, (BATCH,), 0, filled)
    return memory.obs[rows], memory.action[rows], memory.reward[rows], memory.next_obs[rows]


def swarm_dynamics(obs, action, key):
    angle, speed = jnp.split(obs, 2, axis=-1)
    torque = jnp.tile(action, (1, angle.shape[-1] // ACT_DIM))
    speed = 0.98 * speed - 0.05 * jnp.sin(angle) + 0.05 * torque
    angle = angle + 0.05 * speed + 0.01 * jax.random.normal(key, angle.shape)
    reward = jnp.mean(jnp.cos(angle), axis=-1) - 0.01 * jnp.sum(action**2, axis=-1)
    return jnp.concatenate([angle, speed], axis=-1), reward


def init_critic(key, width=256):
    k1, k2, k3 = jax.random.split(key, 3)
    w1 = jax.random.normal(k1, (OBS_DIM + ACT_DIM, width)) * 0.08
    w2 = jax.random.normal(k2, (width, width)) * 0.06
    w3 = jax.random.normal(k3, (width, 1)) * 0.06
    return w1, w2, w3


def critic(params, obs, action):
    x = jnp.concatenate([obs, action], axis=-1)
    x = jax.nn.relu(x @ params[0])
    x = jax.nn.relu(x @ params[1])
    return (x @ params[2])[:, 0]


def main():
    optimizer = optax.adam(3e-4)

    @functools.partial(jax.jit, donate_argnums=0)
    def act_and_store(memory, obs, key):
        k1, k2 = jax.random.split(key)
        action = jnp.tanh(jax.random.normal(k1, (N_ENVS, ACT_DIM)))
        next_obs, reward = swarm_dynamics(obs, action, k2)
        return remember(memory, obs, action, reward, next_obs), next_obs

    @jax.jit
    def learn(params, opt_state, memory, key):
        obs, action, reward, next_obs = recall(memory, key)
        q_next = critic(params, next_obs, jnp.zeros_like(action))

        def loss_fn(p):
            errors = jax.vmap(rlax.td_learning)(critic(p, obs, action), reward, jnp.full(BATCH, 0.97), q_next)
            return jnp.mean(errors**2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, loss

    def train(n_steps):
        memory, obs = empty_memory(), jnp.zeros((N_ENVS, OBS_DIM))
        params = init_critic(jax.random.PRNGKey(1))
        opt_state = optimizer.init(params)
        losses = []
        for key in jax.random.split(jax.random.PRNGKey(2), n_steps):
            memory, obs = act_and_store(memory, obs, key)
            params, opt_state, loss = learn(params, opt_state, memory, key)
            losses.append(loss)
        return jax.block_until_ready((params, jnp.stack(losses)))

    train(2)
    start = time.perf_counter()
    params, losses = train(N_STEPS)
    elapsed = time.perf_counter() - start
    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(jnp.sum(losses)):.5f} {float(jnp.linalg.norm(params[0])):.5f}")


if __name__ == "__main__":
    main()
