"""Log-Gaussian Cox process of ambulance calls along a city grid, fitted by variational inference."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal
from numpyro.optim import Adam

SIDE = 16
N_DAYS = 150


def grid_points():
    axis = np.linspace(0.0, 1.0, SIDE)
    return np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)


def covariance(points, amplitude=0.8, length=0.15, jitter=1e-2):
    d2 = ((points[:, None] - points[None]) ** 2).sum(-1)
    k = amplitude**2 * np.exp(-0.5 * d2 / length**2)
    return (k + jitter * np.eye(len(points))).astype(np.float32)


def simulate_calls(points, cov, seed):
    rng = np.random.default_rng(seed)
    field = np.linalg.cholesky(cov.astype(np.float64)) @ rng.normal(size=len(points))
    population = rng.gamma(4.0, 1.0, size=(N_DAYS, len(points)))
    calls = rng.poisson(population * np.exp(field - 2.0))
    return calls.astype(np.float32), population.astype(np.float32)


def cox_model(cov, population, calls):
    n_days, n = population.shape
    base = numpyro.sample("base", dist.Normal(0.0, 1.0))
    field = numpyro.sample("field", dist.MultivariateNormal(jnp.zeros(n), covariance_matrix=cov))
    rate = population * jnp.exp(base + field)
    with numpyro.plate("days", n_days, dim=-2), numpyro.plate("cells", n, dim=-1):
        numpyro.sample("calls", dist.Poisson(rate), obs=calls)


class CallMap:
    def __init__(self, cov, population, calls):
        self.args = (jnp.asarray(cov), jnp.asarray(population), jnp.asarray(calls))
        self.guide = AutoNormal(cox_model, init_scale=0.05)
        self.svi = SVI(cox_model, self.guide, Adam(5e-3), Trace_ELBO(num_particles=2))
        self.update = jax.jit(self.svi.update)

    def start(self, key):
        return self.svi.init(key, *self.args)

    def epoch(self, state, n):
        losses = []
        for _ in range(n):
            state, loss = self.update(state, *self.args)
            losses.append(loss)
        return state, jnp.stack(losses)

    def intensity(self, state):
        median = self.guide.median(self.svi.get_params(state))
        return jnp.exp(median["base"] + median["field"])


def main():
    points = grid_points()
    cov = covariance(points)
    calls, population = simulate_calls(points, cov, 0)
    model = CallMap(cov, population, calls)
    state = model.start(jax.random.key(0))
    jax.block_until_ready(model.epoch(state, 10))

    n_steps = 20
    losses = []
    start = time.perf_counter()
    for _ in range(n_steps):
        state, loss = model.epoch(state, 10)
        losses.append(jnp.mean(loss))
    jax.block_until_ready((state, losses))
    elapsed = time.perf_counter() - start

    intensity = model.intensity(state)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"negative ELBO {float(losses[0]):.1f} -> {float(losses[-1]):.1f}")
    print(f"checksum {float(losses[-1]):.2f} {float(intensity.mean()):.4f}")


if __name__ == "__main__":
    main()
