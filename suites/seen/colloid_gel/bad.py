"""Soft colloids of two sizes in a periodic box: relaxation and then Brownian motion."""

import time

import jax
import jax.numpy as jnp
from jax_md import energy, minimize, simulate, space

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


def build_energy(displacement):
    species, sigma = sizes()
    return energy.soft_sphere_pair(displacement, species=species, sigma=sigma)


def relax(energy_fn, shift, positions, steps=20):
    """A few steps downhill take away the strongest overlaps."""
    init, apply = minimize.gradient_descent(energy_fn, shift, 0.02)
    state = init(positions)
    return jax.jit(lambda s: jax.lax.fori_loop(0, steps, lambda _, s: apply(s), s))(state)


def build_block(energy_fn, shift):
    init, apply = simulate.nvt_langevin(energy_fn, shift, dt=5e-3, kT=TEMPERATURE, gamma=0.5)

    @jax.jit
    def block(state):
        state = jax.lax.fori_loop(0, BLOCK, lambda _, s: apply(s), state)
        return state, energy_fn(state.position)

    return init, block


def main():
    side, (displacement, shift) = make_box()
    key_positions, key_motion = jax.random.split(jax.random.PRNGKey(0))
    positions = start_positions(key_positions, side)
    energy_fn = build_energy(displacement)
    positions = relax(energy_fn, shift, positions)
    init, block = build_block(energy_fn, shift)
    state = init(key_motion, positions)
    jax.block_until_ready(block(state))

    start = time.perf_counter()
    energies = []
    for _ in range(30):
        state, potential = block(state)
        energies.append(potential)
    energies = jnp.stack(energies) / COUNT
    last = float(energies[-1])
    print(f"{len(energies)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {last:.6f} {float(energies.mean()):.6f}")


if __name__ == "__main__":
    main()
