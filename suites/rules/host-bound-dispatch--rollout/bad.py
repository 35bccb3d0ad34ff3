"""An agent acts in small steps, a launch for each."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def act(state, at):
    angle, speed = state
    push = jnp.where(jnp.sin(at) > 0, 1.0, -1.0)
    speed = speed + 0.05 * (jnp.sin(angle) + 0.3 * push)
    return angle + 0.05 * speed, speed


state = (jnp.zeros(128), jnp.zeros(128))
state = act(state, 0.0)
jax.block_until_ready(state)
with clock(8000):
    for at in range(8000):
        state = act(state, float(at))
    jax.block_until_ready(state)
