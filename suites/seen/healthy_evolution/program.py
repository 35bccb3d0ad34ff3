"""Evolves the minimum of a rugged function by an evolution strategy, in compiled blocks."""

import time

import jax
import jax.numpy as jnp

DIMS, POPULATION, BLOCK = 40, 256, 20


def rugged(x):
    """Rastrigin's function."""
    return 10 * DIMS + jnp.sum(x**2 - 10 * jnp.cos(2 * jnp.pi * x), axis=-1)


def generation(state, key):
    mean, scale = state
    noise = jax.random.normal(key, (POPULATION, DIMS))
    tries = mean + scale * noise
    order = jnp.argsort(rugged(tries))
    rank = jnp.zeros(POPULATION).at[order].set(jnp.linspace(0.5, -0.5, POPULATION))
    mean = mean + 0.4 * scale * (rank @ noise) / POPULATION * 10
    return (mean, scale * 0.999), rugged(mean)


@jax.jit
def block(state, key):
    state, values = jax.lax.scan(generation, state, jax.random.split(key, BLOCK))
    return state, values[-1]


def main():
    key = jax.random.key(0)
    state = (3.0 * jax.random.normal(key, (DIMS,)), jnp.array(0.5))
    jax.block_until_ready(block(state, key))
    keys = jax.random.split(jax.random.key(1), 60)
    start = time.perf_counter()
    for key in keys:
        state, value = block(state, key)
    value.block_until_ready()
    print(f"{len(keys)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
