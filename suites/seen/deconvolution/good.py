"""Richardson-Lucy deconvolution of star fields, with a total-variation damping.

Frames come from the telescope's reduction as NumPy arrays; the point-spread
function is a Moffat profile measured on bright stars.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

SIZE, ITERATIONS, DAMPING = 512, 12, 2e-3


def moffat(size, width=2.5, power=2.8):
    y, x = np.mgrid[:size, :size] - size // 2
    profile = (1 + (x**2 + y**2) / width**2) ** -power
    return profile / profile.sum()


def frame(seed):
    rng = np.random.default_rng(seed)
    sky = np.full((SIZE, SIZE), 10.0)
    rows, columns = rng.integers(8, SIZE - 8, (2, 150))
    sky[rows, columns] += rng.pareto(1.5, 150) * 500
    transfer = np.fft.rfft2(np.fft.ifftshift(moffat(SIZE)))
    blurred = np.fft.irfft2(np.fft.rfft2(sky) * transfer, s=sky.shape)
    return rng.poisson(np.clip(blurred, 0, None)).astype(np.float32)


def blur(image, transfer):
    return jnp.fft.irfft2(jnp.fft.rfft2(image) * transfer, s=image.shape)


def curvature(image):
    """Divergence of the normalized gradient."""
    dy = jnp.roll(image, -1, 0) - image
    dx = jnp.roll(image, -1, 1) - image
    norm = jnp.sqrt(dy**2 + dx**2 + 1.0)
    dy, dx = dy / norm, dx / norm
    return dy - jnp.roll(dy, 1, 0) + dx - jnp.roll(dx, 1, 1)


@jax.jit
def restore(image, transfer):
    def body(_, estimate):
        ratio = image / jnp.maximum(blur(estimate, transfer), 1e-3)
        correction = blur(ratio, jnp.conj(transfer))
        return jnp.maximum(estimate * correction / (1 - DAMPING * curvature(estimate)), 0.0)

    return jax.lax.fori_loop(0, ITERATIONS, body, jnp.full_like(image, image.mean()))


def main():
    frames = [frame(seed) for seed in range(5)]
    transfer = jnp.fft.rfft2(np.fft.ifftshift(moffat(SIZE)))
    restore(jnp.asarray(frames[0]), transfer).block_until_ready()
    steps = 0
    flux = []
    start = time.perf_counter()
    for _ in range(2):
        for image in frames:
            restored = restore(jnp.asarray(image), transfer)
            flux.append(jnp.sum(restored**2))
            steps += 1
    jax.block_until_ready(flux)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.log(jnp.stack(flux)).mean()), float(restored.mean()))


if __name__ == "__main__":
    main()
