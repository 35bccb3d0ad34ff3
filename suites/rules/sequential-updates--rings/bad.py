"""A sample is put into each of twelve rings, one after the other."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def tick(rings, samples):
    for at in range(12):
        old = rings[at, (at * 7) % 64]
        rings = rings.at[at, at].set(0.9 * samples[at] + 0.1 * old)
    return rings


rings, samples = jnp.ones((12, 64, 4000)), jnp.ones((12, 4000))
for _ in range(3):
    rings = tick(rings, samples)
rings.block_until_ready()
with clock(30):
    for _ in range(30):
        rings = tick(rings, samples)
    rings.block_until_ready()
