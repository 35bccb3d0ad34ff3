"""Learns to steer by Q-learning with a memory of what happened (rlax, optax)."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
import rlax

CAPACITY, STATE, ACTIONS, ACTORS, BATCH = 60_000, 32, 5, 16, 64


class Memory(NamedTuple):
    state: jax.Array
    action: jax.Array
    reward: jax.Array
    following: jax.Array
    added: jax.Array


def empty():
    return Memory(
        jnp.zeros((CAPACITY, STATE)),
        jnp.zeros(CAPACITY, jnp.int32),
        jnp.zeros(CAPACITY),
        jnp.zeros((CAPACITY, STATE)),
        jnp.zeros((), jnp.int32),
    )


@jax.jit
def add(memory, state, action, reward, following):
    at = (memory.added + jnp.arange(ACTORS)) % CAPACITY
    return Memory(
        memory.state.at[at].set(state),
        memory.action.at[at].set(action),
        memory.reward.at[at].set(reward),
        memory.following.at[at].set(following),
        memory.added + ACTORS,
    )


def values(params, state):
    return jax.nn.relu(state @ params["w1"] + params["b1"]) @ params["w2"]


@jax.jit
def act(params, key, state):
    """The greedy action, and what the world answers to it."""
    action = values(params, state).argmax(axis=1)
    following = 0.9 * state + 0.3 * jax.random.normal(key, state.shape) + 0.05 * (action[:, None] - 2)
    return action, -jnp.square(following[:, 0] - 1.0), following


tx = optax.adam(1e-3)


@jax.jit
def learn(params, opt_state, memory, key):
    at = jax.random.randint(key, (BATCH,), 0, jnp.minimum(memory.added, CAPACITY))

    def loss(params):
        now, then = values(params, memory.state[at]), values(params, memory.following[at])
        errors = jax.vmap(rlax.q_learning)(now, memory.action[at], memory.reward[at], jnp.full(BATCH, 0.95), then)
        return jnp.square(errors).mean()

    value, grads = jax.value_and_grad(loss)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, value


def main():
    keys = jax.random.split(jax.random.key(0), 400)
    params = {"w1": 0.2 * jax.random.normal(keys[0], (STATE, 64)), "b1": jnp.zeros(64), "w2": 0.1 * jax.random.normal(keys[1], (64, ACTIONS))}
    opt_state, memory, state = tx.init(params), empty(), jnp.zeros((ACTORS, STATE))

    def step(i, params, opt_state, memory, state):
        action, reward, following = act(params, keys[2 * i], state)
        memory = add(memory, state, action, reward, following)
        params, opt_state, value = learn(params, opt_state, memory, keys[2 * i + 1])
        return value, (params, opt_state, memory, following)

    value, carry = step(1, params, opt_state, memory, state)
    value.block_until_ready()
    steps = 100
    start = time.perf_counter()
    for i in range(2, steps + 2):
        value, carry = step(i, *carry)
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value), float(carry[2].state.sum()))


if __name__ == "__main__":
    main()
