"""Follows swarms of changing size from frame to frame by optimal transport (ott-jax)."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.solvers import linear


@jax.jit
def cost(before, after):
    geometry = pointcloud.PointCloud(before, after, epsilon=0.05)
    return linear.solve(geometry, threshold=1e-3, max_iterations=300).reg_ot_cost


def frames(count):
    rng = np.random.default_rng(2)
    center = np.zeros(2)
    for _ in range(count):
        center = center + rng.normal(scale=0.1, size=2)
        yield (center + rng.normal(size=(rng.integers(90, 160), 2))).astype(np.float32)


def main():
    swarm = list(frames(13))
    cost(swarm[0], swarm[1]).block_until_ready()
    start = time.perf_counter()
    costs = [float(cost(before, after)) for before, after in zip(swarm[1:], swarm[2:])]
    print(f"{len(costs)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(np.sum(costs)), float(jnp.max(jnp.array(costs))))


if __name__ == "__main__":
    main()
