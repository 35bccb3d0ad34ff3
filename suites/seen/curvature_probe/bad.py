"""The sharpest direction of the loss of a small network, by power iteration."""

import time

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree


def initial(key, sizes=(8, 24, 16, 1)):
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (a, b)) / jnp.sqrt(a), jnp.zeros(b)) for k, a, b in zip(keys, sizes, sizes[1:])]


def network(layers, x):
    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return (x @ weights + bias)[:, 0]


def main():
    key, x_key = jax.random.split(jax.random.key(9))
    x = jax.random.normal(x_key, (200, 8))
    y = jnp.sin(x[:, 0]) * x[:, 1]
    flat, unravel = ravel_pytree(initial(key))

    def loss(flat):
        return jnp.square(network(unravel(flat), x) - y).mean()

    @jax.jit
    def iterate(flat, direction):
        product = jax.hessian(loss)(flat) @ direction
        return product / jnp.linalg.norm(product), direction @ product

    direction = jnp.ones_like(flat) / jnp.sqrt(flat.size)
    jax.block_until_ready(iterate(flat, direction))
    steps = 15
    start = time.perf_counter()
    for _ in range(steps):
        direction, sharpness = iterate(flat, direction)
    sharpness.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(sharpness), float(jnp.abs(direction).max()))


if __name__ == "__main__":
    main()
