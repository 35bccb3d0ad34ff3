"""Vectors of space are kept in the last axis, and their products are summed along it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def reflect(velocity, normal):
    across = jnp.sum(velocity * normal, axis=-1, keepdims=True)
    slowed = velocity - 1.5 * across * normal
    return slowed * 0.999 + 0.001


velocity = jnp.ones((400_000, 3))
normal = jnp.linspace(0.0, 1.0, 1_200_000).reshape(400_000, 3)
for _ in range(3):
    velocity = reflect(velocity, normal)
velocity.block_until_ready()
with clock(100):
    for _ in range(100):
        velocity = reflect(velocity, normal)
    velocity.block_until_ready()
