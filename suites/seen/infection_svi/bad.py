"""Infection rates of hospital wards by variational inference in NumPyro."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

WARDS = 60
PATIENTS = 2000


def admissions(seed):
    rng = np.random.default_rng(seed)
    ward = rng.integers(0, WARDS, PATIENTS)
    age = rng.normal(size=PATIENTS)
    days = rng.gamma(2.0, 3.0, PATIENTS) / 10.0
    offset = rng.normal(0.0, 0.6, WARDS)
    logit = -1.0 + offset[ward] + 0.5 * age + 0.8 * days
    infected = rng.random(PATIENTS) < 1.0 / (1.0 + np.exp(-logit))
    return {
        "ward": jnp.asarray(ward),
        "age": jnp.asarray(age, jnp.float32),
        "days": jnp.asarray(days, jnp.float32),
        "infected": jnp.asarray(infected, jnp.float32),
    }


def model(ward, age, days, infected=None):
    base = numpyro.sample("base", dist.Normal(0.0, 2.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    slope_age = numpyro.sample("slope_age", dist.Normal(0.0, 1.0))
    slope_days = numpyro.sample("slope_days", dist.Normal(0.0, 1.0))
    with numpyro.plate("wards", WARDS):
        offset = numpyro.sample("offset", dist.Normal(0.0, 1.0))
    logit = base + spread * offset[ward] + slope_age * age + slope_days * days
    with numpyro.plate("patients", PATIENTS):
        numpyro.sample("infected", dist.Bernoulli(logits=logit), obs=infected)


class WardFit:
    def __init__(self, data, seed=0):
        self.data = data
        self.guide = AutoNormal(model)
        self.svi = SVI(model, self.guide, Adam(0.05), Trace_ELBO(num_particles=2))
        self.state = self.svi.init(jax.random.key(seed), **data)
        self.update = self.svi.update

    def advance(self):
        self.state, loss = self.update(self.state, **self.data)
        return loss

    def medians(self):
        return self.guide.median(self.svi.get_params(self.state))


def main():
    fit = WardFit(admissions(8))
    for _ in range(2):
        loss = fit.advance()
    jax.block_until_ready(loss)

    start = time.perf_counter()
    losses = []
    for step in range(80):
        losses.append(fit.advance())
    jax.block_until_ready(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    median = fit.medians()
    print(f"checksum {float(jnp.stack(losses[-20:]).mean()):.2f} {float(median['slope_age']):.4f}")


if __name__ == "__main__":
    main()
