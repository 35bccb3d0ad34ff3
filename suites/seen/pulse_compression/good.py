"""Pulse compression and Doppler processing of radar bursts.

Every received line is correlated with the transmitted chirp, the lines of a
burst are Fourier transformed over slow time, and the strongest cell is kept.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy.fft import next_fast_len

LINES, RANGE_CELLS, CHIRP = 64, 3593, 427
FULL = next_fast_len(RANGE_CELLS + CHIRP - 1)


def chirp():
    t = np.arange(CHIRP) / CHIRP
    return np.exp(1j * np.pi * 120 * t**2).astype(np.complex64)


def burst(seed, pulse):
    """Echoes of a few moving targets in noise, one row per transmitted pulse."""
    rng = np.random.default_rng(seed)
    echo = rng.normal(size=(LINES, RANGE_CELLS, 2)).astype(np.float32).view(np.complex64)[..., 0]
    for _ in range(4):
        cell = rng.integers(0, RANGE_CELLS - CHIRP)
        doppler = np.exp(2j * np.pi * rng.uniform(-0.5, 0.5) * np.arange(LINES))
        echo[:, cell : cell + CHIRP] += 0.2 * doppler[:, None] * pulse
    return echo


def matched_filter(lines, pulse):
    """Linear correlation along range, by a transform of the full length."""
    spectrum = jnp.fft.fft(lines, FULL, axis=-1)
    reference = jnp.conj(jnp.fft.fft(pulse, FULL))
    return jnp.fft.ifft(spectrum * reference, axis=-1)[..., :RANGE_CELLS]


def doppler_map(compressed):
    taper = jnp.hanning(LINES)[:, None]
    return jnp.abs(jnp.fft.fft(compressed * taper, axis=0)) ** 2


@jax.jit
def process(lines, pulse):
    power = doppler_map(matched_filter(lines, pulse))
    strongest = jnp.unravel_index(jnp.argmax(power), power.shape)
    return power.max(), strongest, jnp.mean(jnp.log(power))


def main():
    pulse = chirp()
    bursts = jax.device_put([burst(seed, pulse) for seed in range(6)])
    pulse = jnp.asarray(pulse)
    jax.block_until_ready(process(bursts[0], pulse))
    steps = 60
    found = []
    start = time.perf_counter()
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("burst", step_num=i):
            found.append(jax.block_until_ready(process(bursts[i % len(bursts)], pulse)))
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    peaks = [float(peak) for peak, _, _ in found]
    print("checksum", float(np.mean(peaks)), float(found[-1][2]), int(found[-1][1][1]))


if __name__ == "__main__":
    main()
