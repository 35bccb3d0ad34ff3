"""A small diffusion model of lichen on stones: a U-Net that predicts the noise."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

SIDE = 32
STONES = 256
BATCH = 16
LEVELS = 200
WIDTH = 32
STEPS = 24


def make_stones(generator):
    """Grey stones with round patches of lichen."""
    axis = torch.linspace(-1.0, 1.0, SIDE)
    picture = torch.full((STONES, SIDE, SIDE), -0.6)
    for _ in range(5):
        centre = 1.4 * torch.rand(STONES, 2, 1, 1, generator=generator) - 0.7
        radius = 0.1 + 0.3 * torch.rand(STONES, 1, 1, generator=generator)
        distance = torch.hypot(axis.view(-1, 1) - centre[:, 0], axis - centre[:, 1])
        picture = torch.maximum(picture, 1.6 * torch.sigmoid(14.0 * (radius - distance)) - 0.8)
    return picture.unsqueeze(1)


class NoiseSchedule:
    """The cosine schedule: how much of the picture is left at each level."""

    def __init__(self):
        level = (torch.arange(LEVELS) + 0.5) / LEVELS
        kept = torch.cos(0.5 * math.pi * level) ** 2
        self.signal = kept.sqrt()
        self.noise = (1.0 - kept).sqrt()

    def spoil(self, picture, noise, level):
        return self.signal[level].view(-1, 1, 1, 1) * picture + self.noise[level].view(-1, 1, 1, 1) * noise


class ResidualBlock(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1)
        self.norm = nn.GroupNorm(8, outputs)
        self.shift = nn.Linear(64, outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, moment):
        inner = self.first(x) + self.shift(moment)[:, :, None, None]
        return self.skip(x) + self.second(F.silu(self.norm(inner)))


class DenoisingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turns", torch.exp(torch.linspace(0.0, math.log(500.0), 32)))
        self.moment = nn.Sequential(nn.Linear(64, 64), nn.SiLU())
        self.stem = nn.Conv2d(1, WIDTH, 3, padding=1)
        self.high = ResidualBlock(WIDTH, WIDTH)
        self.down = nn.Conv2d(WIDTH, 2 * WIDTH, 3, stride=2, padding=1)
        self.low = nn.ModuleList([ResidualBlock(2 * WIDTH, 2 * WIDTH) for _ in range(2)])
        self.up = nn.ConvTranspose2d(2 * WIDTH, WIDTH, 2, stride=2)
        self.merge = ResidualBlock(2 * WIDTH, WIDTH)
        self.out = nn.Conv2d(WIDTH, 1, 3, padding=1)

    def forward(self, x, level):
        phase = (level / LEVELS).unsqueeze(1) * self.turns
        moment = self.moment(torch.cat([phase.sin(), phase.cos()], dim=1))
        high = self.high(self.stem(x), moment)
        low = self.down(high)
        for block in self.low:
            low = block(low, moment)
        return self.out(self.merge(torch.cat([high, self.up(low)], dim=1), moment))


def train_step(model, average, optimizer, schedule, picture, generator):
    level = torch.randint(LEVELS, (len(picture),), generator=generator)
    noise = torch.randn(picture.shape, generator=generator)
    loss = F.mse_loss(model(schedule.spoil(picture, noise, level), level), noise)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    average.update_parameters(model)
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(11)
    stones = make_stones(generator)
    model = DenoisingNet()
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.98))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    schedule = NoiseSchedule()
    rows = torch.randint(STONES, (STEPS, BATCH), generator=generator)
    train_step(model, average, optimizer, schedule, stones[rows[0]], generator)

    start = time.perf_counter()
    losses = [train_step(model, average, optimizer, schedule, stones[r], generator) for r in rows]
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
