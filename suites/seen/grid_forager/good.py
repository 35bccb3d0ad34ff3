"""A forager on a grid of berries learns where to go: Q-learning with a replay memory."""

import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

SIDE = 8
CELLS = SIDE * SIDE
CAPACITY = 60_000
FORAGERS = 8
BATCH = 64
MOVES = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


class Memory(NamedTuple):
    views: jax.Array
    actions: jax.Array
    rewards: jax.Array
    next_views: jax.Array
    count: jax.Array


def empty_memory():
    return Memory(
        jnp.zeros((CAPACITY, 2 * CELLS)),
        jnp.zeros((CAPACITY,), jnp.int32),
        jnp.zeros((CAPACITY,)),
        jnp.zeros((CAPACITY, 2 * CELLS)),
        jnp.zeros((), jnp.int32),
    )


def view(berries, place):
    here = jax.nn.one_hot(place[:, 0] * SIDE + place[:, 1], CELLS)
    return jnp.concatenate([berries, here], axis=1)


def move(berries, place, action):
    """Eats the berry of the new cell; elsewhere they grow slowly."""
    place = jnp.mod(place + MOVES[action], SIDE)
    at = place[:, 0] * SIDE + place[:, 1]
    rows = jnp.arange(FORAGERS)
    reward = berries[rows, at]
    return jnp.minimum(berries + 0.01, 1.0).at[rows, at].set(0.0), place, reward


def init_params(key):
    sizes = [2 * CELLS, 96, 96, 4]
    keys = jax.random.split(key, 3)
    return [(jax.random.normal(k, (m, n)) / m**0.5, jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def q_values(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def loss_fn(params, x, action, reward, x_next):
    target = reward + 0.9 * jax.lax.stop_gradient(q_values(params, x_next)).max(axis=1)
    value = jnp.take_along_axis(q_values(params, x), action[:, None], axis=1)[:, 0]
    return optax.huber_loss(value, target).mean()


OPTIMIZER = optax.adam(1e-3)


@partial(jax.jit, donate_argnums=(0, 1, 2, 3))
def act_and_learn(memory, world, params, opt_state, key):
    """One move of all foragers, stored in the memory, and one update from it."""
    key_explore, key_action, key_rows = jax.random.split(key, 3)
    berries, place = world
    x = view(berries, place)
    random = jax.random.randint(key_action, (FORAGERS,), 0, 4)
    explore = jax.random.bernoulli(key_explore, 0.2, (FORAGERS,))
    action = jnp.where(explore, random, q_values(params, x).argmax(axis=1))
    berries, place, reward = move(berries, place, action)
    fresh = (x, action, reward, view(berries, place))
    at = (memory.count + jnp.arange(FORAGERS)) % CAPACITY
    memory = Memory(*(m.at[at].set(f) for m, f in zip(memory, fresh)), memory.count + FORAGERS)
    rows = jax.random.randint(key_rows, (BATCH,), 0, jnp.minimum(memory.count, CAPACITY))
    loss, grads = jax.value_and_grad(loss_fn)(params, *(m[rows] for m in memory[:4]))
    updates, opt_state = OPTIMIZER.update(grads, opt_state)
    return memory, (berries, place), optax.apply_updates(params, updates), opt_state, loss


def main():
    keys = jax.random.split(jax.random.PRNGKey(3), 122)
    world = (jax.random.uniform(keys[0], (FORAGERS, CELLS)), jnp.zeros((FORAGERS, 2), jnp.int32))
    params = init_params(keys[1])
    carry = (empty_memory(), world, params, OPTIMIZER.init(params))
    *carry, loss = act_and_learn(*carry, keys[2])
    start = time.perf_counter()
    losses = []
    for key in keys[2:]:
        *carry, loss = act_and_learn(*carry, key)
        losses.append(loss)
    mean = float(jnp.stack(losses).mean())
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.6f} {float(carry[0].rewards.sum()):.4f}")


if __name__ == "__main__":
    main()
