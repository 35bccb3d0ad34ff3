"""Lets a cloud of particles flow into a target shape along entropic transport maps, with OTT."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

PARTICLES, EPSILON = 400, 0.02


def spiral(rng, n):
    t = np.sqrt(rng.uniform(0.05, 1.0, n)) * 3.0 * np.pi
    arm = np.stack([t * np.cos(t), t * np.sin(t)], -1) / (3.0 * np.pi)
    return (arm + 0.02 * rng.standard_normal((n, 2))).astype(np.float32)


def blob(rng, n):
    return (np.array([1.2, -0.6]) + 0.25 * rng.standard_normal((n, 2))).astype(np.float32)


class Flow:
    """Explicit Euler steps towards the barycentric image of each particle."""

    def __init__(self, target, rate):
        self.target = jnp.asarray(target)
        self.rate = rate
        self.solver = sinkhorn.Sinkhorn(threshold=1e-3, max_iterations=3000)

    @partial(jax.jit, static_argnums=0)
    def step(self, cloud):
        geom = pointcloud.PointCloud(cloud, self.target, epsilon=EPSILON)
        out = self.solver(linear_problem.LinearProblem(geom))
        plan = out.matrix
        image = plan @ self.target / jnp.sum(plan, axis=1, keepdims=True)
        moved = cloud + self.rate * (image - cloud)
        stats = {
            "cost": jnp.sum(plan * geom.cost_matrix),
            "converged": out.converged,
            "speed": jnp.mean(jnp.linalg.norm(image - cloud, axis=1)),
        }
        return moved, stats

    def run(self, cloud, steps):
        history = []
        for _ in range(steps):
            cloud, stats = self.step(cloud)
            history.append(stats)
        return cloud, jax.tree.map(lambda *v: np.asarray(jnp.stack(v)), *history)


def summary(cloud):
    centred = cloud - cloud.mean(0)
    return float(jnp.sqrt(jnp.mean(centred ** 2)))


def main(steps=42):
    rng = np.random.default_rng(0)
    target, start = spiral(rng, PARTICLES), jnp.asarray(blob(rng, PARTICLES))
    flow = Flow(target, rate=0.02)
    flow.run(start, 1)
    t0 = time.perf_counter()
    cloud, history = flow.run(start, steps)
    jax.block_until_ready(cloud)
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {history['cost'].mean():.4f} {history['speed'][-1]:.4f} {summary(cloud):.4f} {int(history['converged'].sum())}")


if __name__ == "__main__":
    main()
