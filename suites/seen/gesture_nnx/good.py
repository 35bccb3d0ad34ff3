"""Recognises hand gestures from a glove's bend sensors with a deep residual net in Flax NNX."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

SENSORS = 24
GESTURES = 12
WIDTH = 32
DEPTH = 30
BATCH = 32


def glove_readings(seed, count):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(GESTURES, SENSORS))
    label = rng.integers(0, GESTURES, count)
    reading = centres[label] + 0.7 * rng.normal(size=(count, SENSORS))
    return reading.astype(np.float32), label.astype(np.int32)


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.inner = nnx.Linear(width, width, rngs=rngs)
        self.outer = nnx.Linear(width, width, rngs=rngs)

    def __call__(self, x):
        return x + 0.3 * self.outer(nnx.gelu(self.inner(self.norm(x))))


class GestureNet(nnx.Module):
    def __init__(self, rngs):
        self.embed = nnx.Linear(SENSORS, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(WIDTH, rngs) for _ in range(DEPTH)])
        self.head = nnx.Linear(WIDTH, GESTURES, rngs=rngs)

    def __call__(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def cross_entropy(model, reading, label):
    logits = model(reading)
    return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()


def make_train_step(graphdef):
    @jax.jit
    def train_step(state, reading, label):
        model, optimizer = nnx.merge(graphdef, state)
        loss, grads = nnx.value_and_grad(cross_entropy)(model, reading, label)
        optimizer.update(model, grads)
        return nnx.state((model, optimizer)), loss

    return train_step


def batches(seed, count):
    reading, label = glove_readings(seed, count * BATCH)
    for i in range(count):
        yield reading[i * BATCH : (i + 1) * BATCH], label[i * BATCH : (i + 1) * BATCH]


def main():
    model = GestureNet(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(5e-4), wrt=nnx.Param)
    stream = batches(1, 401)
    graphdef, state = nnx.split((model, optimizer))
    train_step = make_train_step(graphdef)
    state, loss = train_step(state, *next(stream))
    loss.block_until_ready()

    start = time.perf_counter()
    losses = []
    for reading, label in stream:
        state, loss = train_step(state, reading, label)
        losses.append(loss)
    losses = jnp.stack(losses).block_until_ready()
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(losses.mean()):.4f} {float(losses[-50:].mean()):.4f}")


if __name__ == "__main__":
    main()
