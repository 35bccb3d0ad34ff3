"""Tiles are painted onto a canvas that is kept."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def paint(canvas, tile, y, x):
    return jax.lax.dynamic_update_slice(canvas, tile, (y, x))


canvas, tile = jnp.zeros((1500, 1500)), jnp.ones((16, 16))
canvas = paint(canvas, tile, 0, 0)
canvas.block_until_ready()
with clock(150):
    for at in range(150):
        canvas = paint(canvas, tile, at % 90 * 16, at % 80 * 16)
    canvas.block_until_ready()
