"""Depthwise-separable network on log-mel spectrograms of synthetic keyword recordings."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)

RATE = 8000
WORDS = 8


def mel_matrix(bands, bins, low=60.0, high=3800.0):
    def to_mel(f):
        return 2595.0 * math.log10(1.0 + f / 700.0)

    mel = torch.linspace(to_mel(low), to_mel(high), bands + 2)
    edges = 700.0 * (10.0 ** (mel / 2595.0) - 1.0)
    frequency = torch.linspace(0.0, RATE / 2, bins)
    rise = (frequency - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    fall = (edges[2:, None] - frequency) / (edges[2:] - edges[1:-1])[:, None]
    return torch.minimum(rise, fall).clamp(min=0.0)


class LogMel(nn.Module):
    def __init__(self, bands=32, size=256, hop=128):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size))
        self.register_buffer("mel", mel_matrix(bands, size // 2 + 1))

    def forward(self, audio):
        spectrum = torch.stft(
            audio, self.size, self.hop, window=self.window, return_complex=True
        )
        power = spectrum.real.square() + spectrum.imag.square()
        return torch.log(self.mel @ power + 1e-4)


class Separable(nn.Sequential):
    def __init__(self, inputs, outputs, stride=1):
        super().__init__(
            nn.Conv1d(inputs, inputs, 5, stride, padding=2, groups=inputs, bias=False),
            nn.Conv1d(inputs, outputs, 1, bias=False),
            nn.BatchNorm1d(outputs),
            nn.ReLU(),
        )


def make_network(bands):
    return nn.Sequential(
        nn.Conv1d(bands, 64, 3, padding=1, bias=False),
        nn.BatchNorm1d(64),
        nn.ReLU(),
        Separable(64, 96, stride=2),
        Separable(96, 128, stride=2),
        Separable(128, 128),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(128, WORDS),
    )


def recordings(count, generator, seconds=1.0):
    """Each word is a pair of gliding tones with a random onset, level and noise."""
    word = torch.randint(0, WORDS, (count,), generator=generator)
    t = torch.arange(int(RATE * seconds)) / RATE
    onset = 0.1 + 0.4 * torch.rand(count, 1, generator=generator)
    local = t - onset
    envelope = torch.exp(-((local - 0.2) ** 2) / 0.01)
    first = 300.0 + 120.0 * (word % 4)[:, None]
    second = 1400.0 + 500.0 * (word // 4)[:, None]
    glide = 200.0 * torch.randn(count, 1, generator=generator)
    tone = torch.sin(2 * math.pi * (first * local + 0.5 * glide * local**2))
    tone = tone + 0.6 * torch.sin(2 * math.pi * second * local)
    return envelope * tone + 0.3 * torch.randn(count, len(t), generator=generator), word


@torch.inference_mode()
def features(audio, chunk=256):
    frontend = LogMel()
    out = torch.cat([frontend(part) for part in audio.split(chunk)])
    return (out - out.mean((0, 2), keepdim=True)) / out.std((0, 2), keepdim=True)


def main(steps=80, batch_size=64):
    torch.manual_seed(33)
    generator = torch.Generator().manual_seed(34)
    audio, word = recordings(1500, generator)
    spectra = features(audio).clone()
    train, test = slice(0, 1200), slice(1200, None)
    network = make_network(spectra.shape[1])
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=steps)

    total = torch.zeros(())
    begin = time.perf_counter()
    for _ in range(steps):
        rows = torch.randint(0, train.stop, (batch_size,), generator=generator)
        loss = F.cross_entropy(network(spectra[rows]), word[rows], label_smoothing=0.05)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.detach()
    elapsed = time.perf_counter() - begin

    network.eval()
    with torch.inference_mode():
        accuracy = (network(spectra[test]).argmax(1) == word[test]).float().mean()
    print(f"test accuracy {accuracy:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {total:.4f} {accuracy:.4f}")


if __name__ == "__main__":
    main()
