"""Sharpens muon radiographs: regularised least squares by conjugate gradients, matrix-free."""

import time

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np

SIDE = 192
WEIGHT = 2e-3
SHOTS = 8


def radiograph(seed):
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    image = np.zeros((SIDE, SIDE))
    for _ in range(8):
        row, col = rng.uniform(0.1, 0.8, 2)
        high, wide = rng.uniform(0.05, 0.2, 2)
        image += (np.abs(rows - row) < high) * (np.abs(cols - col) < wide) * rng.uniform(0.2, 1.0)
    return image.astype(np.float32)


def transfer_function(width):
    """Spectrum of a Gaussian blur on the periodic image."""
    k_row = jnp.fft.fftfreq(SIDE)[:, None] * SIDE
    k_col = jnp.fft.rfftfreq(SIDE)[None, :] * SIDE
    return jnp.exp(-2.0 * (jnp.pi * width / SIDE) ** 2 * (k_row**2 + k_col**2))


def blur(image, transfer):
    return jnp.fft.irfft2(jnp.fft.rfft2(image) * transfer, s=image.shape)


@jax.jit
def deblur(observed, transfer, trust):
    """Minimises the trusted misfit plus the roughness of the image."""

    def normal(image):
        back = blur(trust * blur(image, transfer), transfer)
        rough = 4.0 * image
        for axis in (0, 1):
            rough = rough - jnp.roll(image, 1, axis) - jnp.roll(image, -1, axis)
        return back + WEIGHT * rough + 1e-4 * image

    structure = jax.ShapeDtypeStruct(observed.shape, observed.dtype)
    operator = lx.FunctionLinearOperator(normal, structure, lx.positive_semidefinite_tag)
    right = blur(trust * observed, transfer)
    solver = lx.CG(rtol=1e-3, atol=1e-4, max_steps=100)
    return lx.linear_solve(operator, right, solver, throw=False).value


def main():
    transfer = transfer_function(3.0)
    keys = jax.random.split(jax.random.key(0), SHOTS + 1)
    truths = [jnp.asarray(radiograph(seed)) for seed in range(SHOTS + 1)]
    trust = (jax.random.uniform(jax.random.key(5), (SIDE, SIDE)) > 0.1).astype(jnp.float32)
    shots = [blur(truth, transfer) + 0.01 * jax.random.normal(key, truth.shape) for truth, key in zip(truths, keys)]
    deblur(shots[0], transfer, trust).block_until_ready()

    start = time.perf_counter()
    sharp = [deblur(shot, transfer, trust) for shot in shots[1:]]
    jax.block_until_ready(sharp)
    print(f"{len(sharp)} steps in {time.perf_counter() - start:.3f} s")
    error = jnp.stack([jnp.abs(a - b).mean() for a, b in zip(sharp, truths[1:])])
    print(f"checksum {float(error.mean()):.4f} {float(sharp[0].max()):.3f}")


if __name__ == "__main__":
    main()
