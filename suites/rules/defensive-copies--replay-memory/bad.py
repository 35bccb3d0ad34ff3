"""A memory of experiences gets one at a time, kept."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def remember(memory, at, seen):
    row = at % 20000
    return {
        "seen": memory["seen"].at[row].set(seen),
        "reward": memory["reward"].at[row].set(jnp.sum(seen)),
    }


memory = {"seen": jnp.zeros((20000, 128)), "reward": jnp.zeros(20000)}
seen = jnp.linspace(0.0, 1.0, 128)
for at in range(3):
    memory = remember(memory, at, seen)
jax.block_until_ready(memory)
with clock(150):
    for at in range(150):
        memory = remember(memory, at, seen)
    jax.block_until_ready(memory)
