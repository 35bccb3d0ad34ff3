"""Vectors of space are kept in the last axis, and their products are summed along it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def reflect(velocity, normal, height):
    across = jnp.sum(velocity * normal, axis=-1, keepdims=True)
    slowed = velocity - 1.5 * across * normal
    return slowed * 0.999 + 0.001, 0.99 * height + 0.01


velocity, height = jnp.ones((400_000, 3)), jnp.ones(800_000)
normal = jnp.linspace(0.0, 1.0, 1_200_000).reshape(400_000, 3)
for _ in range(3):
    velocity, height = reflect(velocity, normal, height)
jax.block_until_ready((velocity, height))
with clock(100):
    for _ in range(100):
        velocity, height = reflect(velocity, normal, height)
    jax.block_until_ready((velocity, height))
