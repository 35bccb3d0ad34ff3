"""Adaptive Metropolis chains for the permeability field of a reservoir."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CHAINS = 12
CELLS = 60
WINDOW = 400
REFIT = 50
BLOCK = 100


class ChainState(NamedTuple):
    position: jax.Array
    log_density: jax.Array
    history: jax.Array
    factor: jax.Array


def make_wells(seed):
    rng = np.random.default_rng(seed)
    kernel = np.exp(-np.abs(np.subtract.outer(np.arange(CELLS), np.arange(30) * 2)) / 5.0).T
    truth = np.cumsum(rng.normal(size=CELLS)) * 0.2
    pressure = kernel @ truth + 0.3 * rng.normal(size=30)
    return jnp.asarray(kernel, jnp.float32), jnp.asarray(pressure, jnp.float32)


def log_posterior(field, kernel, pressure):
    misfit = (kernel @ field - pressure) / 0.3
    rough = jnp.diff(field) / 0.2
    return -0.5 * jnp.sum(misfit**2) - 0.5 * jnp.sum(rough**2) - 0.5 * jnp.sum(field**2) / 4.0


def refit(state):
    centred = state.history - state.history.mean(axis=0)
    cov = centred.T @ centred / WINDOW + 1e-3 * jnp.eye(CELLS)
    vals, vecs = jnp.linalg.eigh(cov)
    root = vecs * jnp.sqrt(jnp.maximum(vals, 1e-4))
    return state._replace(factor=root @ vecs.T * (1.7 / jnp.sqrt(CELLS)))


def chain_step(state, key, count, kernel, pressure):
    step_key, accept_key = jax.random.split(key)
    proposal = state.position + state.factor @ jax.random.normal(step_key, (CELLS,))
    log_new = log_posterior(proposal, kernel, pressure)
    accept = jnp.log(jax.random.uniform(accept_key)) < log_new - state.log_density
    position = jnp.where(accept, proposal, state.position)
    return ChainState(
        position=position,
        log_density=jnp.where(accept, log_new, state.log_density),
        history=state.history.at[count % WINDOW].set(position),
        factor=state.factor,
    )


def start_chains(key, kernel, pressure):
    def start(key):
        history = 0.1 * jax.random.normal(key, (WINDOW, CELLS))
        position = history[0]
        density = log_posterior(position, kernel, pressure)
        return ChainState(position, density, history, jnp.eye(CELLS))

    return jax.vmap(start)(jax.random.split(key, CHAINS))


@jax.jit
def run_block(state, count, key, kernel, pressure):
    def body(carry, key):
        state, count = carry
        keys = jax.random.split(key, CHAINS)
        state = jax.lax.cond(count % REFIT == 0, jax.vmap(refit), lambda s: s, state)
        state = jax.vmap(chain_step, in_axes=(0, 0, None, None, None))(state, keys, count, kernel, pressure)
        return (state, count + 1), state.log_density

    return jax.lax.scan(body, (state, count), jax.random.split(key, BLOCK))


def main():
    kernel, pressure = make_wells(4)
    state = start_chains(jax.random.key(0), kernel, pressure)
    count = jnp.zeros((), jnp.int32)
    jax.block_until_ready(run_block(state, count, jax.random.key(1), kernel, pressure))

    start = time.perf_counter()
    steps = 5
    for block in range(steps):
        (state, count), densities = run_block(state, count, jax.random.key(block), kernel, pressure)
    jax.block_until_ready(state)
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(densities.mean()):.3f} {float(jnp.abs(state.position).mean()):.3f}")


if __name__ == "__main__":
    main()
