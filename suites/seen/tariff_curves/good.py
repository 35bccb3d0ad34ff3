"""Demand curves of electricity customers, one fit for each region."""

import time

import jax
import jax.numpy as jnp
import jaxopt

REGIONS, HOURS, KNOTS = 4, 40_000, 24


def features(hour, price):
    """Smooth bumps over the day, and the same bumps times the price."""
    centers = jnp.linspace(0.0, 24.0, KNOTS, endpoint=False)
    distance = jnp.minimum(jnp.abs(hour[:, None] - centers), 24.0 - jnp.abs(hour[:, None] - centers))
    bumps = jnp.exp(-0.5 * jnp.square(distance))
    return jnp.concatenate([bumps, bumps * price[:, None]], axis=1)


def negative_likelihood(params, design, demand):
    mean = jnp.exp(design @ params["curve"])
    width = jax.nn.softplus(params["width"]) + 1e-2
    off = (demand - mean) / width
    penalty = 1e-3 * jnp.square(jnp.diff(params["curve"])).sum()
    return jnp.mean(jnp.log1p(jnp.square(off) / 4.0) * 2.5 + jnp.log(width)) + penalty


solver = jaxopt.LBFGS(fun=negative_likelihood, maxiter=20, tol=1e-6)


@jax.jit
def fit_region(hour, price, demand):
    design = features(hour, price)
    start = {"curve": jnp.zeros(2 * KNOTS), "width": jnp.zeros(())}
    params, state = solver.run(start, design, demand)
    return params, state.value


def make_region(key):
    hour_key, price_key, noise_key, level_key = jax.random.split(key, 4)
    hour = jax.random.uniform(hour_key, (HOURS,), maxval=24.0)
    price = jax.random.uniform(price_key, (HOURS,), minval=-1.0)
    level = 0.5 * jax.random.normal(level_key)
    mean = jnp.exp(0.4 * jnp.sin(hour / 24.0 * 2.0 * jnp.pi) - (0.3 + 0.1 * level) * price + level)
    return hour, price, mean + 0.2 * jax.random.t(noise_key, 4.0, (HOURS,))


def main():
    regions = [make_region(key) for key in jax.random.split(jax.random.key(5), REGIONS + 1)]
    fit_region(*regions[0])[1].block_until_ready()
    start = time.perf_counter()
    losses = []
    for hour, price, demand in regions[1:]:
        params, loss = fit_region(hour, price, demand)
        losses.append(float(loss))
    print(f"{REGIONS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", sum(losses) / REGIONS)


if __name__ == "__main__":
    main()
