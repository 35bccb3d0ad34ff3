"""Bootstrap particle filter for a stochastic volatility model, run over several price series."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from blackjax.smc import resampling
from jax.scipy.special import logsumexp
from jax.scipy.stats import norm


def simulate(seed, length, phi=0.95, sigma=0.3, beta=0.6):
    rng = np.random.default_rng(seed)
    h = rng.normal() * sigma / np.sqrt(1 - phi**2)
    out = []
    for _ in range(length):
        h = phi * h + sigma * rng.normal()
        out.append(beta * np.exp(h / 2) * rng.normal())
    return np.asarray(out, np.float32)


class VolatilityFilter:
    def __init__(self, n_particles, phi=0.95, sigma=0.3, beta=0.6):
        self.n = n_particles
        self.phi, self.sigma, self.beta = phi, sigma, beta

    def prior(self, key):
        scale = self.sigma / jnp.sqrt(1 - self.phi**2)
        return scale * jax.random.normal(key, (self.n,))

    def propagate(self, key, h):
        return self.phi * h + self.sigma * jax.random.normal(key, h.shape)

    def log_weight(self, h, y):
        return norm.logpdf(y, 0.0, self.beta * jnp.exp(0.5 * h))

    def resample(self, key, log_w, h):
        ancestors = resampling.multinomial(key, jax.nn.softmax(log_w), self.n)
        return h[ancestors]

    def update(self, h, inputs):
        key, y = inputs
        k_move, k_pick = jax.random.split(key)
        h = self.propagate(k_move, h)
        log_w = self.log_weight(h, y)
        log_z = logsumexp(log_w) - jnp.log(self.n)
        weights = jax.nn.softmax(log_w)
        mean_vol = jnp.sum(weights * jnp.exp(0.5 * h))
        ess = 1.0 / jnp.sum(weights**2)
        return self.resample(k_pick, log_w, h), (log_z, mean_vol, ess)

    def run(self, key, series):
        k_init, k_run = jax.random.split(key)
        keys = jax.random.split(k_run, series.shape[0])
        _, (log_z, vol, ess) = jax.lax.scan(self.update, self.prior(k_init), (keys, series))
        return jnp.sum(log_z), vol, jnp.mean(ess)


def main():
    pf = VolatilityFilter(n_particles=250)
    run = jax.jit(pf.run)
    n_series = 30
    series = [jnp.asarray(simulate(s, 60)) for s in range(n_series)]
    key = jax.random.key(1)
    jax.block_until_ready(run(key, series[0]))

    evidence, vols = [], []
    start = time.perf_counter()
    for i, y in enumerate(series):
        log_z, vol, ess = run(jax.random.fold_in(key, i), y)
        evidence.append(log_z)
        vols.append(vol)
    jax.block_until_ready((evidence, vols))
    elapsed = time.perf_counter() - start

    print(f"{n_series} steps in {elapsed:.3f} s")
    print(f"mean effective sample size {float(ess):.1f}")
    print(f"checksum {float(jnp.stack(evidence).sum()):.4f} {float(jnp.stack(vols).mean()):.5f}")


if __name__ == "__main__":
    main()
