"""The loss is read after each step, and the host has work of its own."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    y = jnp.tanh(x @ w)
    return w - 1e-3 * (x.T @ y), jnp.mean(y * y)


def next_batch(rng):
    return rng.standard_normal((256, 512), dtype=np.float32)


rng = np.random.default_rng(0)
w, losses = jnp.ones((512, 512)) * 0.01, []
for _ in range(3):
    w, loss = step(w, next_batch(rng))
w.block_until_ready()
with clock(100):
    for _ in range(100):
        w, loss = step(w, next_batch(rng))
        losses.append(float(loss))

    w.block_until_ready()
