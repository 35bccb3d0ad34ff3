"""Double DQN on a small grid world, haiku network, uniform replay on the device."""

import functools
import time
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import optax
import rlax

SIDE, ENVS, CAPACITY, BATCH = 12, 32, 60_000, 64
OBS = 2 * SIDE * 8


class Replay(NamedTuple):
    obs: jax.Array
    action: jax.Array
    reward: jax.Array
    next_obs: jax.Array
    cursor: jax.Array


def empty_replay():
    return Replay(
        obs=jnp.zeros((CAPACITY, OBS)),
        action=jnp.zeros(CAPACITY, jnp.int32),
        reward=jnp.zeros(CAPACITY),
        next_obs=jnp.zeros((CAPACITY, OBS)),
        cursor=jnp.zeros((), jnp.int32),
    )


@functools.partial(jax.jit, donate_argnums=0)
def insert(replay, obs, action, reward, next_obs):
    """Writes one transition of every environment into the ring."""
    slots = (replay.cursor + jnp.arange(ENVS)) % CAPACITY
    return Replay(
        replay.obs.at[slots].set(obs),
        replay.action.at[slots].set(action),
        replay.reward.at[slots].set(reward),
        replay.next_obs.at[slots].set(next_obs),
        (replay.cursor + ENVS) % CAPACITY,
    )


def observe(position):
    """Soft one-hot codes of the row and the column at several widths."""
    cells = jnp.arange(SIDE)
    widths = 0.25 * 2.0 ** jnp.arange(8)
    gap = (position[..., None, None] - cells[:, None]) / widths
    return jnp.exp(-(gap**2)).reshape(position.shape[0], OBS)


MOVES = jnp.array([[0, 1], [0, -1], [1, 0], [-1, 0]])


def env_step(position, action):
    moved = jnp.clip(position + MOVES[action], 0, SIDE - 1)
    reward = jnp.where((moved == SIDE - 1).all(-1), 1.0, -0.01)
    restart = (moved == SIDE - 1).all(-1, keepdims=True)
    return jnp.where(restart, 0, moved), reward


net = hk.without_apply_rng(hk.transform(lambda obs: hk.nets.MLP([64, 64, 4])(obs)))
tx = optax.adam(5e-4)


@jax.jit
def act(params, position, key):
    coin, pick = jax.random.split(key)
    greedy = net.apply(params, observe(position)).argmax(-1)
    action = jnp.where(jax.random.bernoulli(coin, 0.2, (ENVS,)), jax.random.randint(pick, (ENVS,), 0, 4), greedy)
    moved, reward = env_step(position, action)
    return observe(position), action, reward, observe(moved), moved


@jax.jit
def learn(params, target, opt_state, replay, key):
    rows = jax.random.randint(key, (BATCH,), 0, CAPACITY) % jnp.maximum(replay.cursor, 1)
    discount = jnp.full(BATCH, 0.97)

    def loss_fn(params):
        q = net.apply(params, replay.obs[rows])
        selector = net.apply(params, replay.next_obs[rows])
        value = net.apply(target, replay.next_obs[rows])
        error = jax.vmap(rlax.double_q_learning)(
            q, replay.action[rows], replay.reward[rows], discount, value, selector
        )
        return jnp.mean(rlax.l2_loss(error))

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    key = jax.random.key(4)
    position = jnp.zeros((ENVS, 2), jnp.int32)
    params = net.init(key, observe(position))
    target, opt_state, replay = params, tx.init(params), empty_replay()

    def iterate(params, target, opt_state, replay, position, i):
        act_key, learn_key = jax.random.split(jax.random.fold_in(key, i))
        *transition, position = act(params, position, act_key)
        replay = insert(replay, *transition)
        params, opt_state, loss = learn(params, target, opt_state, replay, learn_key)
        if i % 50 == 0:
            target = params
        return params, target, opt_state, replay, position, loss

    for i in range(5):
        params, target, opt_state, replay, position, loss = iterate(params, target, opt_state, replay, position, i)
    jax.block_until_ready(loss)
    steps = 60
    start = time.perf_counter()
    for i in range(5, 5 + steps):
        params, target, opt_state, replay, position, loss = iterate(params, target, opt_state, replay, position, i)
    jax.block_until_ready((loss, replay))
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss), float(replay.obs.sum()))


if __name__ == "__main__":
    main()
