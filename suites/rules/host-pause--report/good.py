"""A report of the last step is made."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from clock import clock

import json

import jax
import jax.numpy as jnp
import numpy


@jax.jit
def step(field):
    return field @ field.T / 700 * 0.5 + 0.5


def report(field):
    with jax.profiler.TraceAnnotation("report"):
        return json.dumps(numpy.asarray(field)[::16].tolist())


field = jnp.linspace(0.0, 1.0, 700 * 700).reshape(700, 700)
for _ in range(3):
    field = step(field)
field.block_until_ready()
with clock(40):
    for _ in range(40):
        field = step(field).block_until_ready()
    text = report(field)
