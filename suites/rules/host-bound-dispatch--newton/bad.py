"""Newton's method, a launch for each of its turns."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def newton(x, a):
    return 0.5 * (x + a / x)


a = jnp.linspace(1.0, 9.0, 8192)
x = newton(a, a).block_until_ready()
with clock(20):
    for _ in range(20):
        x = a
        for _ in range(400):
            x = newton(x, a)
    x.block_until_ready()
