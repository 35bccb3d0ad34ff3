"""Newton's method, its turns inside of one launch."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def root(a):
    return jax.lax.fori_loop(0, 400, lambda _, x: 0.5 * (x + a / x), a)


a = jnp.linspace(1.0, 9.0, 8192)
x = root(a).block_until_ready()
with clock(20):
    for _ in range(20):
        x = root(a)
    x.block_until_ready()
