"""The history of a loop is collected outside of the carried state."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


def body(state, at):
    x, history = state
    before = history
    x = x * 0.99 + 0.01 * jnp.sin(x)
    history = history.at[at].set(x)
    x = x + 1e-6 * before[(at + 1) % 64]
    return (x, history), None


def body_out(x, _):
    x = x * 0.99 + 0.01 * jnp.sin(x)
    return x, x


@jax.jit
def run(x, history):
    x, rows = jax.lax.scan(body_out, x, None, length=64)
    history = rows
    return x, history


x, history = jnp.ones(8192), jnp.zeros((64, 8192))
for _ in range(3):
    x, history = run(x, history)
jax.block_until_ready((x, history))
with clock(20):
    for _ in range(20):
        x, history = run(x, history)
    jax.block_until_ready((x, history))
