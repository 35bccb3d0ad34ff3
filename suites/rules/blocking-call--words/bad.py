"""Each word is read before the next one is asked for."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp


@jax.jit
def speak(table, state, token):
    state = jnp.tanh(0.5 * state + table[token])
    return state, jnp.argmax(table @ state)


table = jnp.sin(jnp.arange(500.0 * 64)).reshape(500, 64)
state, token, words = jnp.zeros(64), 1, []
state, token = speak(table, state, token)
with clock(1500):
    for _ in range(1500):
        state, token = speak(table, state, int(token))
        words.append(int(token))
