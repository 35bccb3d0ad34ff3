"""Soft particles of a gel that push each other apart, in a periodic box (jax-md)."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, simulate, space

COUNT, BOX, SEGMENT = 1500, 42.0, 5


def main():
    place_key, run_key = jax.random.split(jax.random.key(1))
    displacement, shift = space.periodic(BOX)
    energy_fn = energy.soft_sphere_pair(displacement, sigma=1.0, epsilon=1.0)
    start_fn, move = simulate.brownian(energy_fn, shift, dt=2e-3, kT=0.05, gamma=1.0)

    @jax.jit
    def segment(state):
        return jax.lax.fori_loop(0, SEGMENT, lambda _, s: move(s), state)

    positions = jax.random.uniform(place_key, (COUNT, 2), maxval=BOX)
    state = segment(start_fn(run_key, positions))
    state.position.block_until_ready()
    steps = 8
    start = time.perf_counter()
    for _ in range(steps):
        state = segment(state)
    state.position.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(energy_fn(state.position)), float(jnp.square(state.position).mean()))


if __name__ == "__main__":
    main()
