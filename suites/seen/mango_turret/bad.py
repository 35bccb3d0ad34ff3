"""Sequential design of a catalyst recipe: Gaussian-process optimisation with expected improvement."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm
from scipy.integrate import solve_ivp
from tinygp import GaussianProcess, kernels

N_KNOBS = 4
BUDGET = 10
LENGTH_SCALES = jnp.geomspace(0.2, 2.0, 16)


def reactor_yield(x):
    """Fraction of feed turned into product in a stirred tank (A -> B -> C, heat released)."""
    heat, load, catalyst, cooling = (float(v) for v in x)
    feeds = np.linspace(-0.1, 0.1, 10)

    def rates(t, c):
        a, b, temperature = c
        k1 = 40.0 * (0.2 + catalyst) * np.exp(-4.0 / temperature)
        k2 = 90.0 * np.exp(-6.0 / temperature)
        release = 0.4 * k1 * a + 0.3 * k2 * b
        return [-k1 * a, k1 * a - k2 * b, release - (0.3 + cooling) * (temperature - 0.8)]

    total = 0.0
    for feed in feeds:
        start = [0.5 + 0.5 * load, 0.0, 0.9 + 0.4 * heat + feed]
        end = solve_ivp(rates, (0.0, 4.0), start, rtol=1e-8, atol=1e-10).y[:, -1]
        total += end[1] / start[0]
    return float(total / len(feeds))


def build_gp(scale, x):
    return GaussianProcess(0.3 * kernels.ExpSquared(scale), x, diag=1e-2)


@jax.jit
def choose(x, y, candidates):
    fits = jax.vmap(lambda s: build_gp(s, x).log_probability(y))(LENGTH_SCALES)
    scale = LENGTH_SCALES[jnp.argmax(fits)]
    posterior = build_gp(scale, x).condition(y, candidates).gp
    sigma = jnp.sqrt(jnp.maximum(posterior.variance, 1e-8))
    gain = posterior.loc - jnp.max(y) - 0.01
    z = gain / sigma
    improvement = gain * norm.cdf(z) + sigma * norm.pdf(z)
    return jnp.argmax(improvement), scale


class Designer:
    def __init__(self, seed=0, n_initial=6, n_candidates=512):
        rng = np.random.default_rng(seed)
        self.candidates = rng.uniform(size=(n_candidates, N_KNOBS)).astype(np.float32)
        self.x = rng.uniform(size=(n_initial, N_KNOBS)).astype(np.float32)
        self.y = np.array([reactor_yield(v) for v in self.x], np.float32)
        self.scales = []

    def propose(self):
        index, scale = choose(self.x, self.y, self.candidates)
        self.scales.append(float(scale))
        return int(index)

    def record(self, index):
        point = self.candidates[index]
        value = reactor_yield(point)
        self.x = np.concatenate([self.x, point[None]])
        self.y = np.append(self.y, np.float32(value))
        return value


def main():
    designer = Designer()
    designer.propose()

    values = []
    start = time.perf_counter()
    for _ in range(BUDGET):
        values.append(designer.record(designer.propose()))
    elapsed = time.perf_counter() - start

    print(f"{BUDGET} steps in {elapsed:.3f} s")
    print(f"best yield {max(values):.4f}")
    print(f"checksum {sum(values):.4f} {np.mean(designer.scales):.4f}")


if __name__ == "__main__":
    main()
