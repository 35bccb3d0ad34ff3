"""Locates heat sources in a plate from sparse thermometers (Tikhonov, jaxopt).

The forward operator maps source strengths on a grid to readings; each day's
readings are inverted by a few conjugate gradient iterations, which regularize too.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from jaxopt import linear_solve

CELLS, READINGS, DAYS = 900, 600, 100
RIDGE = 1e-2


def forward_operator(seed=0):
    """Green's function of a plate between cells and thermometers."""
    rng = np.random.default_rng(seed)
    cells = rng.uniform(0, 1, (CELLS, 2))
    probes = rng.uniform(0, 1, (READINGS, 2))
    gap = np.linalg.norm(probes[:, None] - cells[None], axis=-1)
    return np.exp(-gap / 0.15).astype(np.float32) / np.sqrt(CELLS)


def daily_readings(operator, seed):
    rng = np.random.default_rng(seed)
    strength = (rng.random(CELLS) < 0.03) * rng.uniform(1, 5, CELLS)
    clean = operator @ strength
    return (clean + 0.01 * rng.normal(size=READINGS)).astype(np.float32)


@jax.jit
def invert(operator, weights, readings):
    """Weighted least squares; the weights are the probes' trust on that day."""
    scaled = weights[:, None] * operator

    def normal(x):
        return scaled.T @ (scaled @ x) + RIDGE * x

    rhs = scaled.T @ (weights * readings)
    return linear_solve.solve_cg(normal, rhs, maxiter=8, tol=0.0)


def main():
    operator = forward_operator()
    rng = np.random.default_rng(1)
    days = [daily_readings(operator, seed) for seed in range(DAYS)]
    trust = [np.asarray(rng.uniform(0.5, 1.0, READINGS), np.float32) for _ in days]
    operator = jnp.asarray(operator)
    invert(operator, trust[0], days[0]).block_until_ready()
    solutions = []
    start = time.perf_counter()
    for weights, readings in zip(trust, days):
        solutions.append(invert(operator, weights, readings))
    jax.block_until_ready(solutions)
    print(f"{len(solutions)} steps in {time.perf_counter() - start:.4f} s")
    stacked = jnp.stack(solutions)
    print("checksum", float(stacked.mean()), float(jnp.mean(stacked**2)))


if __name__ == "__main__":
    main()
