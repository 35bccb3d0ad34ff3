"""Hierarchical regression of tree heights with NumPyro (variational inference).

Cedars were measured in several stands; the mean height and the effect of the
age differ between stands, and both come from population distributions.  The
parametrisation is non-centred, stands and trees are in plates.  A mean-field
guide is fitted with Adam; each block of updates is one compiled scan.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import optax
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

N_STANDS = 40
TREES_PER_STAND = 100
STEPS_PER_BLOCK = 500
N_BLOCKS = 48


def make_census(seed=0):
    """Stand index, standardised age and height (minus the overall mean) of every tree."""
    rng = np.random.default_rng(seed)
    stand = np.repeat(np.arange(N_STANDS), TREES_PER_STAND)
    age = rng.normal(size=stand.size)
    level = 12.0 + 2.0 * rng.normal(size=N_STANDS)
    slope = 1.5 + 0.4 * rng.normal(size=N_STANDS)
    height = level[stand] + slope[stand] * age + 0.8 * rng.normal(size=stand.size)
    return (
        jnp.asarray(stand),
        jnp.asarray(age, jnp.float32),
        jnp.asarray(height - height.mean(), jnp.float32),
    )


def model(stand, age, height):
    level_mean = numpyro.sample("level_mean", dist.Normal(0.0, 2.0))
    level_scale = numpyro.sample("level_scale", dist.HalfNormal(3.0))
    slope_mean = numpyro.sample("slope_mean", dist.Normal(0.0, 3.0))
    slope_scale = numpyro.sample("slope_scale", dist.HalfNormal(1.0))
    noise = numpyro.sample("noise", dist.HalfNormal(2.0))

    with numpyro.plate("stands", N_STANDS):
        level_raw = numpyro.sample("level_raw", dist.Normal(0.0, 1.0))
        slope_raw = numpyro.sample("slope_raw", dist.Normal(0.0, 1.0))

    level = level_mean + level_scale * level_raw
    slope = slope_mean + slope_scale * slope_raw
    with numpyro.plate("trees", age.shape[0]):
        mean = level[stand] + slope[stand] * age
        numpyro.sample("height", dist.Normal(mean, noise), obs=height)


guide = AutoNormal(model)
svi = SVI(model, guide, optax.adam(5e-3), Trace_ELBO())


@jax.jit
def run_block(state, stand, age, height):
    """A block of updates; returns the mean negative ELBO as well."""

    def update(state, _):
        return svi.update(state, stand, age, height)

    state, losses = jax.lax.scan(update, state, None, length=STEPS_PER_BLOCK)
    return state, losses.mean()


def main():
    census = make_census()
    state = svi.init(jax.random.PRNGKey(1), *census)

    # the first block compiles the scan
    state, loss = jax.block_until_ready(run_block(state, *census))

    start = time.perf_counter()
    losses = []
    for _ in range(N_BLOCKS):
        state, loss = run_block(state, *census)
        losses.append(loss)
    jax.block_until_ready((state, losses))
    elapsed = time.perf_counter() - start

    median = guide.median(svi.get_params(state))
    for name in ("level_mean", "level_scale", "slope_mean", "slope_scale", "noise"):
        print(f"{name:>12s}  {float(median[name]):7.3f}")
    print(f"{N_BLOCKS * STEPS_PER_BLOCK} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[-1]):.2f} {float(median['level_mean']):.3f}"
          f" {float(median['noise']):.4f}")


if __name__ == "__main__":
    main()
