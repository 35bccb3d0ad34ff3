"""Tells old coins apart from small grey pictures with a haiku network."""

import time
from functools import partial
from typing import NamedTuple

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIDE = 24
KINDS = 6
BATCH = 64


class TrainState(NamedTuple):
    params: hk.Params
    opt_state: optax.OptState
    key: jax.Array


def net_fn(pictures):
    net = hk.Sequential(
        [
            hk.Conv2D(16, 3, stride=2),
            jax.nn.relu,
            hk.Conv2D(32, 3, stride=2),
            jax.nn.relu,
            hk.Flatten(),
            hk.Linear(64),
            jax.nn.relu,
            hk.Linear(KINDS),
        ]
    )
    return net(pictures)


NET = hk.without_apply_rng(hk.transform(net_fn))
OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(2e-3))


def make_coins(rng, count=2048):
    """Rings and rays whose number belongs to the kind of coin."""
    kinds = rng.integers(0, KINDS, count)
    axis = np.linspace(-1.0, 1.0, SIDE)
    radius = np.hypot(axis[:, None], axis)
    angle = np.arctan2(axis[:, None], axis)
    turn = rng.uniform(0, 2 * np.pi, size=(count, 1, 1))
    rays = np.cos((kinds[:, None, None] + 2) * angle + turn)
    coins = np.where(radius < 0.9, 0.5 + 0.4 * rays, 0.0) + 0.3 * rng.normal(size=(count, SIDE, SIDE))
    return jnp.asarray(coins[..., None], jnp.float32), jnp.asarray(kinds)


def loss_fn(params, coins, kinds):
    logits = NET.apply(params, coins)
    return optax.softmax_cross_entropy_with_integer_labels(logits, kinds).mean()


@partial(jax.jit, donate_argnums=0)
def train_step(state, coins, kinds):
    key, key_rows = jax.random.split(state.key)
    rows = jax.random.randint(key_rows, (BATCH,), 0, coins.shape[0])
    loss, grads = jax.value_and_grad(loss_fn)(state.params, coins[rows], kinds[rows])
    updates, opt_state = OPTIMIZER.update(grads, state.opt_state, state.params)
    return TrainState(optax.apply_updates(state.params, updates), opt_state, key), loss


def main():
    coins, kinds = make_coins(np.random.default_rng(8))
    params = NET.init(jax.random.PRNGKey(0), coins[:1])
    state = TrainState(params, OPTIMIZER.init(params), jax.random.PRNGKey(1))
    state, loss = train_step(state, coins, kinds)
    loss.block_until_ready()

    start = time.perf_counter()
    losses = []
    for _ in range(320):
        state, loss = train_step(state, coins, kinds)
        losses.append(loss)
    losses = jnp.stack(losses)
    mean = float(losses.mean())
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.5f} {float(losses[-30:].mean()):.5f}")


if __name__ == "__main__":
    main()
