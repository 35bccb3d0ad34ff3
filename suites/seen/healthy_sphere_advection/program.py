"""Diffusion and transport of a tracer over the panels of a cubed sphere.

Each panel has n by n cells; fluxes are upwind, fields are float32, and a scan
runs many time steps in one call.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from panels import pad_panels

CELLS, INNER = 96, 50
COURANT, DIFFUSION = 0.2, 0.1


def winds():
    """Courant numbers along the two axes of every panel, at cell centers."""
    axis = (np.arange(CELLS) + 0.5) / CELLS - 0.5
    y, x = np.meshgrid(axis, axis, indexing="ij")
    u = COURANT * np.stack([np.cos(np.pi * y)] * 4 + [-2 * y, 2 * y])
    v = COURANT * np.stack([0 * x] * 4 + [2 * x, -2 * x])
    return jnp.asarray(u, jnp.float32), jnp.asarray(v, jnp.float32)


def tendency(q, u, v):
    padded = pad_panels(q)
    west, east = padded[:, 1:-1, :-2], padded[:, 1:-1, 2:]
    south, north = padded[:, :-2, 1:-1], padded[:, 2:, 1:-1]
    along_x = jnp.where(u > 0, u * (q - west), u * (east - q))
    along_y = jnp.where(v > 0, v * (q - south), v * (north - q))
    smoothing = DIFFUSION * (west + east + south + north - 4 * q)
    return smoothing - along_x - along_y


@jax.jit
def advance(q, u, v):
    def heun(q, _):
        first = tendency(q, u, v)
        second = tendency(q + first, u, v)
        return q + 0.5 * (first + second), None

    q, _ = jax.lax.scan(heun, q, length=INNER)
    return q, q.mean(axis=(1, 2))


def main():
    u, v = winds()
    grid = (np.arange(CELLS) + 0.5) / CELLS - 0.5
    blob = np.exp(-40 * (grid[:, None] ** 2 + grid[None] ** 2))
    q = jnp.asarray(np.stack([blob, 0 * blob, blob, 0 * blob, 0.5 * blob, 0 * blob]), jnp.float32)
    q, mass = advance(q, u, v)
    mass.block_until_ready()
    steps = 20
    start = time.perf_counter()
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("advance", step_num=i):
            q, mass = advance(q, u, v)
            mass.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(mass.sum()), float((q**2).mean()))


if __name__ == "__main__":
    main()
