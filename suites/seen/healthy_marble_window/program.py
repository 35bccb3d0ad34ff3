"""Price and sensitivities of an Asian basket option by Monte Carlo with pathwise derivatives."""
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 110
PATHS = 8192
ASSETS = 8
DATES = 52
RATE = 0.03
STRIKE = 100.0
EXPIRY = 1.0


def make_market(seed=40):
    rng = np.random.default_rng(seed)
    spot = rng.uniform(80.0, 120.0, size=ASSETS)
    vol = rng.uniform(0.15, 0.35, size=ASSETS)
    factor = rng.normal(size=(ASSETS, 2))
    corr = factor @ factor.T + 2.0 * np.eye(ASSETS)
    scale = np.sqrt(np.diag(corr))
    root = np.linalg.cholesky(corr / np.outer(scale, scale))
    as_array = lambda a: jnp.asarray(a, dtype=jnp.float32)
    return as_array(spot), as_array(vol), as_array(root)


def payoff(spot, vol, root, key):
    """Discounted payoff averaged over antithetic paths."""
    dt = EXPIRY / DATES

    def date(carry, key):
        log_price, running = carry
        half = jax.random.normal(key, (PATHS // 2, ASSETS)) @ root.T
        shock = jnp.concatenate([half, -half])
        log_price = log_price + (RATE - 0.5 * vol**2) * dt + vol * jnp.sqrt(dt) * shock
        running = running + jnp.mean(jnp.exp(log_price), axis=1)
        return (log_price, running), None

    log_spot = jnp.broadcast_to(jnp.log(spot), (PATHS, ASSETS))
    start = (log_spot, jnp.zeros(PATHS))
    (_, running), _ = jax.lax.scan(date, start, jax.random.split(key, DATES))
    average = running / DATES
    value = jnp.exp(-RATE * EXPIRY) * jnp.maximum(average - STRIKE, 0.0)
    return jnp.mean(value)


greeks = jax.jit(jax.value_and_grad(payoff, argnums=(0, 1)))


def main():
    spot, vol, root = make_market()
    keys = jax.random.split(jax.random.key(9), STEPS + 1)

    jax.block_until_ready(greeks(spot, vol, root, keys[0]))

    start = time.perf_counter()
    results = []
    for key in keys[1:]:
        results.append(greeks(spot, vol, root, key))
    jax.block_until_ready(results)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    prices = np.asarray([price for price, _ in results])
    delta = np.mean([d for _, (d, _) in results], axis=0)
    vega = np.mean([g for _, (_, g) in results], axis=0)
    print(f"checksum {prices.mean():.3f} {delta.sum():.4f} {vega.sum():.3f}")


if __name__ == "__main__":
    main()
