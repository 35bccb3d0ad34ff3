"""Salmon counts at several weirs: hierarchical Poisson model sampled with BlackJAX (HMC, many chains)."""
import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

STEPS = 60
DRAWS = 100
CHAINS = 8
WEIRS = 40
YEARS = 60


def make_counts(seed=17):
    rng = np.random.default_rng(seed)
    level = rng.normal(2.0, 0.5, size=WEIRS)
    trend = rng.normal(-0.2, 0.1, size=WEIRS)
    year = np.linspace(-1.0, 1.0, YEARS)
    rate = np.exp(level[:, None] + trend[:, None] * year)
    return jnp.asarray(year, jnp.float32), jnp.asarray(rng.poisson(rate), jnp.float32)


def make_log_density(year, counts):
    def log_density(position):
        level = position["mu"] + jnp.exp(position["log_tau"]) * position["z_level"]
        trend = position["nu"] + 0.2 * position["z_trend"]
        log_rate = level[:, None] + trend[:, None] * year
        likelihood = jnp.sum(counts * log_rate - jnp.exp(log_rate))
        prior = -0.5 * (
            (position["mu"] - 1.5) ** 2
            + position["log_tau"] ** 2
            + position["nu"] ** 2
            + jnp.sum(position["z_level"] ** 2)
            + jnp.sum(position["z_trend"] ** 2)
        )
        return likelihood + prior

    return log_density


def initial_position(key):
    k1, k2 = jax.random.split(key)
    return {
        "mu": jnp.array(2.0),
        "log_tau": jnp.array(-0.7),
        "nu": jnp.array(0.0),
        "z_level": 0.1 * jax.random.normal(k1, (WEIRS,)),
        "z_trend": 0.1 * jax.random.normal(k2, (WEIRS,)),
    }


def main():
    year, counts = make_counts()
    log_density = make_log_density(year, counts)
    warmup = blackjax.window_adaptation(blackjax.hmc, log_density, num_integration_steps=16)
    start_position = initial_position(jax.random.key(2))
    (adapted, parameters), _ = warmup.run(jax.random.key(3), start_position, num_steps=400)
    kernel = blackjax.hmc(log_density, **parameters)

    @jax.jit
    def sample_block(states, key):
        def one_draw(states, key):
            states, info = jax.vmap(kernel.step)(jax.random.split(key, CHAINS), states)
            draw = {name: states.position[name] for name in ("mu", "log_tau", "nu")}
            return states, (draw, info.acceptance_rate)

        return jax.lax.scan(one_draw, states, jax.random.split(key, DRAWS))

    starts = jax.tree.map(lambda leaf: jnp.tile(leaf, (CHAINS,) + (1,) * leaf.ndim), adapted.position)
    states = jax.jit(jax.vmap(kernel.init))(starts)
    states = jax.tree.map(lambda leaf: leaf.astype(leaf.dtype), states)
    keys = jax.random.split(jax.random.key(4), STEPS + 1)

    first_key, *keys = keys
    states, _ = jax.block_until_ready(sample_block(states, first_key))

    start = time.perf_counter()
    blocks = []
    for key in keys:
        states, block = sample_block(states, key)
        blocks.append(block)
    jax.block_until_ready(blocks)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    draws, rates = jax.tree.map(lambda *parts: np.concatenate(parts), *blocks)
    print(f"checksum {draws['mu'].mean():.3f} {draws['nu'].mean():.3f} {rates.mean():.3f}")


if __name__ == "__main__":
    main()
