"""A Lennard-Jones fluid at constant temperature with jax-md's neighbor lists."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jax_md import energy, partition, simulate, space

PARTICLES = 2048
DENSITY = 0.4
TEMPERATURE = 0.6
DT = 2e-3
CHUNK = 50


def initial_positions(side, box):
    """A square lattice with a little noise."""
    per_edge = int(np.ceil(np.sqrt(side)))
    grid = np.stack(np.meshgrid(*[np.arange(per_edge)] * 2), -1).reshape(-1, 2)[:side]
    jitter = np.random.default_rng(0).normal(size=grid.shape) * 0.02
    return jnp.asarray((grid + 0.5 + jitter) * (box / per_edge), jnp.float32)


def build(box):
    displacement, shift = space.periodic(box)
    neighbor_fn, energy_fn = energy.lennard_jones_neighbor_list(
        displacement, box, r_cutoff=2.5, dr_threshold=0.4, format=partition.Dense, capacity_multiplier=1.8
    )
    init, apply = simulate.nvt_langevin(energy_fn, shift, dt=DT, kT=TEMPERATURE, gamma=0.2)
    return neighbor_fn, init, apply, energy_fn


def main():
    box = float(np.sqrt(PARTICLES / DENSITY))
    neighbor_fn, init, apply, energy_fn = build(box)
    positions = initial_positions(PARTICLES, box)
    neighbors = neighbor_fn.allocate(positions)
    state = init(jax.random.key(3), positions, neighbor=neighbors)

    @jax.jit
    def advance(state, neighbors):
        def body(_, carry):
            state, neighbors = carry
            neighbors = neighbors.update(state.position)
            return apply(state, neighbor=neighbors), neighbors

        return jax.lax.fori_loop(0, CHUNK, body, (state, neighbors))

    def run(state, neighbors, chunks):
        for _ in range(chunks):
            state, neighbors = advance(state, neighbors)
        if neighbors.did_buffer_overflow:
            raise RuntimeError("allocate the neighbor list anew with more room")
        return state, neighbors

    state, neighbors = run(state, neighbors, 1)
    jax.block_until_ready(state.position)
    chunks = 4
    start = time.perf_counter()
    state, neighbors = run(state, neighbors, chunks)
    jax.block_until_ready(state.position)
    print(f"{chunks} steps in {time.perf_counter() - start:.4f} s")
    potential = energy_fn(state.position, neighbor=neighbors) / PARTICLES
    print("checksum", float(potential), float(jnp.abs(state.position).mean()))


if __name__ == "__main__":
    main()
