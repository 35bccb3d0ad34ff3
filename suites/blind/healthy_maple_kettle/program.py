"""Gesture recognition from short accelerometer windows with a small convolutional network."""
import functools
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

WINDOW = 128
AXES = 6
CLASSES = 6
BATCH = 64
BATCHES_PER_EPOCH = 10
EPOCHS = 5


def synth_windows(rng, n):
    t = np.linspace(0.0, 2.0, WINDOW)
    labels = rng.integers(0, CLASSES, n)
    freq = 1.0 + labels[:, None, None] * 0.7 + 0.1 * rng.normal(size=(n, AXES, 1))
    phase = rng.uniform(0, 2 * np.pi, (n, AXES, 1))
    x = np.sin(2 * np.pi * freq * t + phase) + 0.3 * rng.normal(size=(n, AXES, WINDOW))
    return x.astype(np.float32), labels.astype(np.int32)


class GestureNet(eqx.Module):
    convs: list
    head: eqx.nn.Linear

    def __init__(self, key):
        keys = jax.random.split(key, 4)
        widths = (AXES, 32, 64, 64)
        self.convs = [
            eqx.nn.Conv1d(a, b, kernel_size=5, stride=2, padding=2, key=k)
            for a, b, k in zip(widths[:-1], widths[1:], keys)
        ]
        self.head = eqx.nn.Linear(widths[-1], CLASSES, key=keys[-1])

    def __call__(self, x):
        for conv in self.convs:
            x = jax.nn.relu(conv(x))
        return self.head(jnp.mean(x, axis=-1))


def loss_fn(model, x, y):
    logits = jax.vmap(model)(x)
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, y))


def make_step(optimizer, static):
    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(lambda p: loss_fn(eqx.combine(p, static), x, y))(params)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    return step


def main():
    rng = np.random.default_rng(0)
    x, y = synth_windows(rng, BATCH * BATCHES_PER_EPOCH)
    model = GestureNet(jax.random.PRNGKey(0))
    params, static = eqx.partition(model, eqx.is_inexact_array)
    optimizer = optax.adamw(1e-3)
    opt_state = optimizer.init(params)
    step = make_step(optimizer, static)
    params, opt_state, loss = step(params, opt_state, x[:BATCH], y[:BATCH])
    jax.block_until_ready(loss)

    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        order = rng.permutation(len(x)).reshape(BATCHES_PER_EPOCH, BATCH)
        for rows in order:
            params, opt_state, loss = step(params, opt_state, x[rows], y[rows])
            losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{EPOCHS * BATCHES_PER_EPOCH} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
