"""Registers two microscope images with a warp of splines, by Gauss-Newton."""

import time

import jax
import jax.numpy as jnp
from jax.scipy.ndimage import map_coordinates

SIZE, KNOTS, ROUNDS = 28, 5, 16


def specimen(points, blobs):
    """Brightness of a specimen of round cells at these places."""
    away = points[:, None, :] - blobs[:, :2]
    return (blobs[:, 2] * jnp.exp(-jnp.square(away).sum(axis=-1) / 0.01)).sum(axis=1)


def pixel_places():
    side = jnp.linspace(0.05, 0.95, SIZE)
    return jnp.stack(jnp.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)


def displacement(params, places):
    """Moves every pixel by a sheet that hangs on a coarse grid of knots."""
    knots = params.reshape(2, KNOTS, KNOTS)
    at = (places * (KNOTS - 1)).T
    return jnp.stack([map_coordinates(sheet, list(at), order=1, mode="nearest") for sheet in knots], axis=-1)


def residuals(params, places, fixed, blobs):
    moved = places + displacement(params, places)
    brightness = specimen(moved, blobs)
    return jnp.concatenate([brightness - fixed, 0.05 * params])


@jax.jit
def gauss_newton(params, places, fixed, blobs):
    misfit = residuals(params, places, fixed, blobs)
    jacobian = jax.jacfwd(residuals)(params, places, fixed, blobs)
    normal = jacobian.T @ jacobian + 1e-3 * jnp.eye(params.size)
    step = jax.scipy.linalg.solve(normal, jacobian.T @ misfit, assume_a="pos")
    return params - step, jnp.square(misfit).sum()


def main():
    blob_key, warp_key = jax.random.split(jax.random.key(11))
    blobs = jax.random.uniform(blob_key, (60, 3))
    places = pixel_places()
    truth = 0.02 * jax.random.normal(warp_key, (2 * KNOTS * KNOTS,))
    fixed = specimen(places + displacement(truth, places), blobs)
    params = jnp.zeros(2 * KNOTS * KNOTS)
    gauss_newton(params, places, fixed, blobs)[1].block_until_ready()
    start = time.perf_counter()
    for _ in range(ROUNDS):
        params, misfit = gauss_newton(params, places, fixed, blobs)
    misfit.block_until_ready()
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(misfit), float(jnp.abs(params).sum()))


if __name__ == "__main__":
    main()
