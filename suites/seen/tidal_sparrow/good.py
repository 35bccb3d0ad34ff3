"""A Lennard-Jones fluid at constant energy: short production run in blocks of time steps."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax_md import energy, quantity, simulate, space

STEPS = 14
BLOCK = 20
PER_SIDE = 11
DENSITY = 0.6
TEMPERATURE = 0.7
DT = 2e-3


def make_box():
    """Cubic lattice with a little noise at the wanted density."""
    count = PER_SIDE**3
    side = float((count / DENSITY) ** (1.0 / 3.0))
    axis = (np.arange(PER_SIDE) + 0.5) * side / PER_SIDE
    lattice = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    noise = np.random.default_rng(0).normal(scale=0.02, size=lattice.shape)
    return jnp.asarray(np.mod(lattice + noise, side), dtype=jnp.float32), side


def main():
    position, side = make_box()
    displacement, shift = space.periodic(side)
    neighbor_fn, energy_fn = energy.lennard_jones_neighbor_list(
        displacement, side, r_onset=2.0, r_cutoff=2.5, dr_threshold=0.3
    )
    init_fn, apply_fn = simulate.nve(energy_fn, shift, dt=DT)

    neighbors = neighbor_fn.allocate(position)
    state = init_fn(jax.random.PRNGKey(1), position, kT=TEMPERATURE, neighbor=neighbors)

    def advance(_, carry):
        state, neighbors = carry
        neighbors = neighbors.update(state.position)
        return apply_fn(state, neighbor=neighbors), neighbors

    @jax.jit
    def run_block(state, neighbors):
        state, neighbors = jax.lax.fori_loop(0, BLOCK, advance, (state, neighbors))
        potential = energy_fn(state.position, neighbor=neighbors)
        kinetic = quantity.kinetic_energy(momentum=state.momentum, mass=state.mass)
        return state, neighbors, potential, kinetic

    jax.block_until_ready(run_block(state, neighbors))

    start = time.perf_counter()
    potentials, kinetics = [], []
    for _ in range(STEPS):
        state, neighbors, potential, kinetic = run_block(state, neighbors)
        potentials.append(potential)
        kinetics.append(kinetic)
    jax.block_until_ready(state)
    elapsed = time.perf_counter() - start
    if neighbors.did_buffer_overflow:
        raise RuntimeError("neighbor list overflow: allocate with more room")

    print(f"{STEPS} steps in {elapsed:.2f} s")
    count = position.shape[0]
    potentials = np.asarray(jax.device_get(potentials)) / count
    kinetics = np.asarray(jax.device_get(kinetics)) / count
    total = potentials + kinetics
    print(f"checksum {potentials[-1]:.4f} {kinetics[-1]:.4f} {total[0]:.4f} {total[-1]:.4f}")


if __name__ == "__main__":
    main()
