"""Draws new data from the posterior of a regression, to be laid beside what was seen (numpyro)."""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import Predictive


def model(x, y=None):
    slope = numpyro.sample("slope", dist.Normal(0.0, 2.0))
    offset = numpyro.sample("offset", dist.Normal(0.0, 2.0))
    scale = numpyro.sample("scale", dist.HalfNormal(1.0))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(offset + slope * x, scale), obs=y)


def posterior(count):
    keys = jax.random.split(jax.random.key(0), 3)
    normal = lambda key, mean, spread: mean + spread * jax.random.normal(key, (count,))  # noqa: E731
    return {"slope": normal(keys[0], 1.4, 0.05), "offset": normal(keys[1], -0.2, 0.1), "scale": jnp.abs(normal(keys[2], 0.5, 0.02))}


def replicates(samples, x):
    """The largest value of each replicated data set."""
    largest = []
    for i in range(samples["slope"].shape[0]):
        one = {name: value[i : i + 1] for name, value in samples.items()}
        drawn = Predictive(model, posterior_samples=one)(jax.random.key(i), x)["y"]
        largest.append(drawn.max())
    return jnp.stack(largest)


def main():
    x = jnp.linspace(-2.0, 2.0, 300)
    samples = posterior(60)
    replicates({name: value[:2] for name, value in samples.items()}, x)
    steps = 2
    start = time.perf_counter()
    for _ in range(steps):
        largest = replicates(samples, x)
    largest.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(largest.mean()))


if __name__ == "__main__":
    main()
