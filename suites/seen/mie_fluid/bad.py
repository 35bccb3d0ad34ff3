"""Pressure of a Mie fluid by Metropolis-adjusted Langevin moves of all particles.

The pair potential has a repulsive exponent of 14 and attractive ones of 8 and
6; pressure comes from the virial, averaged over moves.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

COUNT, BOX, BETA = 343, 8.6, 0.9
EXPONENTS = (14.0, 8.0, 6.0)
COEFFICIENTS = (3.1, -0.4, -2.6)
STEP = 4e-5


def distances(x):
    gap = x[:, :, None] - x[:, None, :]
    gap = gap - BOX * jnp.round(gap / BOX)
    squared = jnp.sum(gap**2, 0) + 1e4 * jnp.eye(COUNT)
    return jnp.sqrt(squared)


def pair_energy(r, exponents):
    return sum(c * r**-n for c, n in zip(COEFFICIENTS, exponents))


def pair_virial(r, exponents):
    return sum(c * n * r**-n for c, n in zip(COEFFICIENTS, exponents))


def energy(x, exponents):
    return 0.5 * jnp.sum(pair_energy(distances(x), exponents))


def virial(x, exponents):
    return 0.5 * jnp.sum(pair_virial(distances(x), exponents))


@jax.jit
def move(x, u, force, key, exponents):
    noise_key, accept_key = jax.random.split(key)
    noise = jax.random.normal(noise_key, x.shape)
    proposal = x - STEP * BETA * force + jnp.sqrt(2 * STEP) * noise
    u_new, force_new = jax.value_and_grad(energy)(proposal, exponents)
    back = x - proposal + STEP * BETA * force_new
    forward = proposal - x + STEP * BETA * force
    log_ratio = -BETA * (u_new - u) - (jnp.sum(back**2) - jnp.sum(forward**2)) / (4 * STEP)
    accept = jnp.log(jax.random.uniform(accept_key)) < log_ratio
    choose = lambda a, b: jnp.where(accept, a, b)
    x, u, force = choose(proposal, x), choose(u_new, u), choose(force_new, force)
    return x, u, force, virial(x, exponents), accept


def lattice():
    """Coordinates as (3, COUNT)."""
    side = round(COUNT ** (1 / 3))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3), -1).reshape(-1, 3)
    return jnp.asarray((grid + 0.5).T * (BOX / side), jnp.float32)


def main():
    exponents = jnp.asarray(EXPONENTS)
    x = lattice()
    u, force = jax.value_and_grad(energy)(x, exponents)
    keys = jax.random.split(jax.random.key(7), 160)
    for key in keys[:10]:
        x, u, force, w, accept = move(x, u, force, key, exponents)
    w.block_until_ready()
    total, accepted, steps = 0.0, 0, 0
    start = time.perf_counter()
    for key in keys[10:]:
        x, u, force, w, accept = move(x, u, force, key, exponents)
        total, accepted, steps = total + w, accepted + accept, steps + 1
    jax.block_until_ready((total, accepted))
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    pressure = COUNT / BETA / BOX**3 + total / steps / (3 * BOX**3)
    print("checksum", float(pressure), float(u) / COUNT)


if __name__ == "__main__":
    main()
