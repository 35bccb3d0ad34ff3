"""Sentences as long as they are."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def embed(tokens, table):
    return jnp.tanh(table[tokens]).mean(axis=0)


rng, table = np.random.default_rng(0), jnp.ones((1000, 64))
lengths = rng.permutation(np.arange(20, 80))[:30]
sentences = [rng.integers(1000, size=length) for length in lengths]
total = embed(np.zeros(8, int), table)
with clock(30):
    for sentence in sentences:
        total = embed(sentence, table)
    total.block_until_ready()
