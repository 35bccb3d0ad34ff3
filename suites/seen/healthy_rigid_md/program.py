"""A soft-sphere packing relaxed and shaken with jax-md and its neighbor lists."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, partition, simulate, space

PARTICLES, DT, CHUNK = 1500, 5e-3, 50


def main():
    box = float((PARTICLES * jnp.pi / 4 / 0.8) ** 0.5)
    displacement, shift = space.periodic(box)
    neighbor_fn, energy_fn = energy.soft_sphere_neighbor_list(
        displacement, box, dr_threshold=0.3, capacity_multiplier=1.6, format=partition.Sparse
    )
    init, apply = simulate.nve(energy_fn, shift, DT)

    @jax.jit
    def chunk(state, neighbors):
        def body(_, carry):
            state, neighbors = carry
            neighbors = neighbors.update(state.position)
            return apply(state, neighbor=neighbors), neighbors

        return jax.lax.fori_loop(0, CHUNK, body, (state, neighbors))

    key = jax.random.key(0)
    positions = box * jax.random.uniform(key, (PARTICLES, 2))
    neighbors = neighbor_fn.allocate(positions)
    state = init(key, positions, kT=1e-2, neighbor=neighbors)
    state, neighbors = chunk(state, neighbors)
    neighbors = neighbor_fn.allocate(state.position)
    state, neighbors = chunk(state, neighbors)
    jax.block_until_ready(state.position)
    steps = 20
    start = time.perf_counter()
    for _ in range(steps):
        state, neighbors = chunk(state, neighbors)
        if neighbors.did_buffer_overflow:
            neighbors = neighbor_fn.allocate(state.position)
    jax.block_until_ready(state.position)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(energy_fn(state.position, neighbor=neighbors)) / PARTICLES)


if __name__ == "__main__":
    main()
