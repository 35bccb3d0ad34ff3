"""Filtered backprojection of a series of phantoms with mbirjax, after its quick start."""

import time

import mbirjax as mj
import jax
import jax.numpy as jnp
import numpy as np

SIZE, VIEWS, SLICES = 96, 96, 16


def phantom(shift):
    z, y, x = np.mgrid[-1 : 1 : SLICES * 1j, -1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    body = (y / 0.7) ** 2 + (x / 0.6) ** 2 < 1
    bones = ((y - 0.3) / 0.15) ** 2 + ((x + shift) / 0.2) ** 2 + (z / 0.9) ** 2 < 1
    volume = 0.3 * body + 0.5 * bones
    return jnp.asarray(volume.transpose(1, 2, 0), jnp.float32)


def main():
    angles = jnp.linspace(0, jnp.pi, VIEWS, endpoint=False)
    model = mj.ParallelBeamModel((VIEWS, SLICES, SIZE), angles)
    model.set_params(verbose=0)
    sinograms = [jax.device_put(model.forward_project(phantom(0.1 * tilt))) for tilt in range(6)]
    jax.block_until_ready(model.direct_recon(sinograms[0]))
    start = time.perf_counter()
    recons = [model.direct_recon(sinogram) for sinogram in sinograms]
    jax.block_until_ready(recons)
    print(f"{len(recons)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(recons[-1].mean()), float(recons[-1].std()))


if __name__ == "__main__":
    main()
