"""Redshifts from the colours of quasars: a polynomial model fitted by stochastic gradients."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

OBJECTS = 300_000
COLOURS = 5
BATCH = 4096


def make_catalogue(seed):
    rng = np.random.default_rng(seed)
    colours = rng.normal(size=(OBJECTS, COLOURS)).astype(np.float32)
    slope = np.array([0.8, -0.5, 0.3, 0.6, -0.2], np.float32)
    redshift = 2.0 + colours @ slope + 0.2 * colours[:, 0] * colours[:, 1]
    redshift += 0.1 * rng.normal(size=OBJECTS)
    return jnp.asarray(colours), jnp.asarray(redshift, jnp.float32)


def features(colours):
    rows, cols = np.triu_indices(COLOURS)
    products = colours[:, rows] * colours[:, cols]
    return jnp.concatenate([jnp.ones_like(colours[:, :1]), colours, products], axis=-1)


def huber_loss(weights, colours, redshift):
    return jnp.mean(optax.huber_loss(features(colours) @ weights, redshift, delta=0.5))


schedule = optax.exponential_decay(0.3, transition_steps=8, decay_rate=0.6)
optimizer = optax.adam(schedule)


@jax.jit
def train_step(weights, opt_state, key, colours, redshift):
    rows = jax.random.randint(key, (BATCH,), 0, OBJECTS)
    loss, grads = jax.value_and_grad(huber_loss)(weights, colours[rows], redshift[rows])
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(weights, updates), opt_state, loss


def scatter(weights, colours, redshift):
    error = features(colours[:50_000]) @ weights - redshift[:50_000]
    return jnp.sqrt(jnp.mean(error**2))


def main():
    colours, redshift = make_catalogue(9)
    weights = jnp.zeros(1 + COLOURS + COLOURS * (COLOURS + 1) // 2)
    opt_state = optimizer.init(weights)
    key = jax.random.key(0)
    jax.block_until_ready(train_step(weights, opt_state, key, colours, redshift))

    start = time.perf_counter()
    steps = 50
    losses = []
    for step in range(steps):
        weights, opt_state, loss = train_step(weights, opt_state, jax.random.fold_in(key, step), colours, redshift)
        losses.append(loss)
    jax.block_until_ready(weights)
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    rms = jax.jit(scatter)(weights, colours, redshift)
    print(f"checksum {float(weights[0]):.3f} {float(weights[1]):.3f} {float(rms):.3f}")


if __name__ == "__main__":
    main()
