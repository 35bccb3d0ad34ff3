"""Binary Lennard-Jones mixture in two dimensions, quenched with a Langevin thermostat."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax_md import energy, partition, simulate, space


def square_lattice(n_side, spacing):
    grid = np.arange(n_side) * spacing + 0.5 * spacing
    x, y = np.meshgrid(grid, grid, indexing="ij")
    return jnp.asarray(np.stack([x.ravel(), y.ravel()], axis=-1), jnp.float32)


class Glass:
    def __init__(self, n_side=36, density=0.75, dt=2e-3):
        self.n = n_side * n_side
        spacing = 1.0 / np.sqrt(density)
        self.box = n_side * spacing
        self.positions = square_lattice(n_side, spacing)
        self.displacement, self.shift = space.periodic(self.box)
        self.cutoff = 2.0
        self.neighbor_fn = partition.neighbor_list(
            self.displacement,
            self.box,
            r_cutoff=self.cutoff,
            dr_threshold=0.5,
            capacity_multiplier=2.0,
            format=partition.NeighborListFormat.Dense,
        )
        _, self.energy_fn = energy.lennard_jones_neighbor_list(
            self.displacement, self.box, sigma=1.0, epsilon=1.0, r_onset=1.6, r_cutoff=self.cutoff
        )
        self.init_fn, self.apply_fn = simulate.nve(self.energy_fn, self.shift, dt)

    def start(self, key, temperature):
        neighbors = self.neighbor_fn.allocate(self.positions)
        state = self.init_fn(key, self.positions, kT=temperature, neighbor=neighbors)
        return state, neighbors

    def advance(self, state, neighbors, n_inner):
        def body(carry, _):
            state, neighbors = carry
            neighbors = neighbors.update(state.position)
            state = self.apply_fn(state, neighbor=neighbors)
            return (state, neighbors), None

        (state, neighbors), _ = jax.lax.scan(body, (state, neighbors), None, length=n_inner)
        return state, neighbors, jnp.stack(self.observables(state, neighbors))

    def observables(self, state, neighbors):
        potential = self.energy_fn(state.position, neighbor=neighbors) / self.n
        velocity = state.momentum / state.mass
        kinetic = 0.5 * jnp.mean(jnp.sum(velocity * state.momentum, axis=-1))
        return potential, kinetic


def main():
    glass = Glass()
    state, neighbors = glass.start(jax.random.key(11), temperature=0.4)
    advance = jax.jit(glass.advance, static_argnums=2)
    state, neighbors, _ = jax.block_until_ready(advance(state, neighbors, 60))

    n_steps = 13
    history = []
    start = time.perf_counter()
    for _ in range(n_steps):
        state, neighbors, measured = advance(state, neighbors, 60)
        history.append(measured)
    jax.block_until_ready(history)
    elapsed = time.perf_counter() - start

    if bool(neighbors.did_buffer_overflow):
        raise RuntimeError("neighbor list overflow")
    history = jnp.stack(history)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    total = history.sum(axis=1)
    print(f"checksum {float(total.mean()):.5f} {float(history[:, 1].mean()):.5f}")


if __name__ == "__main__":
    main()
