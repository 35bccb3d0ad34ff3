"""Optimal transport between ink density maps with OTT-JAX.

A drop of ink spreads and drifts on a square sheet.  The density is known on a
regular pixel grid at several times; the regularised transport cost between
successive maps tells how far the ink has moved from one picture to the next.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np
from ott.geometry import grid
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

PIXELS = 40
FRAMES = 9
EPSILON = 5e-3
TIME_STEP = 0.1

AXIS = jnp.linspace(0.0, 1.0, PIXELS)


def make_frames(seed=0):
    """Density maps of three drifting, spreading blots; each one sums to one."""
    rng = np.random.default_rng(seed)
    yy, xx = np.meshgrid(np.asarray(AXIS), np.asarray(AXIS), indexing="ij")
    centres = rng.uniform(0.25, 0.45, (3, 2))
    velocity = rng.uniform(0.2, 0.6, (3, 2))
    amounts = rng.uniform(0.5, 1.5, 3)
    frames = []
    for k in range(FRAMES):
        t = TIME_STEP * k
        density = np.full((PIXELS, PIXELS), 1e-4)
        for (cy, cx), (vy, vx), amount in zip(centres, velocity, amounts):
            variance = 0.005 + 0.01 * t
            d2 = (yy - cy - vy * t) ** 2 + (xx - cx - vx * t) ** 2
            density += amount * np.exp(-d2 / (2 * variance)) / variance * 1e-3
        frames.append(density / density.sum())
    return jnp.asarray(np.stack(frames), jnp.float32)


def pixel_geometry():
    """Squared Euclidean costs between all pixels of the sheet."""
    return grid.Grid(x=[AXIS, AXIS], epsilon=EPSILON)


solver = sinkhorn.Sinkhorn(threshold=1e-3, max_iterations=1000)


@jax.jit
def transport(source, target):
    """Transport cost and number of Sinkhorn iterations between two maps."""
    problem = linear_problem.LinearProblem(
        pixel_geometry(), a=source.ravel(), b=target.ravel())
    output = solver(problem)
    return output.reg_ot_cost, output.n_iters


def centre_of_mass(frame):
    """Mean position of the ink in one map."""
    return np.array([(frame.sum(1) * AXIS).sum(), (frame.sum(0) * AXIS).sum()])


def report(frames, costs, iterations):
    """Table of the motion between successive frames."""
    lines = []
    for k, (cost, n) in enumerate(zip(costs, iterations)):
        shift = centre_of_mass(frames[k + 1]) - centre_of_mass(frames[k])
        lines.append(
            f"frame {k} -> {k + 1}: cost {cost:9.5f}  iterations {n:4d}"
            f"  shift ({shift[0]:+.3f}, {shift[1]:+.3f})"
        )
    return "\n".join(lines)


def main():
    frames = make_frames()

    # warm-up on the first frame against itself
    jax.block_until_ready(transport(frames[0], frames[0]))

    start = time.perf_counter()
    results = []
    for k in range(FRAMES - 1):
        results.append(transport(frames[k], frames[k + 1]))
    jax.block_until_ready(results)
    elapsed = time.perf_counter() - start

    costs = np.array([cost for cost, _ in results])
    iterations = np.array([n for _, n in results])
    print(report(frames, costs, iterations))
    print(f"{len(results)} steps in {elapsed:.2f} s")
    print(f"checksums {costs[0]:.5f} {costs[-1]:.5f} {costs.mean():.5f}")


if __name__ == "__main__":
    main()
