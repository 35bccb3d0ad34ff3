"""Gaussian-process surrogate of a noisy simulator, scored on streams of candidates.

The kernel was fitted beforehand; here the posterior mean and deviation of many
batches of candidate designs are found and the best designs by expected
improvement are kept (tinygp).
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from tinygp import GaussianProcess, kernels, transforms

TRAIN, CANDIDATES, DIMS = 1000, 128, 5
NOISE = 0.05


def simulator(design):
    return np.sin(3 * design[:, 0]) + design[:, 1] * design[:, 2] - np.cos(2 * design[:, 3])


def observations(seed):
    rng = np.random.default_rng(seed)
    design = rng.uniform(-1, 1, (TRAIN, DIMS))
    value = simulator(design) + NOISE * rng.normal(size=TRAIN)
    return design.astype(np.float32), value.astype(np.float32)


def build_gp(design):
    scales = jnp.array([0.6, 0.9, 0.9, 0.7, 1.5])
    kernel = 1.7 * transforms.Linear(1.0 / scales, kernels.Matern52(distance=kernels.distance.L2Distance()))
    return GaussianProcess(kernel, design, diag=NOISE**2)


@jax.jit
def factorize(design, value):
    gp = build_gp(design)
    chol = gp.solver.scale_tril
    alpha = jax.scipy.linalg.cho_solve((chol, True), value)
    return gp.kernel, chol, alpha


@jax.jit
def posterior(design, fitted, candidates):
    kernel, chol, alpha = fitted
    cross = kernel(design, candidates)
    half = jax.scipy.linalg.solve_triangular(chol, cross, lower=True)
    variance = jax.vmap(kernel.evaluate_diag)(candidates) - (half**2).sum(0)
    return cross.T @ alpha, jnp.sqrt(variance)


@jax.jit
def expected_improvement(mean, deviation, best):
    z = (best - mean) / deviation
    normal = jax.scipy.stats.norm
    return (best - mean) * normal.cdf(z) + deviation * normal.pdf(z)


def main():
    design, value = observations(0)
    rng = np.random.default_rng(1)
    batches = rng.uniform(-1, 1, (21, CANDIDATES, DIMS)).astype(np.float32)
    design, value, batches = jax.device_put((design, value, batches))
    best = value.min()
    fitted = factorize(design, value)
    mean, deviation = posterior(design, fitted, batches[0])
    jax.block_until_ready(expected_improvement(mean, deviation, best))
    steps = 20
    kept = []
    start = time.perf_counter()
    for i in range(1, steps + 1):
        with jax.profiler.StepTraceAnnotation("candidates", step_num=i):
            mean, deviation = posterior(design, fitted, batches[i])
            gain = expected_improvement(mean, deviation, best)
            kept.append(gain.max())
    jax.block_until_ready(kept)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(sum(kept)), float(mean.mean()), float(deviation.mean()))


if __name__ == "__main__":
    main()
