"""Implied volatilities of an option chain, tick by tick."""
import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # shared machine

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx
from jax.scipy.stats import norm

STEPS = 1600
STRIKES = 24
EXPIRIES = 10
RATE = 0.02


def black_scholes(vol, spot, strike, expiry):
    root = vol * jnp.sqrt(expiry)
    d1 = (jnp.log(spot / strike) + RATE * expiry) / root + 0.5 * root
    d2 = d1 - root
    return spot * norm.cdf(d1) - strike * jnp.exp(-RATE * expiry) * norm.cdf(d2)


def residual(log_vol, args):
    price, spot, strike, expiry = args
    return (black_scholes(jnp.exp(log_vol), spot, strike, expiry) - price) / spot


@jax.jit
def implied_vols(guess, price, spot, strike, expiry):
    """Volatility of every contract of the chain."""
    solver = optx.Newton(rtol=1e-4, atol=1e-6)

    def solve(guess, price, strike, expiry):
        args = (price, spot, strike, expiry)
        return optx.root_find(residual, solver, guess, args=args, max_steps=30, throw=False).value

    return jnp.exp(jax.vmap(solve)(guess, price, strike, expiry))


def make_chain():
    moneyness = np.linspace(0.85, 1.15, STRIKES)
    expiry = np.linspace(0.25, 2.0, EXPIRIES)
    k, t = np.meshgrid(100.0 * moneyness, expiry, indexing="ij")
    smile = 0.22 + 0.3 * (np.log(k / 100.0)) ** 2 + 0.03 * np.exp(-t)
    as_array = lambda a: jnp.asarray(a.ravel(), dtype=jnp.float32)
    return as_array(k), as_array(t), as_array(smile)


def make_ticks(strike, expiry, smile, seed=6):
    rng = np.random.default_rng(seed)
    spots = 100.0 * np.exp(np.cumsum(rng.normal(scale=5e-4, size=STEPS + 1)))
    level = 1.0 + 0.05 * np.sin(np.arange(STEPS + 1) / 60.0)
    spots = jnp.asarray(spots, dtype=jnp.float32)
    vols = jnp.asarray(level, dtype=jnp.float32)[:, None] * smile
    prices = jax.vmap(black_scholes, in_axes=(0, 0, None, None))(vols, spots, strike, expiry)
    return spots, prices


def main():
    strike, expiry, smile = make_chain()
    spots, prices = make_ticks(strike, expiry, smile)
    guess = jnp.full(strike.shape, jnp.log(0.3))

    implied_vols(guess, prices[0], spots[0], strike, expiry).block_until_ready()

    start = time.perf_counter()
    surfaces = []
    for tick in range(1, STEPS + 1):
        vols = implied_vols(guess, prices[tick], spots[tick], strike, expiry)
        surfaces.append(vols)
    surface = jnp.stack(surfaces)
    surface.block_until_ready()
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    surface = np.asarray(surface)
    print(f"checksum {surface.mean():.5f} {surface.max():.4f} {surface.min():.4f} {surface[-1].mean():.5f}")


if __name__ == "__main__":
    main()
