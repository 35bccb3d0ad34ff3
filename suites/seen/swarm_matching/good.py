"""Follows swarms of changing size from frame to frame by optimal transport (ott-jax)."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.solvers import linear


MOST = 160


@jax.jit
def padded_cost(before, after, a, b):
    geometry = pointcloud.PointCloud(before, after, epsilon=0.05)
    return linear.solve(geometry, a=a, b=b, threshold=1e-3, max_iterations=300).reg_ot_cost


def padded(points):
    """The points with others that weigh nothing, so that there are always as many."""
    missing = MOST - len(points)
    weights = np.r_[np.full(len(points), 1 / len(points)), np.zeros(missing)].astype(np.float32)
    return np.r_[points, np.repeat(points[:1], missing, axis=0)], weights


def cost(before, after):
    (x, a), (y, b) = padded(before), padded(after)
    return padded_cost(x, y, a, b)


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
