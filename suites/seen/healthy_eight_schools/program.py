"""Hierarchical growth curves of many schools by stochastic variational inference (numpyro)."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

SCHOOLS, PUPILS, PREDICTORS = 200, 20_000, 12


def simulate(seed=0):
    rng = np.random.default_rng(seed)
    school = rng.integers(0, SCHOOLS, PUPILS)
    x = rng.normal(size=(PUPILS, PREDICTORS))
    effect = rng.normal(size=SCHOOLS)
    slope = rng.normal(size=PREDICTORS) * 0.3
    score = effect[school] + x @ slope + 0.8 * rng.normal(size=PUPILS)
    return school.astype(np.int32), x.astype(np.float32), score.astype(np.float32)


def model(school, x, score=None):
    mean = numpyro.sample("mean", dist.Normal(0.0, 2.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    slope = numpyro.sample("slope", dist.Normal(0.0, 1.0).expand([PREDICTORS]).to_event(1))
    noise = numpyro.sample("noise", dist.HalfNormal(1.0))
    with numpyro.plate("schools", SCHOOLS):
        offset = numpyro.sample("offset", dist.Normal(0.0, 1.0))
    location = mean + spread * offset[school] + x @ slope
    with numpyro.plate("pupils", len(school)):
        numpyro.sample("score", dist.Normal(location, noise), obs=score)


def main():
    school, x, score = jax.device_put(simulate())
    svi = SVI(model, AutoNormal(model), numpyro.optim.Adam(0.01), Trace_ELBO())

    @jax.jit
    def run_block(state):
        def body(state, _):
            state, loss = svi.update(state, school, x, score)
            return state, loss

        return jax.lax.scan(body, state, length=50)

    state = svi.init(jax.random.key(0), school, x, score)
    state, losses = run_block(state)
    losses.block_until_ready()
    steps = 20
    start = time.perf_counter()
    for _ in range(steps):
        state, losses = run_block(state)
    losses.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    slope = svi.get_params(state)["slope_auto_loc"]
    print("checksum", float(losses.mean()), float(jnp.abs(slope).sum()))


if __name__ == "__main__":
    main()
