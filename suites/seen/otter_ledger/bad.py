"""Q-learning of a river crossing with a replay memory on the device.

A batch of simulated otters swims in a current with noisy depth sensors.  Their
transitions go into a large ring buffer, and a small Q network is trained on
random samples of it with a slowly updated target network.
"""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

CAPACITY = 200_000
OBS = 48
ACTIONS = 5
N_OTTERS = 16
BATCH = 32
STEPS = 60
GAMMA = 0.95


class Memory(NamedTuple):
    obs: jax.Array
    next_obs: jax.Array
    action: jax.Array
    reward: jax.Array
    count: jax.Array


def empty_memory():
    return Memory(
        obs=jnp.zeros((CAPACITY, OBS)),
        next_obs=jnp.zeros((CAPACITY, OBS)),
        action=jnp.zeros(CAPACITY, jnp.int32),
        reward=jnp.zeros(CAPACITY),
        count=jnp.zeros((), jnp.int32),
    )


@jax.jit
def store(memory, obs, action, reward, next_obs):
    """Write one transition per otter into the ring buffer."""
    slots = (memory.count + jnp.arange(N_OTTERS)) % CAPACITY
    return Memory(
        obs=memory.obs.at[slots].set(obs),
        next_obs=memory.next_obs.at[slots].set(next_obs),
        action=memory.action.at[slots].set(action),
        reward=memory.reward.at[slots].set(reward),
        count=memory.count + N_OTTERS,
    )


def q_values(params, obs):
    hidden = jax.nn.relu(obs @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (OBS, 64)) / OBS**0.5,
        "b1": jnp.zeros(64),
        "w2": jax.random.normal(k2, (64, ACTIONS)) / 8.0,
        "b2": jnp.zeros(ACTIONS),
    }


@jax.jit
def swim(params, obs, key):
    """Epsilon-greedy stroke of every otter, and what it leads to."""
    k1, k2, k3 = jax.random.split(key, 3)
    greedy = q_values(params, obs).argmax(1)
    explore = jax.random.uniform(k1, (N_OTTERS,)) < 0.2
    action = jnp.where(explore, jax.random.randint(k2, (N_OTTERS,), 0, ACTIONS), greedy)
    push = (action - ACTIONS // 2)[:, None] * jnp.linspace(0.1, 0.3, OBS)
    noise = 0.1 * jax.random.normal(k3, obs.shape)
    next_obs = jnp.clip(0.9 * obs + 0.1 * jnp.roll(obs, 1, axis=1) + push + noise, -3, 3)
    reward = 1.0 - jnp.abs(next_obs[:, : OBS // 2].mean(1) - 0.5)
    return action, reward, next_obs


optimizer = optax.adam(1e-3)


@jax.jit
def learn(params, target, opt_state, memory, key):
    """One step of Q-learning on a random batch from the memory."""
    rows = jax.random.randint(jax.random.fold_in(key, 1), (BATCH,), 0, memory.count)
    best = q_values(target, memory.next_obs[rows]).max(1)
    goal = memory.reward[rows] + GAMMA * best

    def loss_fn(p):
        q = q_values(p, memory.obs[rows])
        taken = jnp.take_along_axis(q, memory.action[rows][:, None], axis=1)[:, 0]
        return optax.huber_loss(taken, goal).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    params = optax.apply_updates(params, updates)
    return params, optax.incremental_update(params, target, 0.02), opt_state, loss


def main():
    params = target = init_params(jax.random.PRNGKey(0))
    opt_state = optimizer.init(params)
    memory = empty_memory()
    obs = jax.random.normal(jax.random.PRNGKey(1), (N_OTTERS, OBS))

    losses, rewards = [], []
    for step, key in enumerate(jax.random.split(jax.random.PRNGKey(2), STEPS + 1)):
        if step == 1:  # the first step is the warm-up
            jax.block_until_ready((params, memory))
            start = time.perf_counter()
        action, reward, next_obs = swim(params, obs, key)
        memory = store(memory, obs, action, reward, next_obs)
        params, target, opt_state, loss = learn(params, target, opt_state, memory, key)
        obs = next_obs
        losses.append(loss)
        rewards.append(reward)
    jax.block_until_ready((params, memory, losses, rewards))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.4f} {float(losses[-1]):.4f} {float(rewards[-1].mean()):.4f}")


if __name__ == "__main__":
    main()
