"""Estimating the reverberation time of a room from recordings.

Dry signals (bursts of filtered noise) are made reverberant with synthetic room impulse responses of a
random decay time. A small convolutional network sees the log-spectrogram of the reverberant sound and
learns to predict the decay time (RT60) of the room.
"""
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

RATE = 16000
SAMPLES = 2 * RATE  # two seconds
TAPS = RATE // 2  # half a second of impulse response
BATCH = 8
STEPS = 20


def make_dry(generator):
    """Short noise bursts with silence in between, (batch, samples)."""
    noise = torch.randn(BATCH, SAMPLES, generator=generator)
    t = torch.arange(SAMPLES) / RATE
    phase = torch.rand(BATCH, 1, generator=generator)
    gate = (torch.sin(2 * math.pi * (1.5 * t + phase)) > 0.6).float()
    return noise * gate


def make_room(generator):
    """Exponentially decaying noise with a direct path, (batch, taps) and its RT60 in seconds."""
    rt60 = 0.15 + 0.6 * torch.rand(BATCH, 1, generator=generator)
    t = torch.arange(TAPS) / RATE
    rir = torch.randn(BATCH, TAPS, generator=generator) * torch.exp(-6.9 * t / rt60)
    rir[:, 0] = 3.0
    return rir / rir.norm(dim=1, keepdim=True), rt60.squeeze(1)


def reverberate(dry, rir):
    """Every signal of the batch in its own room; the output is as long as the input."""
    n = SAMPLES + TAPS - 1
    n = 1 << (n - 1).bit_length()
    spectrum = torch.fft.rfft(dry, n) * torch.fft.rfft(rir, n)
    return torch.fft.irfft(spectrum, n)[:, :SAMPLES]


class LogSpectrogram(nn.Module):
    def __init__(self, n_fft=256, hop=128):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, audio):
        spectrum = torch.stft(
            audio, self.n_fft, self.hop, window=self.window, return_complex=True
        )
        return torch.log(spectrum.abs() + 1e-3)


class DecayNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = LogSpectrogram()
        self.conv = nn.Sequential(
            nn.Conv1d(129, 48, 5, padding=2), nn.ReLU(),
            nn.Conv1d(48, 48, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.output = nn.Linear(48, 1)

    def forward(self, audio):
        x = self.conv(self.features(audio))
        return self.output(x.mean(dim=2)).squeeze(1)


def train_step(model, optimizer, audio, rt60):
    loss = F.mse_loss(model(audio), rt60)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(8)
    model = DecayNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    losses, level = [], []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        rir, rt60 = make_room(generator)
        audio = reverberate(make_dry(generator), rir)
        losses.append(train_step(model, optimizer, audio, rt60))
        level.append(audio.square().mean())
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-5:].mean():.5f} {torch.stack(level).mean():.5f}")


if __name__ == "__main__":
    main()
