"""Annealed Ising lattices: checkerboard Metropolis sweeps of many replicas.

The structure factors are measured every thirty-two sweeps of each replica.
"""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

REPLICAS, SIDE = 24, 64
EVERY, SWEEPS = 32, 64

rows, columns = jnp.meshgrid(jnp.arange(SIDE), jnp.arange(SIDE), indexing="ij")
BLACK = (rows + columns) % 2 == 0


def half_sweep(spins, beta, uniform, mask):
    field = sum(jnp.roll(spins, shift, axis) for shift in (1, -1) for axis in (0, 1))
    flip = uniform < jnp.exp(-2.0 * beta * spins * field)
    return jnp.where(mask & flip, -spins, spins)


def structure_factors(spins):
    """Spectra of the spins, of their bonds and of the bonds to farther neighbors."""
    right, down = jnp.roll(spins, -1, 0), jnp.roll(spins, -1, 1)
    fields = [spins, spins * (right + down), spins * jnp.roll(right, -1, 1)]
    fields += [spins * jnp.roll(spins, -reach, axis) for reach in (2, 4) for axis in (0, 1)]
    return jnp.abs(jnp.fft.fft2(jnp.stack(fields))) ** 2 / SIDE**2


class Replica(NamedTuple):
    spins: jax.Array
    key: jax.Array
    sweeps: jax.Array


def fresh_replica(key):
    start_key, key = jax.random.split(key)
    spins = jnp.where(jax.random.bernoulli(start_key, 0.5, (SIDE, SIDE)), 1.0, -1.0)
    return Replica(spins, key, jnp.zeros((), jnp.int32))


def sweep(replica, beta_end):
    key, sub = jax.random.split(replica.key)
    beta = beta_end * (0.5 + 0.5 * (replica.sweeps % SWEEPS) / SWEEPS)
    uniform = jax.random.uniform(sub, (SIDE, SIDE))
    spins = half_sweep(replica.spins, beta, uniform, BLACK)
    spins = half_sweep(spins, beta, 1.0 - uniform, ~BLACK)
    return Replica(spins, key, replica.sweeps + 1)


def anneal(replica, beta_end):
    """One replica cooled to `beta_end`, and its summed structure factors."""

    def stretch(carry, _):
        replica, total = carry
        replica = jax.lax.fori_loop(0, EVERY, lambda _, r: sweep(r, beta_end), replica)
        return (replica, total + structure_factors(replica.spins)), None

    start = (replica, jnp.zeros((7, SIDE, SIDE)))
    return jax.lax.scan(stretch, start, length=SWEEPS // EVERY)[0]


@jax.jit
def anneal_all(replicas, betas):
    return jax.vmap(anneal)(replicas, betas)


def main():
    betas = jnp.linspace(0.40, 0.48, REPLICAS)
    replicas = jax.vmap(fresh_replica)(jax.random.split(jax.random.key(9), REPLICAS))
    replicas, total = anneal_all(replicas, betas)
    total.block_until_ready()
    steps = 6
    start = time.perf_counter()
    for _ in range(steps):
        replicas, total = anneal_all(replicas, betas)
    total.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    magnetization = jnp.abs(replicas.spins.mean((1, 2)))
    print("checksum", float(total[:, 0, :4, :4].mean()), float(magnetization.mean()))


if __name__ == "__main__":
    main()
