"""A classifier of bat calls, trained on dry recordings that are played back in simulated caves."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

RATE = 16000
SAMPLES = 8000
CLIPS = 96
CLASSES = 4
ROOMS = 6
ECHO = 4800
BATCH = 12
STEPS = 16


def make_calls(generator):
    """Chirps of different slope and pitch, one class for each slope."""
    seconds = torch.arange(SAMPLES) / RATE
    label = torch.randint(CLASSES, (CLIPS,), generator=generator)
    pitch = 900.0 + 600.0 * torch.rand(CLIPS, 1, generator=generator)
    slope = 1500.0 * (label.float().unsqueeze(1) - 1.5)
    onset = 0.05 + 0.2 * torch.rand(CLIPS, 1, generator=generator)
    envelope = torch.exp(-(((seconds - onset) / 0.04) ** 2))
    wave = envelope * torch.sin(2 * math.pi * (pitch + slope * seconds) * seconds)
    return wave + 0.01 * torch.randn(CLIPS, SAMPLES, generator=generator), label


def make_rooms(generator):
    """Impulse responses: the direct sound and a noisy tail that dies out."""
    time_axis = torch.arange(ECHO) / RATE
    decay = 0.05 + 0.1 * torch.rand(ROOMS, 1, generator=generator)
    tail = 0.1 * torch.randn(ROOMS, ECHO, generator=generator) * torch.exp(-time_axis / decay)
    tail[:, 0] = 1.0
    return tail / tail.norm(dim=1, keepdim=True)


def apply_room(wave, room):
    """The sound of a batch of waves in a room, as long as the waves."""
    kernel = room.flip(0).view(1, 1, -1)
    padded = F.pad(wave.unsqueeze(1), (len(room) - 1, 0))
    return F.conv1d(padded, kernel).squeeze(1)


class CallNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.register_buffer("window", torch.hann_window(256))
        self.body = nn.Sequential(
            nn.Conv1d(129, width, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(width, width, 5, padding=2),
            nn.ReLU(),
        )
        self.head = nn.Linear(width, CLASSES)

    def forward(self, wave):
        spectrum = torch.stft(wave, 256, hop_length=128, window=self.window, return_complex=True)
        features = torch.log1p(10.0 * spectrum.abs())
        return self.head(self.body(features).mean(dim=-1))


def train_step(model, optimizer, wave, label, room):
    loss = F.cross_entropy(model(apply_room(wave, room)), label)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(30)
    wave, label = make_calls(generator)
    rooms = make_rooms(generator)
    model = CallNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    batches = torch.randint(CLIPS, (STEPS, BATCH), generator=generator)
    train_step(model, optimizer, wave[:BATCH], label[:BATCH], rooms[0])

    start = time.perf_counter()
    losses = []
    for step, rows in enumerate(batches):
        losses.append(train_step(model, optimizer, wave[rows], label[rows], rooms[step % ROOMS]))
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
