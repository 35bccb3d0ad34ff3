"""Each loss is handed to Python while the step runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp
from jax.experimental import io_callback

losses = []


@jax.jit
def train(w, x):
    loss, slope = jax.value_and_grad(lambda w: jnp.mean(jnp.square(x @ w)))(w)
    io_callback(lambda loss: losses.append(float(loss)), None, loss)
    return w - 0.01 * slope


w, x = jnp.ones(64), jnp.ones((128, 64)) * 0.1
for _ in range(3):
    w = train(w, x)
w.block_until_ready()
with clock(300):
    for _ in range(300):
        w = train(w, x)
    w.block_until_ready()
