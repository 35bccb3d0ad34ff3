"""Gives a photograph the colors of a painting, by optimal transport between their pixels."""

import time

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

PHOTO, PAINTING, PAIRS = 900, 700, 6
ROUNDS = 60

solver = sinkhorn.Sinkhorn(min_iterations=ROUNDS, max_iterations=ROUNDS, inner_iterations=20, lse_mode=True)


@jax.jit
def transfer(photo, painting):
    """Each pixel of the photograph moves to the mean of the colors that it is matched with."""
    geometry = pointcloud.PointCloud(photo, painting, epsilon=0.005)
    plan = solver(linear_problem.LinearProblem(geometry))
    moved = plan.apply(painting.T, axis=1).T / plan.apply(jnp.ones((1, PAINTING)), axis=1).T
    return moved, plan.reg_ot_cost


@jax.jit
def make_pair(key):
    """A photograph in dull colors and a painting in a few bright ones."""
    photo_key, tube_key, choice_key, noise_key = jax.random.split(key, 4)
    photo = 0.5 + 0.12 * jax.random.normal(photo_key, (PHOTO, 3))
    tubes = jax.random.uniform(tube_key, (6, 3))
    choice = jax.random.randint(choice_key, (PAINTING,), 0, 6)
    return photo, tubes[choice] + 0.05 * jax.random.normal(noise_key, (PAINTING, 3))


def main():
    pairs = [make_pair(key) for key in jax.random.split(jax.random.key(3), PAIRS + 1)]
    jax.block_until_ready(transfer(*pairs[0]))
    start = time.perf_counter()
    results = [transfer(photo, painting) for photo, painting in pairs[1:]]
    jax.block_until_ready(results)
    print(f"{PAIRS} steps in {time.perf_counter() - start:.4f} s")
    costs = jnp.stack([cost for _, cost in results])
    spreads = jnp.stack([moved.std() for moved, _ in results])
    print("checksum", float(costs.mean()), float(spreads.mean()))


if __name__ == "__main__":
    main()
