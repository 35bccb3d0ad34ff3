"""Cell detection: difference-of-Gaussians scale space on microscopy tiles."""
import time

import dm_pix as pix
import jax
import jax.numpy as jnp
import numpy as np

SIZE = 112
SIGMAS = (1.5, 2.1, 3.0, 4.2)


def microscope_tile(seed, n_cells=24):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    tile = 0.1 + 0.05 * np.sin(xx / 60.0 + seed)
    for _ in range(n_cells):
        y, x = rng.uniform(8, SIZE - 8, size=2)
        r = rng.uniform(2.0, 5.0)
        tile += rng.uniform(0.3, 0.8) * np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * r * r))
    tile += 0.03 * rng.normal(size=tile.shape)
    stain = rng.uniform(0.6, 1.0, size=3)
    return (tile[..., None] * stain).astype(np.float32)


class ScaleSpace:
    def __init__(self, sigmas, threshold=0.04):
        self.sigmas = sigmas
        self.threshold = threshold

    def levels(self, image):
        return jnp.stack([
            pix.gaussian_blur(image, sigma=s, kernel_size=2 * round(4.0 * s) + 1, padding="SAME")
            for s in self.sigmas
        ])

    def response(self, image):
        gray = pix.rgb_to_grayscale(image)
        levels = self.levels(gray)
        return jnp.abs(levels[:-1] - levels[1:])[..., 0]

    def detect(self, image):
        image = pix.adjust_contrast(image, factor=1.2)
        dog = self.response(image)
        peak = jax.lax.reduce_window(dog, -jnp.inf, jax.lax.max, (3, 5, 5), (1, 1, 1), "SAME")
        hits = (dog == peak) & (dog > self.threshold)
        return dog, jnp.sum(hits, axis=(1, 2))


def main():
    tiles = np.stack([microscope_tile(s) for s in range(3)])
    space = ScaleSpace(SIGMAS)
    detect = jax.jit(jax.vmap(space.detect))
    order = np.random.default_rng(1)
    jax.block_until_ready(detect(tiles))

    n_steps = 12
    strengths, counts = [], []
    start = time.perf_counter()
    for _ in range(n_steps):
        flips = tiles[order.permutation(len(tiles))][:, ::-1]
        dog, hits = detect(flips)
        strengths.append(jnp.mean(dog))
        counts.append(jnp.sum(hits))
    jax.block_until_ready((strengths, counts))
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"cells per tile {float(jnp.stack(counts).mean()) / len(tiles):.1f}")
    print(f"checksum {float(jnp.stack(strengths).sum()):.6f} {int(jnp.stack(counts).sum())}")


if __name__ == "__main__":
    main()
