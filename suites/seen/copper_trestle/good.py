"""Calibrating the rate constants of an autocatalytic reaction by importance sampling."""
import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np


def kinetics(t, y, args):
    k1, k2, k3 = args
    a, b, c = y
    slow = k1 * a
    back = k3 * b * c
    fast = k2 * b**2
    return jnp.stack([-slow + back, slow - back - fast, fast])


class Reactor:
    """Integrates the species A, B, C and reads them at the sampling times."""

    def __init__(self, times, y0, rtol=1e-5, atol=1e-7):
        self.times = times
        self.y0 = y0
        self.term = diffrax.ODETerm(kinetics)
        self.solver = diffrax.Kvaerno5()
        self.controller = diffrax.PIDController(rtol=rtol, atol=atol)

    def simulate(self, rates):
        sol = diffrax.diffeqsolve(
            self.term,
            self.solver,
            t0=self.times[0],
            t1=self.times[-1],
            dt0=1e-4,
            y0=self.y0,
            args=rates,
            saveat=diffrax.SaveAt(ts=self.times),
            stepsize_controller=self.controller,
            max_steps=200_000,
        )
        return sol.ys


def mismatch(reactor, rates, observed, scale):
    ys = reactor.simulate(rates)
    return jnp.mean(((ys - observed) * scale) ** 2)


def propose(key, log_rates, width):
    return log_rates + width * jax.random.normal(key, log_rates.shape)


def main():
    times = jnp.linspace(0.0, 100.0, 41)
    y0 = jnp.array([1.0, 0.0, 0.0])
    reactor = Reactor(times, y0)
    true_rates = jnp.array([0.04, 1.0e7, 6.0e3])
    scale = jnp.array([1.0, 1.0e4, 1.0])
    simulate = jax.jit(reactor.simulate)
    observed = simulate(true_rates)

    @jax.jit
    def score(log_rates):
        return mismatch(reactor, jnp.exp(log_rates), observed, scale)

    key = jax.random.PRNGKey(11)
    centre = jnp.log(jnp.array([0.05, 8.0e6, 5.0e3]))
    jax.block_until_ready(score(centre))
    n_steps = 60
    candidates, losses = [], []
    t0 = time.perf_counter()
    for step in range(n_steps):
        candidate = propose(jax.random.fold_in(key, step), centre, 0.15)
        losses.append(float(score(candidate)))
        candidates.append(candidate)
    t = time.perf_counter() - t0
    losses = np.asarray(losses)
    weights = np.exp(-losses / losses.mean())
    estimate = (weights[:, None] * np.asarray(candidates)).sum(0) / weights.sum()
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {1e4 * losses.mean():.4f} {estimate.sum():.5f}")


if __name__ == "__main__":
    main()
