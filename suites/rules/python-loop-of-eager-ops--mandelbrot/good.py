"""The Mandelbrot set, its turns in one program."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def escape(c):
    def turn(_, state):
        z, turns = state
        z = jnp.where(jnp.abs(z) < 2, z * z + c, z)
        return z, turns + (jnp.abs(z) < 2)

    return jax.lax.fori_loop(0, 30, turn, (jnp.zeros_like(c), jnp.zeros(c.shape)))[1]


x, y = jnp.meshgrid(jnp.linspace(-2, 1, 48), jnp.linspace(-1, 1, 32))
c = x + 1j * y
turns = escape(c).block_until_ready()
with clock(20):
    for _ in range(20):
        turns = escape(c)
    turns.block_until_ready()
