"""Soft colloids of two sizes in a periodic box: relaxation and then Brownian motion."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, minimize, partition, simulate, space

COUNT = 1024
DENSITY = 0.9
TEMPERATURE = 0.02
BLOCK = 5


def make_box():
    side = (COUNT / DENSITY) ** 0.5
    return side, space.periodic(side)


def sizes():
    """A mixture of small and large particles does not crystallise."""
    species = jnp.where(jnp.arange(COUNT) < COUNT // 2, 0, 1)
    sigma = jnp.array([[0.9, 1.0], [1.0, 1.1]])
    return species, sigma


def start_positions(key, side):
    """A jittered square lattice, so that no two particles sit on each other."""
    per_side = int(COUNT**0.5)
    axis = (jnp.arange(per_side) + 0.5) * side / per_side
    lattice = jnp.stack(jnp.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    key_order, key_jitter = jax.random.split(key)
    lattice = jax.random.permutation(key_order, lattice)
    return lattice + 0.1 * jax.random.normal(key_jitter, lattice.shape)


def build_energy(displacement, side):
    species, sigma = sizes()
    return energy.soft_sphere_neighbor_list(
        displacement, side, species=species, sigma=sigma, dr_threshold=0.3, format=partition.Dense
    )


def relax(energy_fn, shift, positions, neighbors, steps=20):
    """A few steps downhill take away the strongest overlaps."""
    init, apply = minimize.gradient_descent(energy_fn, shift, 0.02)

    def step(_, carry):
        state, neighbors = carry
        neighbors = neighbors.update(state)
        return apply(state, neighbor=neighbors), neighbors

    return jax.jit(lambda s, n: jax.lax.fori_loop(0, steps, step, (s, n)))(init(positions), neighbors)


def build_block(energy_fn, shift):
    init, apply = simulate.nvt_langevin(energy_fn, shift, dt=5e-3, kT=TEMPERATURE, gamma=0.5)

    def step(_, carry):
        state, neighbors = carry
        neighbors = neighbors.update(state.position)
        return apply(state, neighbor=neighbors), neighbors

    @jax.jit
    def block(state, neighbors):
        state, neighbors = jax.lax.fori_loop(0, BLOCK, step, (state, neighbors))
        return state, neighbors, energy_fn(state.position, neighbor=neighbors)

    return init, block


def main():
    side, (displacement, shift) = make_box()
    key_positions, key_motion = jax.random.split(jax.random.PRNGKey(0))
    positions = start_positions(key_positions, side)
    neighbor_fn, energy_fn = build_energy(displacement, side)
    neighbors = neighbor_fn.allocate(positions, extra_capacity=6)
    positions, neighbors = relax(energy_fn, shift, positions, neighbors)
    init, block = build_block(energy_fn, shift)
    state = init(key_motion, positions, neighbor=neighbors)
    jax.block_until_ready(block(state, neighbors))

    start = time.perf_counter()
    energies = []
    for _ in range(30):
        state, neighbors, potential = block(state, neighbors)
        energies.append(potential)
    energies = jnp.stack(energies) / COUNT
    last = float(energies[-1])
    assert not neighbors.did_buffer_overflow
    print(f"{len(energies)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {last:.6f} {float(energies.mean()):.6f}")


if __name__ == "__main__":
    main()
