"""Estimate the size of a room from reverberant speech made on the fly."""
import time

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 200
BATCH = 16
RATE = 8000
SPEECH = 16384
TAIL = 6000
VOICES = 128


def make_voices(generator):
    """Syllable-like noise bursts over a wandering pitch."""
    clock = torch.arange(SPEECH) / RATE
    pitch = 90.0 + 120.0 * torch.rand(VOICES, 1, generator=generator)
    phase = 2 * torch.pi * pitch * clock
    tone = torch.sin(phase) + 0.5 * torch.sin(2 * phase) + 0.3 * torch.sin(3 * phase)
    beat = 2.0 + 3.0 * torch.rand(VOICES, 1, generator=generator)
    syllable = torch.sin(torch.pi * beat * clock).square() ** 3
    hiss = 0.2 * torch.randn(VOICES, SPEECH, generator=generator)
    return (tone + hiss) * syllable


def draw_rooms(count, generator):
    """Exponentially decaying noise; the decay time grows with the room."""
    size = torch.rand(count, generator=generator)
    decay = 0.02 + 0.1 * size
    clock = torch.arange(TAIL) / RATE
    response = torch.randn(count, TAIL, generator=generator)
    response = response * torch.exp(-clock / decay[:, None])
    response[:, 0] = 4.0
    return response / response.norm(dim=1, keepdim=True), size


def reverberate(voice, response):
    """Each voice through its own room, cut to the length of the voice."""
    length = 22_500
    spectrum = torch.fft.rfft(voice, length) * torch.fft.rfft(response, length)
    return torch.fft.irfft(spectrum, length)[:, :SPEECH]


class RoomNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.body = nn.Sequential(
            nn.Conv1d(129, 64, 5, padding=2), nn.ReLU(),
            nn.Conv1d(64, 64, 5, padding=2), nn.ReLU(),
        )
        self.leave = nn.Linear(64, 1)

    def forward(self, sound):
        spectrum = torch.stft(sound, 256, 128, window=self.window, return_complex=True)
        level = torch.log1p(spectrum.abs())
        level = level - level.mean(dim=(1, 2), keepdim=True)
        return self.leave(self.body(level).mean(dim=-1)).squeeze(-1)


def train_step(model, optimizer, voice, response, size):
    sound = reverberate(voice, response)
    loss = F.mse_loss(model(sound), size)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(20)
    generator = torch.Generator().manual_seed(22)
    voices = make_voices(generator)
    model = RoomNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

    def batch():
        who = torch.randint(0, VOICES, (BATCH,), generator=generator)
        return voices[who], *draw_rooms(BATCH, generator)

    train_step(model, optimizer, *batch())
    start = time.perf_counter()
    total = torch.zeros(())
    for _ in range(STEPS):
        total += train_step(model, optimizer, *batch())
    elapsed = time.perf_counter() - start

    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {weight.item():.3f}")


if __name__ == "__main__":
    main()
