"""Trains a small convolutional classifier on drawn shapes, with Flax."""
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

SIZE, CLASSES, BATCH = 24, 4, 128


def draw(n, seed):
    """Discs, squares, crosses and rings with noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    cx, cy = rng.uniform(8, 16, (2, n, 1, 1))
    r = rng.uniform(4, 7, (n, 1, 1))
    yy, xx = np.mgrid[:SIZE, :SIZE]
    dx, dy = xx - cx, yy - cy
    dist = np.hypot(dx, dy)
    shapes = np.stack([
        dist < r,
        np.maximum(abs(dx), abs(dy)) < r,
        (np.minimum(abs(dx), abs(dy)) < 1.5) & (dist < r + 2),
        abs(dist - r) < 1.2,
    ])
    image = shapes[label, np.arange(n)] + 0.4 * rng.standard_normal((n, SIZE, SIZE))
    return image[..., None].astype(np.float32), label.astype(np.int32)


class ConvNet(nn.Module):
    @nn.compact
    def __call__(self, x):
        for width in (16, 32):
            x = nn.relu(nn.Conv(width, (3, 3), strides=(2, 2))(x))
        x = x.reshape(x.shape[0], -1)
        x = nn.relu(nn.Dense(64)(x))
        return nn.Dense(CLASSES)(x)


def create_state(key, total):
    net = ConvNet()
    params = net.init(key, jnp.zeros((1, SIZE, SIZE, 1)))["params"]
    tx = optax.adam(optax.cosine_decay_schedule(2e-3, total))
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=tx)


@partial(jax.jit, donate_argnums=0)
def train_step(state, image, label):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, image)
        return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


@jax.jit
def accuracy(state, image, label):
    return jnp.mean(jnp.argmax(state.apply_fn({"params": state.params}, image), -1) == label)


def train(state, data, steps, seed):
    image, label = data
    rng = np.random.default_rng(seed)
    losses = []
    order, at = rng.permutation(len(label)), 0
    for _ in range(steps):
        if at + BATCH > len(order):
            order, at = rng.permutation(len(label)), 0
        idx = order[at:at + BATCH]
        at += BATCH
        state, loss = train_step(state, image[idx], label[idx])
        losses.append(loss)
    return state, np.asarray(jnp.stack(losses))


def main(steps=520):
    data, held_out = draw(6000, seed=0), draw(1000, seed=1)
    state = create_state(jax.random.key(0), steps)
    state, _ = train(state, data, 2, seed=1)
    accuracy(state, *held_out).block_until_ready()
    t0 = time.perf_counter()
    state, losses = train(state, data, steps, seed=2)
    score = float(accuracy(state, *held_out))
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {losses.mean():.4f} {score:.3f}")


if __name__ == "__main__":
    main()
