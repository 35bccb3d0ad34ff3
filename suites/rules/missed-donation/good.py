"""Weights are updated in the memory of the old ones."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import functools

import jax
import jax.numpy as jnp


@functools.partial(jax.jit, donate_argnames="state")
def step(state, gradient):
    return {name: 0.99 * value - 0.01 * gradient for name, value in state.items()}


state = {name: jnp.ones((2048, 1024)) for name in ("first", "second", "third", "fourth")}
gradient = jnp.ones((2048, 1024))
for _ in range(3):
    state = step(state, gradient)
jax.block_until_ready(state)
with clock(40):
    for _ in range(40):
        state = step(state, gradient)
    jax.block_until_ready(state)
