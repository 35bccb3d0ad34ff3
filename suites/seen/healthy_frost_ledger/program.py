"""Spectral solver of two-dimensional decaying turbulence."""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Spectral(NamedTuple):
    kx: jax.Array
    ky: jax.Array
    inv_k2: jax.Array
    decay: jax.Array
    keep: jax.Array


def build(n, dt, viscosity):
    kx = np.fft.fftfreq(n, 1.0 / n)[:, None]
    ky = np.fft.rfftfreq(n, 1.0 / n)[None, :]
    k2 = kx**2 + ky**2
    inv = np.where(k2 > 0, 1.0 / np.where(k2 > 0, k2, 1.0), 0.0)
    keep = (np.abs(kx) < n / 3) & (np.abs(ky) < n / 3)
    as_f32 = lambda a: jnp.asarray(a, jnp.float32)
    return Spectral(as_f32(kx), as_f32(ky), as_f32(inv), as_f32(np.exp(-viscosity * k2 * dt)), as_f32(keep))


def advection(sp, w_hat):
    psi_hat = w_hat * sp.inv_k2
    stacked = jnp.stack(
        [1j * sp.ky * psi_hat, -1j * sp.kx * psi_hat, 1j * sp.kx * w_hat, 1j * sp.ky * w_hat])
    u, v, wx, wy = jnp.fft.irfft2(stacked)
    return -jnp.fft.rfft2(u * wx + v * wy) * sp.keep


def heun(sp, w_hat, dt):
    k1 = advection(sp, w_hat)
    guess = (w_hat + dt * k1) * sp.decay
    k2 = advection(sp, guess)
    return (w_hat + 0.5 * dt * k1) * sp.decay + 0.5 * dt * k2


def make_advance(sp, dt, inner):
    @jax.jit
    def advance(w_hat):
        w_hat, _ = jax.lax.scan(lambda w, _: (heun(sp, w, dt), None), w_hat, None, length=inner)
        n = sp.kx.shape[0]
        weight = jnp.where((sp.ky == 0) | (sp.ky == n // 2), 1.0, 2.0)
        energy = 0.5 * jnp.sum(weight * jnp.abs(w_hat) ** 2 * sp.inv_k2) / n**4
        return w_hat, energy

    return advance


def initial(n, seed):
    rng = np.random.default_rng(seed)
    kx = np.fft.fftfreq(n, 1.0 / n)[:, None]
    ky = np.fft.rfftfreq(n, 1.0 / n)[None, :]
    k = np.sqrt(kx**2 + ky**2)
    shape = np.exp(-((k - 6.0) ** 2) / 4.0)
    w_hat = np.fft.rfft2(rng.normal(size=(n, n))) * shape
    w = np.fft.irfft2(w_hat)
    return jnp.fft.rfft2(jnp.asarray(w / w.std() * 4.0, jnp.float32))


def main():
    n, dt, inner, n_steps = 160, 2e-3, 60, 40
    sp = build(n, dt, 1e-3)
    advance = make_advance(sp, dt, inner)
    w_hat = initial(n, 4)
    jax.block_until_ready(advance(w_hat))
    energies = []
    t0 = time.perf_counter()
    for _ in range(n_steps):
        w_hat, energy = advance(w_hat)
        energies.append(energy)
    jax.block_until_ready((w_hat, energies))
    t = time.perf_counter() - t0
    energies = np.asarray(energies)
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {energies.mean():.6f} {energies[-1]:.6f}")


if __name__ == "__main__":
    main()
