"""Bayesian regression of energy use on weather with NumPyro's NUTS kernel."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS

N_DAYS = 800
WARMUP = 600
CHUNK = 100
N_CHUNKS = 52
NAMES = ["outdoor", "roof", "wall", "solar", "humidity"]


def make_days(seed=13):
    """Daily readings; the temperatures move together."""
    rng = np.random.default_rng(seed)
    season = 12 + 8 * np.sin(2 * np.pi * np.arange(N_DAYS) / 365.0)
    outdoor = season + 2.0 * rng.normal(size=N_DAYS)
    roof = outdoor + 1.2 * rng.normal(size=N_DAYS)
    wall = outdoor + 1.2 * rng.normal(size=N_DAYS)
    solar = 0.3 * outdoor + 1.0 * rng.normal(size=N_DAYS)
    humidity = 60 + 5 * rng.normal(size=N_DAYS)
    x = np.stack([outdoor, roof, wall, solar, humidity], axis=1)
    weights = np.array([-0.8, -0.3, -0.2, -0.5, 0.05])
    y = 40.0 + x @ weights + 1.5 * rng.normal(size=N_DAYS)
    return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)


def model(x, y=None):
    intercept = numpyro.sample("intercept", dist.Normal(30.0, 20.0))
    weights = numpyro.sample("weights", dist.Normal(0.0, 2.0).expand([len(NAMES)]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(5.0))
    mu = numpyro.deterministic("mu", intercept + x @ weights)
    with numpyro.plate("days", x.shape[0]):
        numpyro.sample("y", dist.Normal(mu, sigma), obs=y)


class Posterior:
    """Draws from the posterior in chunks, so that it can be stopped early."""

    def __init__(self, x, y, key):
        self.data = (x, y)
        self.kernel = NUTS(model, target_accept_prob=0.8)
        self.state = self.kernel.init(key, WARMUP, None, self.data, {})
        self._chunk = jax.jit(self._draw_chunk)

    def _draw_chunk(self, state):
        def body(state, _):
            state = self.kernel.sample(state, self.data, {})
            return state, state.z

        return jax.lax.scan(body, state, None, length=CHUNK)

    def warm_up(self):
        for _ in range(WARMUP // CHUNK):
            self.state, _ = self._chunk(self.state)

    def draw(self):
        self.state, z = self._chunk(self.state)
        return z


def prediction(z, x):
    mu = z["intercept"][:, None] + z["weights"] @ x.T
    return jnp.mean(mu), jnp.mean(z["weights"][:, 0] + z["weights"][:, 1] + z["weights"][:, 2])


def main():
    x, y = make_days()
    posterior = Posterior(x, y, jax.random.PRNGKey(4))
    posterior.warm_up()
    jax.block_until_ready(posterior.state)

    draws = []
    start = time.perf_counter()
    for _ in range(N_CHUNKS):
        draws.append(posterior.draw())
    jax.block_until_ready(draws)
    elapsed = time.perf_counter() - start

    z = jax.tree.map(lambda *parts: jnp.concatenate(parts), *draws)
    mean, slope = prediction(z, x)
    print(f"{N_CHUNKS * CHUNK} steps in {elapsed:.2f} s")
    print(f"checksum mean={float(mean):.3f} slope={float(slope):.2f}")


if __name__ == "__main__":
    main()
