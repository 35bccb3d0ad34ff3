"""Made-up recordings of two birds, and their spectrograms."""

import numpy as np

RATE = 8000


def recording(index):
    rng = np.random.default_rng(index)
    t = np.arange(2 * RATE) / RATE
    kind = index % 2
    sweep = 1200 + 600 * (1 if kind else -1) * np.sin(2 * np.pi * 3 * t) + rng.uniform(-100, 100)
    return (np.sin(2 * np.pi * np.cumsum(sweep) / RATE) + 0.3 * rng.normal(size=t.size)).astype(np.float32), kind


def spectrogram(samples, window=256, hop=64):
    starts = range(0, len(samples) - window, hop)
    shape = np.hanning(window)
    columns = [np.abs(np.fft.rfft(shape * samples[s : s + window])) for s in starts]
    return np.log1p(np.stack(columns, axis=1)).astype(np.float32)
