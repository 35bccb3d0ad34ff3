"""The function is jitted once, and what changes is an argument."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="width")
def blurred(image, width):
    return (image + jnp.roll(image, width, axis=0) + jnp.roll(image, -width, axis=0)) / 3


image = jnp.ones((256, 256))
for _ in range(3):
    image = blurred(image, 2)
image.block_until_ready()
with clock(20):
    for _ in range(20):
        image = blurred(image, 2)
    image.block_until_ready()
