"""A small reconstruction in parallel beam with MBIRJAX: filtered back projection, then gradient steps with a median filter after each.

The median of 27 neighbors is `mbirjax.median_filter3d` as it is; this program knows nothing of what may be put in its place, and only
says which array is its result.
Prints the error against the phantom, relative to it.

    python suites/programs/median_recon.py --size 32 --steps 3

Needs `pip install mbirjax`.
"""

from __future__ import annotations

import argparse

import mbirjax
import jax.numpy as jnp
import numpy as np

try:
    from ridgeline import result
except ImportError:  # not under Ridgeline

    def result(name: str, array: object) -> object:
        return array


def balls(size: int) -> np.ndarray:
    """A large ball with two in it: edges, and flat parts between them."""
    at = np.stack(np.meshgrid(*[np.linspace(-1, 1, size)] * 3, indexing="ij"), axis=-1)
    inside = lambda center, radius: np.linalg.norm(at - np.array(center), axis=-1) < radius  # noqa: E731
    return (inside((0, 0, 0), 0.8) + inside((0.3, 0, 0), 0.3) - 0.5 * inside((-0.3, 0.2, 0), 0.3)).astype(np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=32, help="voxels along each side")
    parser.add_argument("--steps", type=int, default=3, help="gradient steps, each with a median filter")
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation of the noise, as a part of the largest value")
    asked = parser.parse_args()

    angles = np.linspace(0, np.pi, asked.size, endpoint=False)
    model = mbirjax.ParallelBeamModel((asked.size, asked.size, asked.size), angles)
    model.set_params(recon_shape=(asked.size,) * 3, verbose=0)
    phantom = jnp.asarray(balls(asked.size))
    sinogram = jnp.asarray(model.forward_project(phantom))
    noise = np.random.default_rng(1).normal(size=sinogram.shape).astype(np.float32)
    sinogram = sinogram + asked.noise * jnp.max(sinogram) * noise

    # The step is one over the largest eigenvalue of the normal operator, by a few rounds of power iteration.
    vector = jnp.ones((asked.size,) * 3, jnp.float32)
    for _ in range(3):
        vector = vector / jnp.linalg.norm(vector)
        vector = model.back_project(model.forward_project(vector))
    step = 1.0 / jnp.linalg.norm(vector)

    volume = jnp.asarray(model.direct_recon(sinogram))
    for _ in range(asked.steps):
        volume = volume + step * model.back_project(sinogram - model.forward_project(volume))
        volume = mbirjax.median_filter3d(volume)
    result("volume", volume)
    error = jnp.linalg.norm(volume - phantom) / jnp.linalg.norm(phantom)
    print(f"{asked.size}^3, {asked.steps} steps: relative error {float(error):.4f}")


if __name__ == "__main__":
    main()
