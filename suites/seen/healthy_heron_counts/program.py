"""How many herons breed at which lake?  A hierarchical count model by variational inference."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

LAKES = 150
YEARS = 40
BLOCK = 50
BLOCKS = 70


def make_counts(rng):
    """Counts for each lake and year, with the area of reeds as a covariate."""
    reeds = rng.normal(size=LAKES)
    level = 1.5 + 0.6 * reeds + 0.4 * rng.normal(size=LAKES)
    trend = 0.02 * rng.normal(size=LAKES)
    year = np.arange(YEARS) - YEARS / 2
    counts = rng.poisson(np.exp(level[:, None] + trend[:, None] * year))
    return jnp.asarray(reeds, jnp.float32), jnp.asarray(year, jnp.float32), jnp.asarray(counts)


def model(reeds, year, counts):
    base = numpyro.sample("base", dist.Normal(1.0, 1.0))
    effect = numpyro.sample("effect", dist.Normal(0.0, 1.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    turn = numpyro.sample("turn", dist.HalfNormal(0.1))
    with numpyro.plate("lakes", LAKES):
        offset = numpyro.sample("offset", dist.Normal(0.0, 1.0))
        slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
    log_rate = (base + effect * reeds + spread * offset)[:, None] + (turn * slope)[:, None] * year
    with numpyro.plate("lake", LAKES, dim=-2), numpyro.plate("year", YEARS, dim=-1):
        numpyro.sample("counts", dist.Poisson(jnp.exp(log_rate)), obs=counts)


def build_block(svi):
    @jax.jit
    def block(state, reeds, year, counts):
        """Fifty updates in one compiled loop."""
        return jax.lax.scan(lambda s, _: svi.update(s, reeds, year, counts), state, None, length=BLOCK)

    return block


def main():
    data = make_counts(np.random.default_rng(14))
    guide = AutoNormal(model, init_scale=0.05)
    svi = SVI(model, guide, numpyro.optim.Adam(0.01), Trace_ELBO(num_particles=4))
    block = build_block(svi)
    state = svi.init(jax.random.PRNGKey(3), *data)
    state, losses = block(state, *data)
    losses.block_until_ready()

    start = time.perf_counter()
    history = []
    for _ in range(BLOCKS):
        state, losses = block(state, *data)
        history.append(losses)
    history = jnp.concatenate(history)
    last = float(history[-100:].mean())
    print(f"{BLOCKS} steps in {time.perf_counter() - start:.3f} s")
    median = guide.median(svi.get_params(state))
    print(f"checksum {last:.3f} {float(median['effect']):.4f}")


if __name__ == "__main__":
    main()
