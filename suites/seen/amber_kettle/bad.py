"""Predicting next-hour blood glucose from wearable readings with a small residual network."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

STEPS = 700
BATCH = 32
FEATURES = 24
WIDTH = 32
BLOCKS = 8


class Block(nnx.Module):
    def __init__(self, width, *, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.up = nnx.Linear(width, 2 * width, rngs=rngs)
        self.down = nnx.Linear(2 * width, width, rngs=rngs)

    def __call__(self, x):
        h = self.norm(x)
        return x + self.down(nnx.gelu(self.up(h)))


class GlucoseNet(nnx.Module):
    def __init__(self, *, rngs):
        self.encode = nnx.Linear(FEATURES, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(WIDTH, rngs=rngs) for _ in range(BLOCKS)])
        self.head = nnx.Linear(WIDTH, 1, rngs=rngs)

    def __call__(self, x):
        x = self.encode(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)[:, 0]


@nnx.jit
def train_step(model, optimizer, x, y):
    def loss_fn(model):
        return jnp.mean(optax.huber_loss(model(x), y))

    loss, grads = nnx.value_and_grad(loss_fn)(model)
    optimizer.update(model, grads)
    return loss


def make_readings(seed=11):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(8192, FEATURES)).astype(np.float32)
    mix = rng.normal(size=(FEATURES, 4)).astype(np.float32) / np.sqrt(FEATURES)
    z = x @ mix
    y = np.tanh(z[:, 0]) + 0.5 * z[:, 1] * z[:, 2] + 0.1 * rng.normal(size=8192)
    return x, y.astype(np.float32)


def batches(x, y, count, seed=5):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        rows = rng.integers(0, len(x), size=BATCH)
        yield x[rows], y[rows]


def main():
    x, y = make_readings()
    model = GlucoseNet(rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)

    train_step(model, optimizer, x[:BATCH], y[:BATCH])

    start = time.perf_counter()
    losses = []
    for bx, by in batches(x, y, STEPS):
        losses.append(train_step(model, optimizer, bx, by))
    jax.block_until_ready(losses[-1])
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    first = float(np.mean(jax.device_get(losses[:100])))
    last = float(np.mean(jax.device_get(losses[-200:])))
    fit = float(jnp.mean((model(x) - y) ** 2))
    print(f"checksum {first:.4f} {last:.4f} {fit:.4f}")


if __name__ == "__main__":
    main()
