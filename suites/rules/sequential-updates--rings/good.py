"""A sample is put into all of twelve rings at once."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def tick(rings, samples):
    at = jnp.arange(12)
    old = rings[at, (at * 7) % 64]
    return rings.at[at, at].set(0.9 * samples + 0.1 * old)


rings, samples = jnp.ones((12, 64, 4000)), jnp.ones((12, 4000))
for _ in range(3):
    rings = tick(rings, samples)
rings.block_until_ready()
with clock(30):
    for _ in range(30):
        rings = tick(rings, samples)
    rings.block_until_ready()
