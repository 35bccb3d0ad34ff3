"""A bank of bootstrap particle filters for stochastic volatility series."""
import time

import jax
import jax.numpy as jnp
import numpy as np

N_SERIES = 24
N_PARTICLES = 4000
N_TIMES = 150
N_RUNS = 3
PHI, TAU, BETA = 0.97, 0.05, 0.7


def simulate_series(seed=21):
    rng = np.random.default_rng(seed)
    h = rng.normal(0.0, 0.3, size=N_SERIES)
    ys = []
    for _ in range(N_TIMES):
        h = PHI * h + TAU * rng.normal(size=N_SERIES)
        ys.append(BETA * np.exp(h / 2) * rng.normal(size=N_SERIES))
    return jnp.asarray(np.stack(ys, axis=1), jnp.float32)


def log_likelihood(y, h):
    return -0.5 * (h + jnp.log(2 * jnp.pi * BETA**2) + (y / BETA) ** 2 * jnp.exp(-h))


def systematic_resample(key, h, log_w):
    weights = jax.nn.softmax(log_w)
    points = (jax.random.uniform(key) + jnp.arange(N_PARTICLES)) / N_PARTICLES
    ancestors = jnp.searchsorted(jnp.cumsum(weights), points)
    ancestors = jnp.clip(ancestors, 0, N_PARTICLES - 1)
    # keep the cloud ordered
    return jnp.sort(h[ancestors]), jnp.zeros(N_PARTICLES)


def filter_one(key, ys):
    """Log evidence and final volatility of one series."""
    key, sub = jax.random.split(key)
    h0 = 0.3 * jax.random.normal(sub, (N_PARTICLES,))

    def step(carry, y):
        key, h, log_w = carry
        key, k_move, k_res = jax.random.split(key, 3)
        h = PHI * h + TAU * jax.random.normal(k_move, (N_PARTICLES,))
        log_w_new = log_w + log_likelihood(y, h)
        evidence = jax.nn.logsumexp(log_w_new) - jax.nn.logsumexp(log_w)
        w = jax.nn.softmax(log_w_new)
        ess = 1.0 / jnp.sum(w**2)
        h, log_w_new = jax.lax.cond(
            ess < 0.5 * N_PARTICLES,
            lambda: systematic_resample(k_res, h, log_w_new),
            lambda: (h, log_w_new),
        )
        return (key, h, log_w_new), evidence

    init = (key, h0, jnp.zeros(N_PARTICLES))
    (_, h, log_w), evidence = jax.lax.scan(step, init, ys)
    return jnp.sum(evidence), jnp.sum(jax.nn.softmax(log_w) * h)


@jax.jit
def filter_bank(key, series):
    keys = jax.random.split(key, N_SERIES)
    return jax.lax.map(lambda args: filter_one(*args), (keys, series))


def main():
    series = simulate_series()
    jax.block_until_ready(filter_bank(jax.random.PRNGKey(99), series))

    results = []
    start = time.perf_counter()
    for run in range(N_RUNS):
        results.append(filter_bank(jax.random.PRNGKey(run), series))
    jax.block_until_ready(results)
    elapsed = time.perf_counter() - start

    evidence = np.mean([np.asarray(e).sum() for e, _ in results])
    final = np.mean([np.asarray(h).mean() for _, h in results])
    print(f"{N_RUNS * N_TIMES} steps in {elapsed:.2f} s")
    print(f"checksum evidence={evidence:.2f} volatility={final:.3f}")


if __name__ == "__main__":
    main()
