"""Matches point clouds of successive frames by entropic optimal transport (ott-jax)."""

import time

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

POINTS, DIMS = 512, 3
solver = sinkhorn.Sinkhorn(lse_mode=False, threshold=1e-3, max_iterations=400)


@jax.jit
def match(before, after):
    """The expected displacement of every point, and the cost."""
    geom = pointcloud.PointCloud(before, after, epsilon=0.05)
    plan = solver(linear_problem.LinearProblem(geom))
    moved = POINTS * plan.apply(after.T, axis=1).T
    return moved - before, plan.reg_ot_cost


def frames(count):
    key = jax.random.key(0)
    points = jax.random.uniform(key, (POINTS, DIMS))
    out = [points]
    for sub in jax.random.split(key, count - 1):
        swirl = jnp.stack([-(points[:, 1] - 0.5), points[:, 0] - 0.5, 0 * points[:, 2]], 1)
        points = points + 0.1 * swirl + 0.005 * jax.random.normal(sub, points.shape)
        out.append(points)
    return out


def main():
    cloud = frames(41)
    jax.block_until_ready(match(cloud[0], cloud[1]))
    start = time.perf_counter()
    found = [match(before, after) for before, after in zip(cloud, cloud[1:])]
    jax.block_until_ready(found)
    print(f"{len(found)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(sum(cost for _, cost in found)), float(jnp.abs(found[-1][0]).mean()))


if __name__ == "__main__":
    main()
