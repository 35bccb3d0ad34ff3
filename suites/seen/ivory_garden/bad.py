"""Displacement scores of rainfall forecasts: entropic transport between forecast and radar maps.

Every hour the forecast field and the observed field are normalised to unit mass and compared
with a Sinkhorn divergence-like score on the unit square.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

STEPS = 80
CELLS = 32
EPSILON = 0.01
ITERATIONS = 60


def map_geometry():
    """Cells of the radar map, row by row."""
    axis = jnp.linspace(0.0, 1.0, CELLS)
    rows, cols = jnp.meshgrid(axis, axis, indexing="ij")
    points = jnp.stack([rows.ravel(), cols.ravel()], axis=-1)
    return pointcloud.PointCloud(points, epsilon=EPSILON)


def make_storms(hours, seed=4):
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, CELLS)
    rows, cols = np.meshgrid(axis, axis, indexing="ij")

    def field(centres, sizes, rates):
        total = np.zeros((CELLS, CELLS))
        for (r, c), size, rate in zip(centres, sizes, rates):
            total += rate * np.exp(-((rows - r) ** 2 + (cols - c) ** 2) / (2 * size**2))
        return total + 1e-3

    forecast, observed = [], []
    centres = rng.uniform(0.2, 0.8, size=(3, 2))
    drift = rng.normal(scale=0.02, size=(3, 2))
    for _ in range(hours):
        centres = np.clip(centres + drift, 0.05, 0.95)
        sizes = rng.uniform(0.05, 0.12, size=3)
        rates = rng.uniform(0.5, 2.0, size=3)
        observed.append(field(centres, sizes, rates))
        shifted = centres + rng.normal(scale=0.05, size=(3, 2))
        forecast.append(field(shifted, 1.1 * sizes, rates))
    return jnp.asarray(forecast, jnp.float32), jnp.asarray(observed, jnp.float32)


def normalise(field):
    flat = field.ravel()
    return flat / jnp.sum(flat)


@jax.jit
def displacement(forecast, observed):
    geom = map_geometry()
    problem = linear_problem.LinearProblem(geom, normalise(forecast), normalise(observed))
    solver = sinkhorn.Sinkhorn(
        threshold=0.0, min_iterations=ITERATIONS, max_iterations=ITERATIONS
    )
    out = solver(problem)
    error = jnp.sum(jnp.abs(out.marginal(1) - problem.b))
    return out.reg_ot_cost, error


def main():
    forecast, observed = make_storms(STEPS + 1)

    jax.block_until_ready(displacement(forecast[0], observed[0]))

    start = time.perf_counter()
    scores, errors = [], []
    for hour in range(1, STEPS + 1):
        score, error = displacement(forecast[hour], observed[hour])
        scores.append(score)
        errors.append(error)
    jax.block_until_ready((scores, errors))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    scores = np.asarray(jax.device_get(scores))
    print(f"checksum {scores.mean():.5f} {scores.max():.5f} {scores.min():.5f}")


if __name__ == "__main__":
    main()
