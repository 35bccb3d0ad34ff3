"""Fluorescence lifetimes of dye samples, fitted with optimistix.

Every sample is one decay curve; amplitude, lifetime and background are found by
Levenberg-Marquardt and collected in a table.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optimistix as optx

CHANNELS = 512
CLOCK = np.linspace(0.0, 25.0, CHANNELS, dtype=np.float32)


def measured_curve(seed):
    rng = np.random.default_rng(seed)
    amplitude, lifetime, background = rng.uniform([400, 2, 5], [900, 6, 20])
    counts = rng.poisson(amplitude * np.exp(-CLOCK / lifetime) + background)
    return counts.astype(np.float32)


def decay(params, clock):
    amplitude, lifetime, background = jnp.exp(params)
    return amplitude * jnp.exp(-clock / lifetime) + background


def starting_point(counts):
    background = counts[-50:].mean()
    amplitude = max(counts[:10].mean() - background, 1.0)
    return jnp.log(jnp.array([amplitude, 3.0, background]))


solver = optx.LevenbergMarquardt(rtol=1e-4, atol=1e-4)


def fit(counts):
    """Logarithms of amplitude, lifetime and background of one curve."""
    sigma = np.sqrt(np.maximum(counts, 1.0))

    def residuals(params, args):
        return (decay(params, CLOCK) - counts) / sigma

    solution = optx.least_squares(residuals, solver, starting_point(counts), max_steps=64, throw=False)
    return solution.value


def main():
    curves = [measured_curve(seed) for seed in range(6)]
    fit(curves[0]).block_until_ready()
    table = []
    start = time.perf_counter()
    for counts in curves[1:]:
        table.append(fit(counts))
    jax.block_until_ready(table)
    print(f"{len(table)} steps in {time.perf_counter() - start:.4f} s")
    table = jnp.exp(jnp.stack(table))
    print("checksum", *(float(column) for column in table.mean(0)))


if __name__ == "__main__":
    main()
