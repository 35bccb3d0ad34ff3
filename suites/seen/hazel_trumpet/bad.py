"""Bayesian dose-count regression for several laboratories, with NumPyro."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

LABS, ROWS, WARMUP, DRAWS = 4, 160, 300, 900


def model(lab, dose, age, counts=None):
    """Poisson counts, a quadratic response to dose and an effect of age."""
    base = numpyro.sample("base", dist.Normal(0.0, 3.0))
    linear = numpyro.sample("linear", dist.Normal(0.0, 2.0))
    curve = numpyro.sample("curve", dist.Normal(0.0, 1.0))
    ageing = numpyro.sample("ageing", dist.Normal(0.0, 1.0))
    with numpyro.plate("labs", LABS):
        shift = numpyro.sample("shift", dist.Normal(0.0, 0.3))
    log_rate = base + linear * dose + curve * dose ** 2 + ageing * age / 10.0 + shift[lab]
    with numpyro.plate("rows", dose.shape[0]):
        numpyro.sample("counts", dist.Poisson(jnp.exp(log_rate)), obs=counts)


def synthetic(seed=0):
    rng = np.random.default_rng(seed)
    lab = rng.integers(0, LABS, ROWS)
    dose = rng.uniform(4.0, 6.0, ROWS)
    age = rng.uniform(40, 70, ROWS)
    shift = np.array([0.2, -0.1, 0.0, -0.15])
    rate = np.exp(-3.0 + 2.2 * dose - 0.22 * dose ** 2 + 0.1 * age / 10 + shift[lab])
    counts = rng.poisson(rate)
    return lab, dose.astype(np.float32), age.astype(np.float32), counts


class Analysis:
    def __init__(self, data):
        self.data = data
        kernel = NUTS(model, target_accept_prob=0.85)
        self.mcmc = MCMC(kernel, num_warmup=WARMUP, num_samples=DRAWS, progress_bar=False)

    def run(self, seed):
        self.mcmc.run(jax.random.key(seed), *self.data)
        return jax.tree.map(np.asarray, self.mcmc.get_samples())

    def fitted(self, samples):
        """Posterior mean of the expected count of every row."""
        lab, dose, age, _ = self.data
        s = {k: v[:, None] for k, v in samples.items() if v.ndim == 1}
        log_rate = (s["base"] + s["linear"] * dose + s["curve"] * dose ** 2
                    + s["ageing"] * age / 10.0 + samples["shift"][:, lab])
        return np.exp(log_rate).mean(0)


def main(runs=1):
    analysis = Analysis(synthetic())
    analysis.run(seed=0)
    fits = []
    t0 = time.perf_counter()
    for seed in range(1, runs + 1):
        fits.append(analysis.fitted(analysis.run(seed)))
    print(f"{runs * (WARMUP + DRAWS)} steps in {time.perf_counter() - t0:.2f} s")
    fit = np.mean(fits, axis=0)
    print(f"checksum {np.log(fit).mean():.3f} {np.sqrt(fit).mean():.2f}")


if __name__ == "__main__":
    main()
