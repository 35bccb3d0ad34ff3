"""Color transfer between images by entropic optimal transport (ott-jax).

Pixels of a source and of a target picture are sampled; the transport plan of
the samples maps each source color to a barycenter of target colors.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

SAMPLES = 768
EPSILON = 0.02


def picture(seed, tint):
    """A synthetic picture: smooth color fields plus grain."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:96, 0:96] / 96.0
    waves = [np.sin(2 * np.pi * (rng.uniform(0.5, 2) * xx + rng.uniform(0.5, 2) * yy)) for _ in range(3)]
    rgb = 0.5 + 0.3 * np.stack(waves, -1) * tint + 0.05 * rng.normal(size=(96, 96, 3))
    return np.clip(rgb, 0, 1).astype(np.float32)


def sample_pixels(image, rng):
    flat = image.reshape(-1, 3)
    return flat[rng.choice(len(flat), SAMPLES, replace=False)]


solver = sinkhorn.Sinkhorn(threshold=1e-4, max_iterations=400)


@jax.jit
def transfer(source, target):
    geom = pointcloud.PointCloud(source, target, epsilon=EPSILON)
    plan = solver(linear_problem.LinearProblem(geom))
    moved = plan.apply(target.T, axis=1).T * SAMPLES
    return moved, plan.reg_ot_cost


def main():
    rng = np.random.default_rng(5)
    pairs = []
    for i in range(9):
        source = sample_pixels(picture(i, np.array([1.0, 0.4, 0.2])), rng)
        target = sample_pixels(picture(100 + i, np.array([0.2, 0.5, 1.0])), rng)
        pairs.append((jnp.asarray(source), jnp.asarray(target)))
    jax.block_until_ready(transfer(*pairs[0]))
    steps = len(pairs) - 1
    start = time.perf_counter()
    results = [transfer(*pair) for pair in pairs[1:]]
    jax.block_until_ready(results)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    total = sum(float(cost) for _, cost in results)
    print("checksum", total, float(results[-1][0].mean()))


if __name__ == "__main__":
    main()
