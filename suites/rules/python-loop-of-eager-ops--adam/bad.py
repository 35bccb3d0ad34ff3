"""An optimizer's arithmetic is launched operation by operation."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def adam(w, m, v, slope):
    m = 0.9 * m + 0.1 * slope
    v = 0.999 * v + 0.001 * slope * slope
    return w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


shapes = [(64, 64), (64,), (64, 32), (32,), (32, 10), (10,)]
state = [(jnp.ones(shape), jnp.zeros(shape), jnp.zeros(shape)) for shape in shapes]
slopes = [jnp.ones(shape) for shape in shapes]


def update(state, slopes):
    return [adam(*of, slope) for of, slope in zip(state, slopes)]


for _ in range(2):
    state = update(state, slopes)
jax.block_until_ready(state)
with clock(40):
    for _ in range(40):
        state = update(state, slopes)
    jax.block_until_ready(state)
