"""Colloids in a warm bath (jax-md)."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, simulate, space

PARTICLES, BOX, KT = 96, 11.0, 0.4


def main():
    displacement, shift = space.periodic(BOX)
    energy_fn = energy.soft_sphere_pair(displacement, sigma=1.0, epsilon=1.0)
    init, apply = simulate.nvt_langevin(energy_fn, shift, dt=2e-3, kT=KT, gamma=0.5)
    key, start_key = jax.random.split(jax.random.key(0))
    positions = BOX * jax.random.uniform(start_key, (PARTICLES, 2))
    state = init(key, positions, mass=1.0)
    state = apply(state)
    steps = 40
    energies = []
    start = time.perf_counter()
    for _ in range(steps):
        state = apply(state)
        energies.append(energy_fn(state.position))
    jax.block_until_ready(energies)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(energies).mean()))


if __name__ == "__main__":
    main()
