"""Molecular dynamics of a Lennard-Jones liquid (NVE) with JAX MD."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax_md import energy, quantity, simulate, space

SIDE = 9
N = SIDE**3
DENSITY = 0.6
DT = 2e-3
INNER = 10
BLOCKS = 42


def cubic_lattice(box_size):
    grid = (np.arange(SIDE) + 0.5) * box_size / SIDE
    pts = np.stack(np.meshgrid(grid, grid, grid, indexing="ij"), axis=-1)
    return jnp.asarray(pts.reshape(-1, 3), dtype=jnp.float32)


def build_system():
    box_size = float((N / DENSITY) ** (1.0 / 3.0))
    displacement, shift = space.periodic(box_size)
    positions = cubic_lattice(box_size)
    energy_fn = energy.lennard_jones_pair(displacement, r_onset=2.0, r_cutoff=2.5)
    init_fn, apply_fn = simulate.nve(energy_fn, shift, dt=DT)
    state = init_fn(jax.random.PRNGKey(3), positions, kT=0.5)
    return energy_fn, apply_fn, state


def make_block(energy_fn, apply_fn):
    @jax.jit
    def block(state):
        def body(_, s):
            return apply_fn(s)

        state = jax.lax.fori_loop(0, INNER, body, state)
        kinetic = quantity.kinetic_energy(momentum=state.momentum, mass=state.mass)
        potential = energy_fn(state.position)
        return state, (kinetic, potential)

    return block


class Thermo:
    """Collects energies per block."""

    def __init__(self):
        self.rows = []

    def add(self, kinetic, potential):
        self.rows.append((kinetic, potential))

    def table(self):
        return np.array([[float(k), float(p)] for k, p in self.rows])


def main():
    energy_fn, apply_fn, state = build_system()
    block = make_block(energy_fn, apply_fn)
    jax.block_until_ready(block(state))

    thermo = Thermo()
    start = time.perf_counter()
    for _ in range(BLOCKS):
        state, (kinetic, potential) = block(state)
        thermo.add(kinetic, potential)
    jax.block_until_ready(state)
    elapsed = time.perf_counter() - start

    table = thermo.table()
    total = table.sum(axis=1)
    print(f"{BLOCKS * INNER} steps in {elapsed:.2f} s")
    print(f"checksum total={total[-1] / N:.4f} temperature={table[-1, 0] * 2 / (3 * N):.4f}")


if __name__ == "__main__":
    main()
