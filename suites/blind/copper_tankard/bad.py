"""Transport distance between successive rain maps, for a storm-tracking index."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import grid, pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

SIZE = 32
N_FRAMES = 56
EPSILON = 0.01


def synth_storm(rng, n_frames, size):
    axis = np.linspace(0.0, 1.0, size)
    xx, yy = np.meshgrid(axis, axis, indexing="ij")
    centre = rng.uniform(0.3, 0.7, size=(3, 2))
    velocity = rng.normal(scale=0.01, size=(3, 2))
    width = rng.uniform(0.05, 0.12, size=3)
    frames = []
    for _ in range(n_frames):
        rain = np.full((size, size), 0.05)
        for c, w in zip(centre, width):
            rain += np.exp(-((xx - c[0]) ** 2 + (yy - c[1]) ** 2) / (2 * w**2))
        centre = np.clip(centre + velocity, 0.05, 0.95)
        velocity = velocity + rng.normal(scale=0.003, size=velocity.shape)
        frames.append((rain / rain.sum()).astype(np.float32))
    return frames


def make_geometry(size, epsilon):
    axis = jnp.linspace(0.0, 1.0, size)
    xx, yy = jnp.meshgrid(axis, axis, indexing="ij")
    pixels = jnp.stack([xx.ravel(), yy.ravel()], axis=-1)
    return pointcloud.PointCloud(pixels, epsilon=epsilon)


class StormTracker:
    def __init__(self, size, epsilon):
        self.geom = make_geometry(size, epsilon)
        self.solver = sinkhorn.Sinkhorn(threshold=1e-3, max_iterations=500)
        self.compare = jax.jit(self._compare)

    def _compare(self, geom, before, after):
        problem = linear_problem.LinearProblem(geom, a=before.ravel(), b=after.ravel())
        out = self.solver(problem)
        drift = jnp.max(out.f) - jnp.min(out.f)
        return out.reg_ot_cost, drift, out.n_iters

    def track(self, frames):
        index = []
        for before, after in zip(frames[:-1], frames[1:]):
            index.append(self.compare(self.geom, before, after))
        return index


def main():
    rng = np.random.default_rng(3)
    frames = synth_storm(rng, N_FRAMES, SIZE)
    tracker = StormTracker(SIZE, EPSILON)
    jax.block_until_ready(tracker.track(frames[:2]))

    start = time.perf_counter()
    index = jax.block_until_ready(tracker.track(frames))
    elapsed = time.perf_counter() - start

    cost = sum(float(c) for c, _, _ in index)
    drift = sum(float(d) for _, d, _ in index)
    print(f"{len(index)} steps in {elapsed:.3f} s")
    print(f"checksum {cost:.6f} {drift:.6f}")


if __name__ == "__main__":
    main()
