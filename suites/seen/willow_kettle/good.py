"""Matched filtering of radar returns: find chirp echoes in noisy pulses."""
import math
import time

import torch

torch.set_num_threads(1)

RATE = 20_000.0
SAMPLES = 64_000
PULSES = 16
DWELLS = 95
WARMUP = 2


def chirp(duration, f0, f1, rate=RATE):
    t = torch.arange(int(duration * rate), dtype=torch.float32) / rate
    sweep = (f1 - f0) / duration
    phase = 2 * math.pi * (f0 * t + 0.5 * sweep * t * t)
    return torch.sin(phase) * torch.hann_window(len(t), periodic=False)


def good_length(n):
    """Smallest length from n on with no prime factor above five."""
    while True:
        rest = n
        for p in (2, 3, 5):
            while rest % p == 0:
                rest //= p
        if rest == 1:
            return n
        n += 1


class PulseCompressor:
    """Correlates every pulse with the transmitted chirp."""

    def __init__(self, template, samples):
        self.template = template / template.norm()
        self.samples = samples
        self.n = good_length(samples + len(template) - 1)
        self.kernel = torch.fft.rfft(self.template, n=self.n).conj()

    def __call__(self, pulses):
        spectrum = torch.fft.rfft(pulses, n=self.n)
        full = torch.fft.irfft(spectrum * self.kernel, n=self.n)
        return full[..., : self.samples]


class Scene:
    """Targets at fixed ranges with a random amplitude in every dwell."""

    def __init__(self, template, samples, seed):
        self.template = template
        self.samples = samples
        self.gen = torch.Generator().manual_seed(seed)
        self.delays = torch.randint(0, samples - len(template), (5,), generator=self.gen).tolist()
        self.noise = torch.randn(4 * samples, generator=self.gen)

    def dwell(self, pulses):
        shift = torch.randint(0, 3 * self.samples, (pulses,), generator=self.gen).tolist()
        x = torch.stack([self.noise[s:s + self.samples] for s in shift])
        amplitude = 0.3 + torch.rand(pulses, len(self.delays), generator=self.gen)
        for k, d in enumerate(self.delays):
            x[:, d:d + len(self.template)] += amplitude[:, k:k + 1] * self.template
        return x


def detect(compressed, guard=80, count=5):
    """Strongest cells over all Doppler channels, at most one for every guard window."""
    doppler = torch.fft.rfft(compressed, dim=0, norm="ortho")
    envelope = (doppler.real.square() + doppler.imag.square()).amax(0)
    cells = envelope.view(-1, guard).amax(-1)
    power, where = cells.topk(count)
    return power, where


@torch.inference_mode()
def main():
    template = chirp(0.256, 800.0, 4200.0)
    scene = Scene(template, SAMPLES, seed=31)
    compressor = PulseCompressor(template, SAMPLES)
    for _ in range(WARMUP):
        detect(compressor(scene.dwell(PULSES)))

    power_sum = torch.zeros(5)
    cell_sum = torch.zeros(5)
    start = time.perf_counter()
    for _ in range(DWELLS):
        power, where = detect(compressor(scene.dwell(PULSES)))
        power_sum += power
        cell_sum += where.sort().values.float()
    elapsed = time.perf_counter() - start
    print(f"{DWELLS} steps in {elapsed:.2f} s")
    print(f"checksum {power_sum.sum().item() / DWELLS:.3f} {cell_sum.sum().item() / DWELLS:.3f}")


if __name__ == "__main__":
    main()
