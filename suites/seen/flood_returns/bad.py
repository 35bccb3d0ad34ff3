"""Return levels of yearly floods, with a variational fit over many gauges."""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

GAUGES, YEARS, STEPS = 800, 60, 12


def model(area, floods):
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    base = numpyro.sample("base", dist.Normal(0.0, 2.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("gauges", GAUGES, dim=-2):
        offset = numpyro.sample("offset", dist.Normal(0.0, 0.5))
        scale = numpyro.sample("scale", dist.LogNormal(-1.0, 0.5))
        location = base + slope * area[:, None] + spread * offset
        with numpyro.plate("years", YEARS, dim=-1):
            numpyro.sample("flood", dist.Gumbel(location, scale), obs=floods)


def make_floods(key):
    area_key, flood_key, offset_key = jax.random.split(key, 3)
    area = jax.random.normal(area_key, (GAUGES,))
    location = 1.0 + 0.6 * area + 0.3 * jax.random.normal(offset_key, (GAUGES,))
    floods = location[:, None] + 0.4 * jax.random.gumbel(flood_key, (GAUGES, YEARS))
    return area, floods


def return_level(median, area, years):
    """The flood that is exceeded once in so many years on average."""
    location = median["base"] + median["slope"] * area + median["spread"] * median["offset"][:, 0]
    return location - median["scale"][:, 0] * jnp.log(-jnp.log1p(-1.0 / years))


def main():
    area, floods = make_floods(jax.random.key(3))
    guide = AutoNormal(model, init_scale=0.05)
    svi = SVI(model, guide, numpyro.optim.Adam(0.02), Trace_ELBO(num_particles=8))
    state = svi.init(jax.random.key(1), area, floods)
    state, loss = svi.update(state, area, floods)
    loss.block_until_ready()
    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        state, loss = svi.update(state, area, floods)
        losses.append(loss)
    jax.block_until_ready(state)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    median = guide.median(svi.get_params(state))
    print("checksum", float(losses[-1]), float(return_level(median, area, 100.0).mean()))


if __name__ == "__main__":
    main()
