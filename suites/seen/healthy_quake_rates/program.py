"""Rates of earthquakes by region: a hierarchical Poisson model, all chains in one program."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS
from numpyro.infer.reparam import LocScaleReparam

REGIONS = 80
YEARS = 25


def catalogue(seed):
    rng = np.random.default_rng(seed)
    strain = rng.normal(size=REGIONS)
    log_rate = 1.0 + 0.6 * strain + 0.4 * rng.normal(size=REGIONS)
    counts = rng.poisson(np.exp(log_rate)[:, None], size=(REGIONS, YEARS))
    return jnp.asarray(strain, jnp.float32), jnp.asarray(counts, jnp.float32)


def model(strain, counts=None):
    base = numpyro.sample("base", dist.Normal(0.0, 2.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("regions", REGIONS, dim=-2):
        with numpyro.handlers.reparam(config={"log_rate": LocScaleReparam(0.0)}):
            log_rate = numpyro.sample("log_rate", dist.Normal((base + slope * strain)[:, None], spread))
        with numpyro.plate("years", YEARS, dim=-1):
            numpyro.sample("counts", dist.Poisson(jnp.exp(log_rate)), obs=counts)


class RateStudy:
    def __init__(self, strain, counts):
        self.data = (strain, counts)
        self.mcmc = MCMC(
            NUTS(model),
            num_warmup=200,
            num_samples=100,
            num_chains=4,
            chain_method="vectorized",
            progress_bar=False,
        )
        self.mcmc.warmup(jax.random.key(0), *self.data)

    def block(self, key):
        """Another hundred draws of each chain, from where the last ones ended."""
        self.mcmc.post_warmup_state = self.mcmc.last_state
        self.mcmc.run(key, *self.data)
        draws = self.mcmc.get_samples()
        return draws["slope"], draws["spread"]


def main():
    study = RateStudy(*catalogue(3))
    jax.block_until_ready(study.block(jax.random.key(1)))

    start = time.perf_counter()
    slopes, spreads = [], []
    for number in range(12):
        slope, spread = study.block(jax.random.key(2 + number))
        slopes.append(slope)
        spreads.append(spread)
    jax.block_until_ready(spreads)
    print(f"{len(slopes)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(jnp.concatenate(slopes).mean()):.3f} {float(jnp.concatenate(spreads).mean()):.3f}")


if __name__ == "__main__":
    main()
