"""Auralisation: render dry speech-like signals through a bank of room responses."""
import time

import torch
import torch.nn.functional as F


def synthetic_speech(batch, n, sr, gen):
    t = torch.arange(n) / sr
    f0 = 90 + 120 * torch.rand(batch, 1, generator=gen)
    voice = sum(torch.sin(6.2832 * k * f0 * t) / k for k in range(1, 6))
    envelope = torch.sigmoid(6 * torch.sin(6.2832 * 2.5 * t + 6 * torch.rand(batch, 1, generator=gen)))
    return voice * envelope


class Room:
    """Exponentially decaying noise tail with a direct path."""

    def __init__(self, seconds, sr, rt60, seed):
        gen = torch.Generator().manual_seed(seed)
        n = int(seconds * sr)
        t = torch.arange(n) / sr
        tail = torch.randn(n, generator=gen) * torch.exp(-6.908 * t / rt60)
        tail[0] = 4.0
        self.response = tail / tail.norm()


class Renderer:
    def __init__(self, room, signal_length):
        self.out_length = signal_length + room.response.numel() - 1
        self.n_fft = self.out_length
        self.spectrum = torch.fft.rfft(room.response, n=self.n_fft)

    def __call__(self, dry):
        wet = torch.fft.rfft(dry, n=self.n_fft) * self.spectrum
        return torch.fft.irfft(wet, n=self.n_fft)[..., :self.out_length]


class LevelMeter:
    def __init__(self, n_fft=1024, hop=256):
        self.n_fft = n_fft
        self.hop = hop
        self.window = torch.hann_window(n_fft)

    def __call__(self, x):
        spec = torch.stft(x, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.real.square() + spec.imag.square()
        level = torch.log10(power.mean(dim=1) + 1e-8)
        return F.avg_pool1d(level[:, None], 8)[:, 0]


def main():
    torch.set_num_threads(1)
    sr = 16000
    length = 6 * sr
    gen = torch.Generator().manual_seed(4)
    room = Room(0.2495, sr, rt60=0.4, seed=9)
    render = Renderer(room, length)
    meter = LevelMeter()
    clips = [synthetic_speech(4, length, sr, gen) for _ in range(6)]

    def process(k):
        wet = render(clips[k % len(clips)])
        wet = wet / wet.abs().amax(dim=-1, keepdim=True)
        return meter(wet)

    process(0)
    steps = 220
    total = torch.zeros(4)
    peak = torch.zeros(4)
    start = time.perf_counter()
    for k in range(steps):
        level = process(k)
        total += level.mean(dim=-1)
        peak = torch.maximum(peak, level.amax(dim=-1))
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {total.mean().item() / steps:.6f} {peak.mean().item():.6f}")


if __name__ == "__main__":
    main()
