"""Reconstructs phantoms by steepest descent with mbirjax's parallel-beam projector.

The step length is the best of a few multiples of a base length, judged by the
misfit in the sinogram.
"""

import time

import mbirjax as mj
import jax
import jax.numpy as jnp
import numpy as np

SIZE, VIEWS, SLICES = 48, 48, 2
LENGTHS = (0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)


def phantom(seed):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    image = np.zeros((SIZE, SIZE, SLICES), np.float32)
    for _ in range(6):
        cy, cx = rng.uniform(-0.5, 0.5, 2)
        ry, rx = rng.uniform(0.1, 0.35, 2)
        inside = ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 < 1
        image[inside] += rng.uniform(0.2, 1.0)
    return jnp.asarray(image)


def build_model():
    angles = jnp.linspace(0, jnp.pi, VIEWS, endpoint=False)
    model = mj.ParallelBeamModel((VIEWS, SLICES, SIZE), angles)
    model.set_params(verbose=0)
    return model


@jax.jit
def choose(recon, error, direction, change, base):
    steps = base * jnp.asarray(LENGTHS)
    errors = error + steps[:, None, None, None] * change
    values = jnp.sum(errors**2, axis=(1, 2, 3))
    best = jnp.argmin(values)
    return recon + steps[best] * direction, errors[best], values[best]


def descend(model, recon, error, base):
    """One iteration; gives the new reconstruction, its error in the sinogram and its misfit."""
    direction = -model.back_project(error)
    return choose(recon, error, direction, model.forward_project(direction), base)


def main():
    model = build_model()
    sinogram = model.forward_project(phantom(0))
    ones = jnp.ones((SIZE, SIZE, SLICES))
    base = 1.0 / jnp.max(model.back_project(model.forward_project(ones)))
    recon = jnp.zeros((SIZE, SIZE, SLICES))
    recon, error, value = descend(model, recon, -sinogram, base)
    steps = 24
    start = time.perf_counter()
    for _ in range(steps):
        recon, error, value = descend(model, recon, error, base)
    jax.block_until_ready(recon)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value), float(recon.mean()))


if __name__ == "__main__":
    main()
