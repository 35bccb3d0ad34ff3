"""Samples a robust regression posterior with several HMC chains, with BlackJAX."""
import time
from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

ROWS, FEATURES, CHAINS, LEAPS, BLOCK = 2000, 24, 4, 8, 50


def synthetic(seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, FEATURES)).astype(np.float32)
    beta = rng.standard_normal(FEATURES)
    y = x @ beta + 0.5 * rng.standard_t(4, ROWS)
    return jnp.asarray(x), jnp.asarray(y, dtype=jnp.float32), beta


def make_logdensity(x, y):
    def logdensity(position):
        scale = jnp.exp(position["log_scale"])
        z = (y - x @ position["beta"]) / scale
        loglik = -2.5 * jnp.sum(jnp.log1p(z ** 2 / 4.0)) - ROWS * position["log_scale"]
        prior = -0.5 * jnp.sum(position["beta"] ** 2) / 4.0 - 0.5 * position["log_scale"] ** 2
        return loglik + prior

    return logdensity


class Sampler:
    def __init__(self, logdensity):
        self.kernel = blackjax.hmc(
            logdensity, step_size=5e-3, inverse_mass_matrix=jnp.ones(FEATURES + 1),
            num_integration_steps=LEAPS)

    def init(self, key, centre):
        start = {
            "beta": centre + 0.01 * jax.random.normal(key, (CHAINS, FEATURES)),
            "log_scale": jnp.full(CHAINS, -0.5),
        }
        return jax.vmap(self.kernel.init)(start)

    @partial(jax.jit, static_argnums=0)
    def block(self, key, states):
        """BLOCK transitions of all chains; returns sums, not the draws."""
        def one_step(carry, key):
            states, acc = carry
            states, info = jax.vmap(self.kernel.step)(jax.random.split(key, CHAINS), states)
            acc = jax.tree.map(lambda a, p: a + p, acc, states.position)
            return (states, acc), jnp.mean(info.acceptance_rate)

        zero = jax.tree.map(jnp.zeros_like, states.position)
        (states, acc), accept = jax.lax.scan(one_step, (states, zero), jax.random.split(key, BLOCK))
        return states, jax.tree.map(lambda a: a / BLOCK, acc), jnp.mean(accept)

    def run(self, key, states, blocks):
        means, rates = [], []
        for sub in jax.random.split(key, blocks):
            states, mean, rate = self.block(sub, states)
            means.append(mean)
            rates.append(rate)
        return states, jax.tree.map(lambda *m: jnp.stack(m), *means), jnp.stack(rates)


def main(blocks=130):
    x, y, beta = synthetic()
    sampler = Sampler(make_logdensity(x, y))
    states, _, _ = sampler.run(jax.random.key(1), sampler.init(jax.random.key(0), jnp.linalg.lstsq(x, y)[0]), 4)
    t0 = time.perf_counter()
    states, means, rates = jax.block_until_ready(sampler.run(jax.random.key(2), states, blocks))
    print(f"{blocks * BLOCK} steps in {time.perf_counter() - t0:.2f} s")
    error = float(jnp.abs(means["beta"].mean((0, 1)) - beta).mean())
    print(f"checksum {error:.4f} {float(means['log_scale'].mean()):.4f} {float(rates.mean()):.3f}")


if __name__ == "__main__":
    main()
