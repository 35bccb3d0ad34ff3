"""A line of delays is moved on by one place in every iteration."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def body(_, state):
    first, second, third = state
    return 0.5 * first + 0.3 * third, first, second


@jax.jit
def run(first, second, third):
    return jax.lax.fori_loop(0, 90, body, (first, second, third))


state = (jnp.ones(200_000), jnp.ones(200_000), jnp.ones(200_000))
for _ in range(3):
    state = run(*state)
jax.block_until_ready(state)
with clock(20):
    for _ in range(20):
        state = run(*state)
    jax.block_until_ready(state)
