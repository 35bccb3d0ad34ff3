"""Waves of a sea, from a spectrum that is turned on from frame to frame."""

import time

import jax
import jax.numpy as jnp
import numpy as np

SIZE, LENGTH = 256, 200.0
GRAVITY, STEP = 9.81, 0.1


def wavenumbers():
    k = 2 * np.pi * np.fft.fftfreq(SIZE, LENGTH / SIZE)
    return np.hypot(*np.meshgrid(k, k))


def spectrum(key):
    k = wavenumbers()
    energy = np.where(k > 0, np.exp(-1.0 / np.maximum(k * 10, 1e-9) ** 2) / np.maximum(k, 1e-9) ** 4, 0.0)
    real, imag = jax.random.normal(key, (2, SIZE, SIZE))
    return jnp.asarray(np.sqrt(energy)) * (real + 1j * imag)


@jax.jit
def turn(amplitudes, omega):
    return amplitudes * jnp.exp(1j * omega * STEP)


def surface(amplitudes):
    return np.real(np.fft.ifft2(np.asarray(amplitudes)))


@jax.jit
def steepness(height):
    dx, dy = jnp.gradient(height)
    return jnp.sqrt((dx**2 + dy**2).mean())


def main():
    omega = jnp.asarray(np.sqrt(GRAVITY * wavenumbers()), jnp.float32)
    amplitudes = spectrum(jax.random.key(0))
    steepness(jnp.asarray(surface(turn(amplitudes, omega)), jnp.float32))
    found = []
    steps = 120
    start = time.perf_counter()
    for _ in range(steps):
        amplitudes = turn(amplitudes, omega)
        height = jnp.asarray(surface(amplitudes), jnp.float32)
        found.append(steepness(height))
    jax.block_until_ready(found)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(found).mean()))


if __name__ == "__main__":
    main()
