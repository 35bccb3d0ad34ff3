"""Forecasts the passengers of tram stops from the quarter hours of the past half day."""

import math
import time

import torch
from torch import nn

HISTORY = 48
FEATURES = 6
HIDDEN = 48
BATCH = 32
STOPS = 60


def make_series(generator, length=1500):
    """Counts with a daily rhythm, and the features that come with them."""
    quarter = torch.arange(length, dtype=torch.float32)
    day = 2 * math.pi * quarter / 96
    rhythm = torch.stack([day.sin(), day.cos(), (2 * day).sin(), (2 * day).cos()], dim=-1)
    level = 0.5 + torch.rand(STOPS, 1, generator=generator)
    weights = torch.randn(STOPS, 4, generator=generator)
    counts = level * torch.tanh(weights @ rhythm.T) + 0.1 * torch.randn(STOPS, length, generator=generator)
    rain = (torch.rand(length, generator=generator) < 0.1).float()
    counts = counts - 0.4 * rain
    shared = torch.cat([rhythm, rain[:, None]], dim=-1).expand(STOPS, length, 5)
    return torch.cat([counts.unsqueeze(-1), shared], dim=-1)


def draw_batch(series, generator):
    """Windows of random stops and times, cut from the series in one go."""
    stops = torch.randint(STOPS, (BATCH, 1), generator=generator)
    begin = torch.randint(series.shape[1] - HISTORY - 1, (BATCH, 1), generator=generator)
    at = begin + torch.arange(HISTORY + 1)
    window = series[stops, at]
    return window[:, :-1], window[:, 1:, 0]


class DemandNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTMCell(FEATURES, HIDDEN)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, window):
        h = window.new_zeros(window.shape[0], HIDDEN)
        c = window.new_zeros(window.shape[0], HIDDEN)
        outputs = []
        for t in range(window.shape[1]):
            h, c = self.recurrent(window[:, t], (h, c))
            outputs.append(h)
        hidden = torch.stack(outputs, dim=1)
        return self.head(hidden).squeeze(-1)


def train_step(model, optimizer, loss_fn, window, target):
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(window), target)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(8)
    series = make_series(generator)
    model = DemandNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss_fn = nn.SmoothL1Loss()
    train_step(model, optimizer, loss_fn, *draw_batch(series, generator))

    start = time.perf_counter()
    losses = []
    for _ in range(150):
        window, target = draw_batch(series, generator)
        losses.append(train_step(model, optimizer, loss_fn, window, target))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-30:].mean().item():.5f}")


if __name__ == "__main__":
    main()
