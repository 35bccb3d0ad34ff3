"""Small JAX programs with the memory that XLA says they need: `python make.py FOLDER`.

Each program becomes one `<name>.hlo.pb`, an `HloProto` of the optimized module and the buffer assignment it was
compiled with, and its line in `expected.json`: the numbers of `compiled.memory_analysis()`.
Made with jax and jaxlib 0.10.1 on a CPU; folders of that machine were replaced by others of the same length.
"""

import json
import os
import sys
from functools import partial

import jax
import jax.numpy as jnp
from jax import lax


def dense(x, w, v):
    return jnp.tanh(x @ w) @ v


def loop(x):
    return lax.fori_loop(0, 9, lambda i, c: jnp.sin(c) @ c + i, x)


def update(params, grads):
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def loss(params, x):
    for layer in params:
        x = jnp.tanh(x @ layer)
    return jnp.sum(x * x)


def train(params, x):
    grads = jax.grad(loss)(params, x)
    return update(params, grads), loss(params, x)


def sort(x):
    return jnp.sort(x, axis=0), jnp.argsort(x, axis=1)


def branch(flag, x):
    return lax.cond(flag, lambda v: v @ v, lambda v: jnp.cumsum(v, axis=0), x)


def table(x):
    return x * jnp.arange(4096, dtype=jnp.float32).reshape(64, 64) + jnp.asarray([[3.0] * 64] * 64)


def array(*shape, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype)


layers = [array(128, 128) for _ in range(3)]
PROGRAMS = {
    "dense": (jax.jit(dense), (array(96, 256), array(256, 256), array(256, 32))),
    "loop": (jax.jit(loop), (array(128, 128),)),
    "train": (jax.jit(train), (layers, array(32, 128))),
    "train_donated": (jax.jit(train, donate_argnums=0), (layers, array(32, 128))),
    "sort": (jax.jit(sort), (array(200, 100, dtype=jnp.bfloat16),)),
    "branch": (jax.jit(branch), (array(dtype=jnp.bool_), array(64, 64))),
    "table": (jax.jit(table), (array(64, 64),)),
}


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def main(folder):
    expected = {}
    for name, (function, arguments) in PROGRAMS.items():
        compiled = function.lower(*arguments).compile()
        stats = compiled.memory_analysis()
        module = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
        # xla/service/hlo.proto: HloProto.hlo_module = 1, buffer_assignment = 3.
        proto = field(1, module) + field(3, stats.serialized_buffer_assignment_proto)
        with open(os.path.join(folder, f"{name}.hlo.pb"), "wb") as file:
            file.write(proto)
        keys = ["argument", "output", "alias", "temp"]
        expected[name] = {key: getattr(stats, f"{key}_size_in_bytes") for key in keys}
        expected[name]["peak"] = stats.peak_memory_in_bytes
    with open(os.path.join(folder, "expected.json"), "w") as file:
        json.dump(expected, file, indent=1)
        file.write("\n")


main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
