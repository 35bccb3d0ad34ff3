"""How far did the rain move?  Optimal transport between daily rain maps on a grid."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

SIDE = 40
EPSILON = 0.02


def rain_map(rng):
    """Three showers and a little drizzle, normed to one."""
    rows, cols = np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 1, SIDE), indexing="ij")
    field = np.full((SIDE, SIDE), 1e-3)
    for _ in range(3):
        row, col = rng.uniform(0.15, 0.85, size=2)
        width = rng.uniform(0.05, 0.15)
        field += rng.uniform(0.5, 1.5) * np.exp(-((rows - row) ** 2 + (cols - col) ** 2) / (2 * width**2))
    return (field / field.sum()).astype(np.float32).ravel()


def cell_centres():
    axis = jnp.linspace(0.0, 1.0, SIDE)
    rows, cols = jnp.meshgrid(axis, axis, indexing="ij")
    return jnp.stack([rows.ravel(), cols.ravel()], axis=-1)


class RainTransport:
    def __init__(self):
        centres = cell_centres()
        self.geometry = pointcloud.PointCloud(centres, centres, epsilon=EPSILON)
        self.solver = sinkhorn.Sinkhorn(threshold=1e-3, max_iterations=60, inner_iterations=10)
        self.solve = jax.jit(self._solve)

    def _solve(self, geometry, today, tomorrow):
        problem = linear_problem.LinearProblem(geometry, today, tomorrow)
        return self.solver(problem).reg_ot_cost

    def distance(self, today, tomorrow):
        return self.solve(self.geometry, today, tomorrow)


def summarise(costs):
    costs = jnp.stack(costs)
    return float(costs.mean()), float(costs.max())


def main():
    rng = np.random.default_rng(11)
    days = [jnp.asarray(rain_map(rng)) for _ in range(8)]
    transport = RainTransport()
    jax.block_until_ready(transport.distance(days[0], days[1]))

    start = time.perf_counter()
    costs = []
    for today, tomorrow in zip(days[:-1], days[1:]):
        costs.append(transport.distance(today, tomorrow))
    mean, most = summarise(costs)
    print(f"{len(costs)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {mean:.5f} {most:.5f}")


if __name__ == "__main__":
    main()
