"""Soft particles of a gel that push each other apart, in a periodic box (jax-md)."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, partition, simulate, space

COUNT, BOX, SEGMENT = 1500, 42.0, 5


def main():
    place_key, run_key = jax.random.split(jax.random.key(1))
    displacement, shift = space.periodic(BOX)
    neighbor_fn, energy_fn = energy.soft_sphere_neighbor_list(
        displacement, BOX, sigma=1.0, epsilon=1.0, dr_threshold=0.4, format=partition.Sparse
    )
    start_fn, move = simulate.brownian(energy_fn, shift, dt=2e-3, kT=0.05, gamma=1.0)

    @jax.jit
    def segment(state, neighbors):
        def body(_, carry):
            state, neighbors = carry
            neighbors = neighbors.update(state.position)
            return move(state, neighbor=neighbors), neighbors

        return jax.lax.fori_loop(0, SEGMENT, body, (state, neighbors))

    positions = jax.random.uniform(place_key, (COUNT, 2), maxval=BOX)
    neighbors = neighbor_fn.allocate(positions, extra_capacity=30)
    state, neighbors = segment(start_fn(run_key, positions), neighbors)
    state.position.block_until_ready()
    steps = 8
    start = time.perf_counter()
    for _ in range(steps):
        state, neighbors = segment(state, neighbors)
    state.position.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    assert not neighbors.did_buffer_overflow
    print("checksum", float(energy_fn(state.position, neighbors)), float(jnp.square(state.position).mean()))


if __name__ == "__main__":
    main()
