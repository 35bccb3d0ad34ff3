"""Floods of gorges: a Poisson regression with site effects, sampled by parallel HMC chains of blackjax."""

import time
from functools import partial

import blackjax
import jax
import jax.numpy as jnp

SITES = 40
YEARS = 50
FEATURES = 6
CHAINS = 6
LEAPS = 12
BLOCKS = 16
BLOCK_DRAWS = 250


def make_floods(key):
    """Covariates of each year and gorge, and the number of floods."""
    keys = jax.random.split(key, 4)
    covariates = jax.random.normal(keys[0], (SITES * YEARS, FEATURES))
    site = jnp.repeat(jnp.arange(SITES), YEARS)
    slope = 0.3 * jax.random.normal(keys[1], (FEATURES,))
    effect = 0.5 * jax.random.normal(keys[2], (SITES,))
    rate = jnp.exp(0.4 + covariates @ slope + effect[site])
    return covariates, jax.random.poisson(keys[3], rate).reshape(SITES, YEARS)


def log_posterior(position, covariates, counts):
    """Site effects are written as a scale times standard normals."""
    scale = jnp.exp(position["log_scale"])
    effect = scale * position["raw_effect"]
    log_rate = (covariates @ position["slope"]).reshape(SITES, YEARS)
    log_rate = position["base"] + effect[:, None] + log_rate
    fit = jnp.sum(counts * log_rate - jnp.exp(log_rate))
    prior = -0.5 * (position["base"] ** 2 / 4.0 + position["log_scale"] ** 2)
    prior -= 0.5 * (jnp.sum(position["slope"] ** 2) + jnp.sum(position["raw_effect"] ** 2))
    return fit + prior


def start_positions(key):
    keys = jax.random.split(key, 4)
    return {
        "base": 0.1 * jax.random.normal(keys[0], (CHAINS,)),
        "log_scale": -1.0 + 0.1 * jax.random.normal(keys[1], (CHAINS,)),
        "slope": 0.1 * jax.random.normal(keys[2], (CHAINS, FEATURES)),
        "raw_effect": 0.1 * jax.random.normal(keys[3], (CHAINS, SITES)),
    }


def make_sampler(covariates, counts):
    density = partial(log_posterior, covariates=covariates, counts=counts.astype(jnp.float32))
    size = 2 + FEATURES + SITES
    sampler = blackjax.hmc(density, step_size=0.012, inverse_mass_matrix=jnp.ones(size), num_integration_steps=LEAPS)

    @partial(jax.jit, donate_argnums=0)
    def draw_block(states, key):
        """A block of draws of all chains in one compiled loop; sums for the mean and the spread."""

        def draw(states, key):
            states, info = jax.vmap(sampler.step)(jax.random.split(key, CHAINS), states)
            position = states.position
            kept = {name: position[name] for name in ("base", "log_scale", "slope")}
            return states, (kept, info.acceptance_rate)

        return jax.lax.scan(draw, states, jax.random.split(key, BLOCK_DRAWS))

    return jax.jit(jax.vmap(sampler.init)), draw_block


def main():
    data_key, start_key, warm_key, chain_key = jax.random.split(jax.random.key(3), 4)
    covariates, counts = make_floods(data_key)
    init, draw_block = make_sampler(covariates, counts)
    states, _ = jax.block_until_ready(draw_block(init(start_positions(start_key)), warm_key))

    start = time.perf_counter()
    blocks = []
    for key in jax.random.split(chain_key, BLOCKS):
        states, block = draw_block(states, key)
        blocks.append(block)
    kept, acceptance = jax.block_until_ready(jax.tree.map(lambda *parts: jnp.concatenate(parts), *blocks))
    print(f"{BLOCKS * BLOCK_DRAWS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {kept['base'].mean():.2f} {kept['slope'][..., 0].mean():.2f} {acceptance.mean():.2f}")


if __name__ == "__main__":
    main()
