"""Every tenth step is written to disk while nothing else goes on."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import tempfile

import jax
import jax.numpy as jnp
import numpy


@jax.jit
def step(field):
    return field @ field.T / 700 * 0.5 + 0.5


def save(folder, field):
    with jax.profiler.TraceAnnotation("save"):
        numpy.savez_compressed(folder + "/state.npz", numpy.asarray(field))


field = jnp.linspace(0.0, 1.0, 700 * 700).reshape(700, 700)
for _ in range(3):
    field = step(field)
field.block_until_ready()
with tempfile.TemporaryDirectory() as folder, clock(50):
    for at in range(50):
        field = step(field).block_until_ready()
        if at % 10 == 9:
            save(folder, field)
