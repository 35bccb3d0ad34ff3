"""A loop of small steps with one change that is known: `program.py KIND STEPS`.

`base` is the program as it is; `renamed` computes the same in the same way under other names and line numbers, `slower` has a kernel
that does more, `copy` one copy more, `sleep` a pause of the host in each step, and `recompile` compiles in each step.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

KIND = sys.argv[1] if len(sys.argv) > 1 else "base"
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 30


def relaxed(x, w):
    """Do one step."""
    y = jnp.tanh(x @ w)
    if KIND == "slower":
        y = jnp.sin(jnp.cos(jnp.exp(y)) @ w @ w)
    return y - y.sum(axis=0) / x.shape[0]


def another_name(a, b):
    """Do the same."""
    product = jnp.tanh(a @ b)
    return product - product.sum(axis=0) / a.shape[0]


step = jax.jit(another_name if KIND == "renamed" else relaxed)
random = np.random.default_rng(0)
state = jnp.asarray(random.normal(size=(512, 512)), jnp.float32)
weights = jnp.asarray(random.normal(size=(512, 512)) / 23, jnp.float32)
batch = np.zeros((4 << 20,), np.float32)

for number in range(STEPS):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        if KIND == "sleep":
            time.sleep(0.05)
        state = step(state, weights)
        if KIND == "copy":
            jnp.array(jax.device_put(batch), copy=True).block_until_ready()
        if KIND == "recompile":
            jax.jit(lambda a, by=number: jnp.tanh(a + by))(state).block_until_ready()
        state.block_until_ready()
