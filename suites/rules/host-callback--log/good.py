"""Each loss is returned and kept."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp

losses = []


@jax.jit
def train(w, x):
    loss, slope = jax.value_and_grad(lambda w: jnp.mean(jnp.square(x @ w)))(w)
    return w - 0.01 * slope, loss


w, x = jnp.ones(64), jnp.ones((128, 64)) * 0.1
for _ in range(3):
    w, loss = train(w, x)
w.block_until_ready()
with clock(300):
    for _ in range(300):
        w, loss = train(w, x)
        losses.append(loss)
    w.block_until_ready()
