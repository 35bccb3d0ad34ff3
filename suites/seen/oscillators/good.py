"""Limit cycles of van der Pol oscillators over a sweep of the damping.

A population of oscillators, each with its own damping, is integrated from
random starts; the mean energy of the last state is reported per sweep.
"""

import time

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

POPULATION = 4096
HORIZON = 6.0
GROUPS = 16


def draw_population(seed):
    """Damping is heavy-tailed: most units are mild, a few are strongly damped."""
    rng = np.random.default_rng(seed)
    damping = np.clip(rng.pareto(1.2, POPULATION) * 0.5, 0.1, 60.0)
    start = rng.uniform(-2.0, 2.0, (POPULATION, 2))
    return damping.astype(np.float32), start.astype(np.float32)


def vector_field(t, y, mu):
    x, v = y[..., 0], y[..., 1]
    return jnp.stack([v, mu * (1.0 - x**2) * v - x], axis=-1)


def settle(mu, y0):
    sol = diffrax.diffeqsolve(
        diffrax.ODETerm(vector_field),
        diffrax.Tsit5(),
        t0=0.0,
        t1=HORIZON,
        dt0=0.01,
        y0=y0,
        args=mu,
        saveat=diffrax.SaveAt(t1=True),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6),
        max_steps=None,
    )
    return sol.ys[0]


@jax.jit
def sweep(mu, y0):
    order = jnp.argsort(mu)
    mu = mu[order].reshape(GROUPS, -1)
    y0 = y0[order].reshape(GROUPS, -1, 2)
    final = jax.lax.map(lambda group: jax.vmap(settle)(*group), (mu, y0))
    return jnp.zeros((POPULATION, 2)).at[order].set(final.reshape(-1, 2))


def energy(final):
    return 0.5 * (final**2).sum(-1)


def main():
    populations = [draw_population(seed) for seed in range(20)]
    sweep(*populations[0]).block_until_ready()
    steps = len(populations)
    means = []
    start = time.perf_counter()
    for mu, y0 in populations:
        means.append(energy(sweep(mu, y0)).mean())
    jax.block_until_ready(means)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.mean(jnp.stack(means))))


if __name__ == "__main__":
    main()
