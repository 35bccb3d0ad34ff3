"""Variational fit of returns of many assets with correlated residuals (numpyro).

A factor regression with a learned residual scale; residuals share one
correlation matrix that was estimated beforehand from a longer history.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

DAYS, ASSETS, FACTORS = 800, 24, 6


def simulate(seed=3):
    rng = np.random.default_rng(seed)
    load = rng.normal(size=(FACTORS, ASSETS))
    factors = rng.normal(size=(DAYS, FACTORS))
    mix = 0.4 * rng.normal(size=(ASSETS, ASSETS)) / np.sqrt(ASSETS) + np.eye(ASSETS)
    corr = mix @ mix.T
    scale = np.sqrt(np.diag(corr))
    corr = corr / scale[:, None] / scale[None, :]
    noise = rng.multivariate_normal(np.zeros(ASSETS), corr, DAYS)
    returns = factors @ load + 0.3 * noise
    return tuple(np.asarray(a, np.float32) for a in (factors, returns, corr))


def model(factors, corr, returns=None):
    beta = numpyro.sample("beta", dist.Normal(0.0, 1.0).expand([FACTORS, ASSETS]).to_event(2))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1.0).expand([ASSETS]).to_event(1))
    days = factors.shape[0]
    cov = sigma[:, None] * corr * sigma[None, :]
    with numpyro.plate("days", days):
        numpyro.sample(
            "returns",
            dist.MultivariateNormal(factors @ beta, scale_tril=jnp.linalg.cholesky(cov)),
            obs=returns,
        )


def main():
    factors, returns, corr = simulate()
    guide = AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.02), Trace_ELBO())
    state = svi.init(jax.random.key(0), factors, corr, returns)
    update = jax.jit(svi.update)
    for _ in range(3):
        state, loss = update(state, factors, corr, returns)
    jax.block_until_ready(loss)
    steps = 80
    start = time.perf_counter()
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("svi", step_num=i):
            state, loss = update(state, factors, corr, returns)
            loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    params = svi.get_params(state)
    print("checksum", float(loss), float(jnp.abs(params["beta_auto_loc"]).mean()))


if __name__ == "__main__":
    main()
