"""Kriging of ore grades from drill holes, with a search over the correlation range."""

import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

HOLES = 500
BLOCKS = 400
NUGGET = 0.05


def drill_holes(seed):
    rng = np.random.default_rng(seed)
    where = rng.uniform(0.0, 10.0, size=(HOLES, 3))
    grade = np.sin(where[:, 0]) + 0.5 * np.cos(0.7 * where[:, 1]) + 0.1 * where[:, 2]
    grade = grade + np.sqrt(NUGGET) * rng.normal(size=HOLES)
    blocks = rng.uniform(0.0, 10.0, size=(BLOCKS, 3))
    return where.astype(np.float32), (grade - grade.mean()).astype(np.float32), blocks.astype(np.float32)


def covariance(left, right, reach):
    square = jnp.sum(left**2, -1)[:, None] + jnp.sum(right**2, -1)[None, :] - 2.0 * left @ right.T
    distance = jnp.sqrt(jnp.maximum(square, 1e-12))
    scaled = jnp.sqrt(3.0) * distance / reach
    return (1.0 + scaled) * jnp.exp(-scaled)


def krige(where, grade, blocks, reach):
    """Estimates at the blocks and the fit of the model at the holes."""
    gram = covariance(where, where, reach) + NUGGET * jnp.eye(HOLES)
    operator = lx.MatrixLinearOperator(gram)
    solver = lx.AutoLinearSolver(well_posed=False)
    weights = lx.linear_solve(operator, grade, solver).value
    estimate = covariance(blocks, where, reach) @ weights
    misfit = jnp.vdot(grade, weights) / HOLES
    return estimate, misfit


class ReachSearch:
    def __init__(self, where, grade, blocks):
        self.data = (where, grade, blocks)
        self.krige = jax.jit(krige)

    def run(self, reaches):
        estimates, misfits = [], []
        for reach in reaches:
            estimate, misfit = self.krige(*self.data, reach)
            estimates.append(estimate)
            misfits.append(misfit)
        return jnp.stack(estimates), jnp.stack(misfits)


def main():
    where, grade, blocks = map(jnp.asarray, drill_holes(5))
    search = ReachSearch(where, grade, blocks)
    jax.block_until_ready(search.run(jnp.array([1.0])))

    reaches = jnp.linspace(0.5, 5.0, 16)
    start = time.perf_counter()
    estimates, misfits = jax.block_until_ready(search.run(reaches))
    print(f"{len(reaches)} steps in {time.perf_counter() - start:.3f} s")
    spread = float(jnp.std(estimates, axis=0).mean())
    print(f"checksum {float(misfits.mean()):.4f} {spread:.4f} {float(jnp.abs(estimates).mean()):.4f}")


if __name__ == "__main__":
    main()
