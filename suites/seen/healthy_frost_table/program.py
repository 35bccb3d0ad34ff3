"""Spectral noise gate for batches of audio clips."""
import time

import torch

torch.set_num_threads(1)

RATE = 16_000
CLIP = 32_768
BATCH = 16
FFT = 1024
HOP = 256
BATCHES = 140
WARMUP = 2


class ClipSource:
    """Mixtures of gliding tones and coloured noise."""

    def __init__(self, seed):
        self.gen = torch.Generator().manual_seed(seed)
        t = torch.arange(CLIP, dtype=torch.float32) / RATE
        base = torch.tensor([180.0, 240.0, 320.0, 410.0])
        phase = 6.2831853 * (base[:, None] * t + 15.0 * t.square())
        self.tones = torch.sin(phase) + 0.4 * torch.sin(2 * phase)
        white = torch.randn(8 * CLIP, generator=self.gen)
        self.noise = 0.5 * (white[1:] + white[:-1])

    def batch(self, size):
        pick = torch.randint(0, len(self.tones), (size,), generator=self.gen)
        starts = torch.randint(0, 7 * CLIP - 1, (size,), generator=self.gen).tolist()
        noise = torch.stack([self.noise[s:s + CLIP] for s in starts])
        gain = 0.2 + 0.3 * torch.rand(size, 1, generator=self.gen)
        clean = self.tones[pick]
        return clean, clean + gain * noise


class NoiseGate:
    """Wiener-like gain from a running minimum of the spectrum."""

    def __init__(self, floor=0.05, smoothing=9):
        self.window = torch.hann_window(FFT)
        self.floor = floor
        self.smoothing = smoothing

    def analyse(self, x):
        return torch.stft(x, FFT, HOP, window=self.window, return_complex=True)

    def synthesise(self, spec):
        return torch.istft(spec, FFT, HOP, window=self.window, length=CLIP)

    def gain(self, spec):
        power = spec.real.square() + spec.imag.square()
        local = torch.nn.functional.avg_pool1d(
            power, self.smoothing, stride=1, padding=self.smoothing // 2
        )
        noise = local.amin(dim=-1, keepdim=True)
        return (1.0 - 4.0 * noise / (local + 1e-8)).clamp_(min=self.floor)

    def __call__(self, x):
        spec = self.analyse(x)
        return self.synthesise(spec * self.gain(spec))


def snr(clean, estimate):
    residual = (clean - estimate).square().sum(-1)
    return 10.0 * torch.log10(clean.square().sum(-1) / residual)


@torch.inference_mode()
def main():
    source = ClipSource(51)
    gate = NoiseGate()
    for _ in range(WARMUP):
        gate(source.batch(BATCH)[1])

    before, after = [], []
    start = time.perf_counter()
    for _ in range(BATCHES):
        clean, noisy = source.batch(BATCH)
        restored = gate(noisy)
        before.append(snr(clean, noisy))
        after.append(snr(clean, restored))
    elapsed = time.perf_counter() - start
    print(f"{BATCHES} steps in {elapsed:.2f} s")
    before, after = torch.cat(before).mean().item(), torch.cat(after).mean().item()
    print(f"checksum {before:.4f} {after:.4f}")


if __name__ == "__main__":
    main()
