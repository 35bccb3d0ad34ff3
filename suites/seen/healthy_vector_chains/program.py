"""Counts of accidents by a Poisson regression, all chains at once (numpyro)."""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS


def model(features, counts):
    weights = numpyro.sample("weights", dist.Normal(0.0, 1.0).expand([features.shape[1]]).to_event(1))
    offset = numpyro.sample("offset", dist.Normal(0.0, 2.0))
    with numpyro.plate("streets", features.shape[0]):
        numpyro.sample("counts", dist.Poisson(jnp.exp(offset + features @ weights)), obs=counts)


def main():
    key, feature_key, count_key = jax.random.split(jax.random.key(2), 3)
    features = 0.4 * jax.random.normal(feature_key, (2000, 12))
    counts = jax.random.poisson(count_key, jnp.exp(0.5 + features @ jnp.linspace(-1, 1, 12)))
    mcmc = MCMC(NUTS(model), num_warmup=150, num_samples=150, num_chains=4, chain_method="vectorized", progress_bar=False)
    mcmc.run(key, features, counts)
    start = time.perf_counter()
    mcmc.run(jax.random.key(3), features, counts)
    means = mcmc.get_samples()["weights"].mean(axis=0)
    means.block_until_ready()
    print(f"1 steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(means[0]), float(means[-1]))


if __name__ == "__main__":
    main()
