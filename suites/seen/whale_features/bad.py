"""Whales told apart by their songs: mel features of hydrophone clips and a small convolutional net."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

RATE = 16000
SAMPLES = 8192
CLIPS = 160
SINGERS = 5
FFT = 1024
HOP = 256
MELS = 64
BATCH = 16
STEPS = 60


def make_songs(generator):
    """Gliding tones with overtones; every singer prefers its own glide."""
    seconds = torch.arange(SAMPLES) / RATE
    singer = torch.randint(SINGERS, (CLIPS,), generator=generator)
    pitch = 300.0 + 200.0 * torch.rand(CLIPS, 1, generator=generator)
    glide = 300.0 * (singer.float().unsqueeze(1) - 2.0)
    phase = 2 * math.pi * (pitch + glide * seconds) * seconds
    wave = phase.sin() + 0.5 * (2.0 * phase).sin() + 0.2 * (3.0 * phase).sin()
    return wave + 0.3 * torch.randn(CLIPS, SAMPLES, generator=generator), singer


def hertz(mel):
    return 700.0 * (10.0 ** (mel / 2595.0) - 1.0)


def mel_filters():
    """Triangles over the frequencies of the spectrum, evenly spaced on the mel scale."""
    highest = 2595.0 * math.log10(1.0 + 0.5 * RATE / 700.0)
    corner = [hertz(highest * i / (MELS + 1)) for i in range(MELS + 2)]
    frequency = torch.linspace(0.0, 0.5 * RATE, FFT // 2 + 1)
    filters = torch.zeros(MELS, FFT // 2 + 1)
    for i in range(MELS):
        rising = (frequency - corner[i]) / (corner[i + 1] - corner[i])
        falling = (corner[i + 2] - frequency) / (corner[i + 2] - corner[i + 1])
        filters[i] = torch.minimum(rising, falling).clamp(min=0.0)
        filters[i] *= 2.0 / (corner[i + 2] - corner[i])
    return filters


class LogMel:
    """Log-mel spectrogram of one clip."""

    def __init__(self):
        self.window = torch.hann_window(FFT)
        self.filters = mel_filters()

    def __call__(self, wave):
        spectrum = torch.stft(wave, FFT, HOP, window=self.window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        return torch.log(self.filters @ power + 1e-4)


class SongData(torch.utils.data.Dataset):
    """Clips with a random gain, as log-mel pictures."""

    def __init__(self, wave, singer, generator):
        self.wave, self.singer = wave, singer
        self.gain = 0.5 + torch.rand(len(wave), generator=generator)

    def __len__(self):
        return len(self.wave)

    def __getitem__(self, index):
        transform = LogMel()
        return transform(self.gain[index] * self.wave[index]), self.singer[index]


def make_net():
    return nn.Sequential(
        nn.Conv1d(MELS, 32, 5, stride=2),
        nn.ReLU(),
        nn.Conv1d(32, 32, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool1d(1),
        nn.Flatten(),
        nn.Linear(32, SINGERS),
    )


def train_step(model, optimizer, features, singer):
    loss = F.cross_entropy(model(features), singer)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(47)
    generator = torch.Generator().manual_seed(48)
    data = SongData(*make_songs(generator), generator)
    sampler = torch.utils.data.RandomSampler(data, replacement=True, num_samples=STEPS * BATCH, generator=generator)
    loader = torch.utils.data.DataLoader(data, batch_size=BATCH, sampler=sampler)
    model = make_net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, features, singer) for features, singer in loader])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
