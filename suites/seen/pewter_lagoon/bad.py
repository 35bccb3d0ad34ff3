"""Scores candidate rate constants of a reaction network against a measured trajectory, with Diffrax."""
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

TRUE_LOG_K = np.log(np.array([0.04, 3e7, 1e4]))
SAMPLE_TIMES = np.geomspace(0.1, 25.0, 24)


def reaction(t, y, log_k):
    """A -> B, B + B -> C + B, B + C -> A + C"""
    k1, k2, k3 = jnp.exp(log_k)
    a, b, c = y
    r1, r2, r3 = k1 * a, k2 * b * b, k3 * b * c
    return jnp.stack([-r1 + r3, r1 - r2 - r3, r2])


TERM = diffrax.ODETerm(reaction)


@jax.jit
def simulate(log_k):
    sol = diffrax.diffeqsolve(
        TERM,
        diffrax.Tsit5(),
        t0=0.0,
        t1=SAMPLE_TIMES[-1],
        dt0=1e-5,
        y0=jnp.array([1.0, 0.0, 0.0]),
        args=log_k,
        saveat=diffrax.SaveAt(ts=jnp.asarray(SAMPLE_TIMES)),
        stepsize_controller=diffrax.PIDController(rtol=1e-6, atol=1e-9),
        max_steps=200_000,
    )
    return sol.ys


SCALE = jnp.array([1.0, 3e-5, 0.2])


@jax.jit
def misfit(observed, predicted):
    return jnp.sqrt(jnp.mean(((predicted - observed) / SCALE) ** 2))


class Search:
    """Random-walk search over the logarithms of the rate constants."""

    def __init__(self, observed, start, seed=0):
        self.observed = observed
        self.current = start
        self.score = float(misfit(observed, simulate(start)))
        self.rng = np.random.default_rng(seed)
        self.tried = []

    def step(self, width):
        proposal = self.current + width * self.rng.standard_normal(3)
        score = float(misfit(self.observed, simulate(proposal)))
        self.tried.append(score)
        if score < self.score:
            self.current, self.score = proposal, score


def measure(seed=5):
    clean = np.asarray(simulate(TRUE_LOG_K))
    rng = np.random.default_rng(seed)
    return jnp.asarray(clean * (1 + 0.01 * rng.standard_normal(clean.shape)))


def main(steps=160):
    observed = measure()
    search = Search(observed, TRUE_LOG_K + np.array([0.4, -0.5, 0.3]))
    t0 = time.perf_counter()
    for i in range(steps):
        search.step(width=0.3 / (1 + i / 20))
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {search.score:.4f} {np.mean(search.tried):.4f} {search.current[0]:.4f}")


if __name__ == "__main__":
    main()
