"""Recovery rates of clinics, by a hierarchical model (numpyro)."""

import time

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

PATIENTS = jnp.array([31, 50, 12, 80, 44, 23, 67, 19, 38, 55, 27, 61])
RECOVERED = jnp.array([22, 33, 9, 61, 25, 17, 50, 10, 30, 38, 21, 40])


def model(patients, recovered):
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.5))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    with numpyro.plate("clinics", patients.shape[0]):
        offset = numpyro.sample("offset", dist.Normal(0.0, 1.0))
        numpyro.sample("recovered", dist.Binomial(patients, logits=mean + spread * offset), obs=recovered)


def main():
    mcmc = MCMC(NUTS(model), num_warmup=60, num_samples=100, num_chains=8, chain_method="sequential", progress_bar=False)
    mcmc.run(jax.random.key(0), PATIENTS, RECOVERED)
    means = []
    steps = 1
    start = time.perf_counter()
    for i in range(steps):
        mcmc.run(jax.random.key(i + 1), PATIENTS, RECOVERED)
        means.append(mcmc.get_samples()["mean"].mean())
    jax.block_until_ready(means)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(means).mean()))


if __name__ == "__main__":
    main()
