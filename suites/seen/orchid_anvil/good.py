"""Melts a two-dimensional soft-disk crystal with Brownian dynamics, with JAX MD."""
import time
from functools import partial

import jax
import jax.numpy as jnp
from jax_md import energy, partition, simulate, space

SIDE, SPACING, DT, TEMPERATURE = 32, 0.95, 2e-4, 0.3
INNER = 20


def lattice():
    grid = jnp.arange(SIDE) * SPACING
    xs, ys = jnp.meshgrid(grid, grid)
    return jnp.stack([xs.ravel(), ys.ravel()], -1) + 0.5 * SPACING


class Melt:
    def __init__(self):
        self.box = SIDE * SPACING
        self.displacement, shift = space.periodic(self.box)
        self.neighbor_fn, self.energy_fn = energy.soft_sphere_neighbor_list(
            self.displacement, self.box, sigma=1.0, epsilon=1.0, dr_threshold=0.3,
            format=partition.Sparse, capacity_multiplier=1.5)
        init, self.apply_fn = simulate.brownian(self.energy_fn, shift, DT, TEMPERATURE, gamma=1.0)
        self.init_fn = init

    def start(self, key):
        position = lattice()
        nbrs = self.neighbor_fn.allocate(position, extra_capacity=64)
        return self.init_fn(key, position), nbrs

    @partial(jax.jit, static_argnums=0)
    def advance(self, state, nbrs):
        def body(_, carry):
            state, nbrs = carry
            nbrs = nbrs.update(state.position)
            return self.apply_fn(state, neighbor=nbrs), nbrs

        state, nbrs = jax.lax.fori_loop(0, INNER, body, (state, nbrs))
        return state, nbrs, self.observe(state, nbrs)

    def observe(self, state, nbrs):
        moved = jax.vmap(self.displacement)(state.position, lattice())
        return self.energy_fn(state.position, neighbor=nbrs) / SIDE ** 2, jnp.mean(moved ** 2)

    def run(self, state, nbrs, blocks):
        records = []
        for _ in range(blocks):
            next_state, next_nbrs, record = self.advance(state, nbrs)
            if next_nbrs.did_buffer_overflow:
                nbrs = self.neighbor_fn.allocate(state.position, extra_capacity=64)
                next_state, next_nbrs, record = self.advance(state, nbrs)
            state, nbrs = next_state, next_nbrs
            records.append(record)
        return state, nbrs, jnp.array(records)


def main(blocks=14):
    melt = Melt()
    state, nbrs = melt.start(jax.random.PRNGKey(0))
    state, nbrs, _ = melt.run(state, nbrs, 1)
    t0 = time.perf_counter()
    state, nbrs, records = melt.run(state, nbrs, blocks)
    print(f"{blocks * INNER} steps in {time.perf_counter() - t0:.2f} s")
    half = records[blocks // 2:].mean(0)
    print(f"checksum {float(half[0]):.4f} {float(half[1]):.4f}")


if __name__ == "__main__":
    main()
