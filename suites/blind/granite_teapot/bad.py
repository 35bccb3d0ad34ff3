"""Robust tomographic reconstruction of a stack of slices by preconditioned descent."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZE = 26
N_ANGLES = 30
N_BINS = 36
N_SLICES = 96
N_STEPS = 280


def projection_matrix(size, n_angles, n_bins):
    """Strip-sampled parallel-beam projector as a dense (rays, pixels) matrix."""
    axis = (np.arange(size) + 0.5) / size - 0.5
    xx, yy = np.meshgrid(axis, axis, indexing="ij")
    rows = []
    for angle in np.linspace(0.0, np.pi, n_angles, endpoint=False):
        offset = xx.ravel() * np.cos(angle) + yy.ravel() * np.sin(angle)
        position = (offset / 1.5 + 0.5) * (n_bins - 1)
        bins = np.arange(n_bins)[:, None]
        rows.append(np.clip(1.0 - np.abs(position[None] - bins), 0.0, None))
    return np.concatenate(rows).astype(np.float32) / size


def phantom_stack(rng, size, n_slices):
    axis = np.linspace(-1.0, 1.0, size)
    xx, yy = np.meshgrid(axis, axis, indexing="ij")
    slices = []
    for z in np.linspace(0.0, 1.0, n_slices):
        body = (xx**2 + (yy * 1.3) ** 2 < 0.8).astype(np.float32)
        hole = ((xx - 0.3 * np.cos(6 * z)) ** 2 + (yy - 0.3 * np.sin(6 * z)) ** 2 < 0.05)
        slices.append(body - 0.6 * hole)
    return np.stack([s.ravel() for s in slices], axis=1).astype(np.float32)


class Reconstructor:
    def __init__(self, projector):
        self.projector = jnp.asarray(projector)
        self.scale = 1.0 / (jnp.sum(self.projector, axis=0) + 1e-3)
        self.optimizer = optax.chain(
            optax.trace(decay=0.8, nesterov=True), optax.scale(-0.4)
        )
        self.step = jax.jit(self._step)

    def ray_weights(self, residual):
        spread = jnp.sqrt(jnp.mean(residual**2, axis=1)) + 1e-4
        return 1.0 / (1.0 + spread / jnp.mean(spread)) / (jnp.sum(self.projector, axis=1) + 1e-2)

    def _step(self, projector, volume, state, weights, sinogram):
        weighted = projector.T * weights
        gradient = weighted @ projector @ volume - weighted @ sinogram
        gradient = self.scale[:, None] * gradient
        updates, state = self.optimizer.update(gradient, state)
        volume = jnp.maximum(optax.apply_updates(volume, updates), 0.0)
        residual = projector @ volume - sinogram
        return volume, state, self.ray_weights(residual), jnp.mean(residual**2)

    def run(self, sinogram, n_steps):
        volume = jnp.zeros((self.projector.shape[1], sinogram.shape[1]))
        state = self.optimizer.init(volume)
        weights = self.ray_weights(sinogram)
        history = []
        for _ in range(n_steps):
            volume, state, weights, error = self.step(
                self.projector, volume, state, weights, sinogram
            )
            history.append(error)
        return volume, jnp.stack(history)


def main():
    rng = np.random.default_rng(23)
    projector = projection_matrix(SIZE, N_ANGLES, N_BINS)
    truth = phantom_stack(rng, SIZE, N_SLICES)
    sinogram = projector @ truth
    sinogram = jnp.asarray(sinogram + 0.01 * rng.standard_t(3, size=sinogram.shape), jnp.float32)
    reconstructor = Reconstructor(projector)
    jax.block_until_ready(reconstructor.run(sinogram, 2))

    start = time.perf_counter()
    volume, history = jax.block_until_ready(reconstructor.run(sinogram, N_STEPS))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {1000 * float(jnp.sum(history)):.4f} {float(jnp.linalg.norm(volume)):.4f}")


if __name__ == "__main__":
    main()
