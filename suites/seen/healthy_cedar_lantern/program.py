"""Classifying small sketches of tools with a convolutional network (Flax Linen and Optax)."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state

STEPS = 260
BATCH = 128
SIZE = 28
CLASSES = 6
COUNT = 3000


class SketchNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = nn.relu(nn.Conv(32, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), strides=(2, 2))
        x = x.reshape(x.shape[0], -1)
        x = nn.relu(nn.Dense(64)(x))
        return nn.Dense(CLASSES)(x)


@partial(jax.jit, donate_argnums=0)
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
        return loss, logits

    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return state.apply_gradients(grads=grads), (loss, accuracy)


def make_sketches(seed=1):
    rng = np.random.default_rng(seed)
    prototypes = rng.uniform(size=(CLASSES, SIZE, SIZE, 1)) < 0.2
    labels = rng.integers(0, CLASSES, size=COUNT)
    flips = rng.uniform(size=(COUNT, SIZE, SIZE, 1)) < 0.25
    images = np.logical_xor(prototypes[labels], flips).astype(np.float32)
    return images, labels.astype(np.int32)


def minibatches(images, labels, seed=2):
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(images))
        for first in range(0, len(order) - BATCH + 1, BATCH):
            rows = order[first : first + BATCH]
            yield images[rows], labels[rows]


def main():
    images, labels = make_sketches()
    stream = minibatches(images, labels)
    net = SketchNet()
    params = net.init(jax.random.key(0), images[:1])["params"]
    schedule = optax.cosine_decay_schedule(2e-3, STEPS)
    state = train_state.TrainState.create(
        apply_fn=net.apply, params=params, tx=optax.adam(schedule)
    )

    state, metrics = train_step(state, *next(stream))
    jax.block_until_ready(metrics)

    start = time.perf_counter()
    history = []
    for _ in range(STEPS):
        state, metrics = train_step(state, *next(stream))
        history.append(metrics)
    jax.block_until_ready(state)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    losses, accuracies = np.asarray(jax.device_get(history)).T
    print(f"checksum {losses[0]:.4f} {losses[-20:].mean():.4f} {accuracies[-20:].mean():.4f}")


if __name__ == "__main__":
    main()
