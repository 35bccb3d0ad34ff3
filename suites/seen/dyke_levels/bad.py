"""Water levels behind many dykes: exponential smoothing whose rates belong to each dyke, with a shared net."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

DYKES = 300
DAYS = 28
PERIOD = 7
AHEAD = 7
HIDDEN = 32
STEPS = 60


def make_levels(generator):
    """A weekly rhythm of the pumps on a level that wanders; always positive."""
    day = torch.arange(DAYS + AHEAD, dtype=torch.float32)
    phase = 2 * math.pi * torch.rand(DYKES, 1, generator=generator)
    size = 0.1 + 0.3 * torch.rand(DYKES, 1, generator=generator)
    wander = 0.03 * torch.randn(DYKES, DAYS + AHEAD, generator=generator).cumsum(dim=1)
    rhythm = 1.0 + size * torch.sin(2 * math.pi * day / PERIOD + phase)
    height = 1.0 + 4.0 * torch.rand(DYKES, 1, generator=generator)
    return height * rhythm * torch.exp(wander)


class SmoothingRates(nn.Module):
    """Rate of the level, rate of the season and first season of every dyke."""

    def __init__(self):
        super().__init__()
        self.level = nn.ParameterList([nn.Parameter(torch.tensor(-0.5)) for _ in range(DYKES)])
        self.season = nn.ParameterList([nn.Parameter(torch.tensor(-1.0)) for _ in range(DYKES)])
        self.first = nn.ParameterList([nn.Parameter(torch.zeros(PERIOD)) for _ in range(DYKES)])

    def forward(self, dykes):
        level = torch.stack([self.level[i] for i in dykes.tolist()])
        season = torch.stack([self.season[i] for i in dykes.tolist()])
        first = torch.stack([self.first[i] for i in dykes.tolist()])
        return level.sigmoid(), season.sigmoid(), first.exp()


class SmoothingNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.rates = SmoothingRates()
        self.net = nn.Sequential(nn.Linear(2 * PERIOD, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, AHEAD))

    def smooth(self, levels, dykes):
        """Holt-Winters without trend: the last level, the seasons and the levels on the way."""
        rate, season_rate, first = self.rates(dykes)
        seasons = list(first.unbind(dim=1))
        level = levels[:, 0] / seasons[0]
        passed = []
        for day, seen in enumerate(levels.unbind(dim=1)):
            level = torch.lerp(level, seen / seasons[day], rate)
            seasons.append(torch.lerp(seasons[day], seen / level, season_rate))
            passed.append(level)
        return level, torch.stack(seasons[-PERIOD:], dim=1), torch.stack(passed, dim=1)

    def forward(self, levels, dykes):
        level, season, _ = self.smooth(levels, dykes)
        window = levels[:, -2 * PERIOD :] / level.unsqueeze(1) / season.repeat(1, 2)
        return level.unsqueeze(1) * season[:, :AHEAD] * self.net(window.log()).exp()


def train_step(model, optimizer, levels, dykes):
    forecast = model(levels[:, :DAYS], dykes)
    loss = F.l1_loss(forecast.log(), levels[:, DAYS:].log())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(53)
    generator = torch.Generator().manual_seed(54)
    levels = make_levels(generator)
    dykes = torch.arange(DYKES)
    model = SmoothingNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_step(model, optimizer, levels, dykes)

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, levels, dykes) for _ in range(STEPS)])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
