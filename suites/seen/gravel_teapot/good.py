"""Matched filtering of sonar pings: correlate long recordings with a chirp bank."""
import math
import time

import torch
from torch import nn

torch.set_num_threads(1)

RATE = 24000


def chirp(f0, f1, duration):
    t = torch.arange(int(RATE * duration)) / RATE
    phase = 2 * math.pi * (f0 * t + 0.5 * (f1 - f0) * t**2 / duration)
    return torch.sin(phase) * torch.hann_window(len(t), periodic=False)


def fast_length(target):
    """Smallest even product of 2, 3 and 5 that is at least `target`."""
    best = 1 << (target - 1).bit_length()
    fives = 1
    while fives < best:
        threes = fives
        while threes < best:
            size = 2 * threes
            while size < target:
                size *= 2
            best = min(best, size)
            threes *= 3
        fives *= 5
    return best


class ChirpBank(nn.Module):
    """Full linear correlation of every recording with every template."""

    def __init__(self, templates, recording_length):
        super().__init__()
        templates = templates / templates.norm(dim=-1, keepdim=True)
        self.recording_length = recording_length
        self.template_length = templates.shape[-1]
        self.nfft = fast_length(self.recording_length + self.template_length - 1)
        self.register_buffer("spectra", torch.fft.rfft(templates, n=self.nfft).conj())

    def forward(self, recordings):
        spectrum = torch.fft.rfft(recordings, n=self.nfft)
        product = spectrum[:, None] * self.spectra[None]
        correlation = torch.fft.irfft(product, n=self.nfft)
        return correlation[..., : self.recording_length - self.template_length + 1]


class PingSimulator:
    def __init__(self, templates, length, generator):
        self.templates = templates
        self.length = length
        self.generator = generator

    def batch(self, size, echoes=5):
        out = 0.3 * torch.randn(size, self.length, generator=self.generator)
        width = self.templates.shape[-1]
        for row in out:
            kinds = torch.randint(0, len(self.templates), (echoes,), generator=self.generator)
            starts = torch.randint(0, self.length - width, (echoes,), generator=self.generator)
            gains = 0.3 + torch.rand(echoes, generator=self.generator)
            for kind, start, gain in zip(kinds.tolist(), starts.tolist(), gains):
                row[start : start + width] += gain * self.templates[kind]
        return out


def detect(scores, block=2000, threshold=3.0):
    usable = scores.shape[-1] // block * block
    blocks = scores[..., :usable].unflatten(-1, (-1, block))
    peaks, positions = blocks.abs().max(-1)
    hits = peaks > threshold
    return hits.sum((-1, -2)), peaks.amax((-1, -2)), positions


def main(steps=42, batch_size=4, seconds=4.0):
    generator = torch.Generator().manual_seed(8)
    starts = torch.linspace(1500.0, 6000.0, 6).tolist()
    templates = torch.stack([chirp(f, f + 2500.0, 0.18) for f in starts])
    length = int(RATE * seconds)
    bank = ChirpBank(templates, length)
    simulator = PingSimulator(templates, length, generator)
    recordings = [simulator.batch(batch_size) for _ in range(4)]

    counts, strongest = [], []
    with torch.inference_mode():
        bank(recordings[0])
        begin = time.perf_counter()
        for step in range(steps):
            gain = 1.0 + 0.02 * step
            hits, peak, _ = detect(bank(gain * recordings[step % len(recordings)]))
            counts.append(hits.sum())
            strongest.append(peak)
        elapsed = time.perf_counter() - begin

    print(f"{int(torch.stack(counts).sum())} block detections")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {torch.stack(strongest).sum():.5f} {torch.stack(counts).float().mean():.4f}")


if __name__ == "__main__":
    main()
