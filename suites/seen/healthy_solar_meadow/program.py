"""Forecast the next hours of electricity demand with a recurrent network."""
import math
import time

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 80
HOURS = 24 * 700
HISTORY = 96
AHEAD = 12
FEATURES = 4
BATCH = 64


def make_demand(generator):
    """Hourly demand with daily and weekly cycles, weather and noise."""
    hour = torch.arange(HOURS, dtype=torch.float32)
    daily = torch.sin(2 * math.pi * hour / 24)
    weekly = torch.sin(2 * math.pi * hour / 168)
    shock = 0.05 * torch.randn(HOURS, generator=generator)
    weather = torch.cumsum(shock, dim=0)
    weather = weather - F.avg_pool1d(weather[None, None], 169, 1, 84).view(-1)
    demand = 0.6 * daily + 0.3 * weekly - 0.5 * weather
    demand = demand + 0.05 * torch.randn(HOURS, generator=generator)
    return torch.stack([demand, weather, daily, weekly], dim=1)


class Forecaster(nn.Module):
    def __init__(self, size=96):
        super().__init__()
        self.memory = nn.LSTM(FEATURES, size, num_layers=2, batch_first=True)
        self.leave = nn.Linear(size, AHEAD)

    def forward(self, history):
        _, (state, _) = self.memory(history)
        return self.leave(state[-1])


def train_step(model, optimizer, history, future):
    loss = F.smooth_l1_loss(model(history), future)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(30)
    generator = torch.Generator().manual_seed(31)
    series = make_demand(generator)
    windows = series.unfold(0, HISTORY + AHEAD, 1).transpose(1, 2)
    split = int(0.9 * len(windows))
    train, held = windows[:split], windows[split:]

    model = Forecaster()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)

    def batch():
        pick = torch.randint(0, len(train), (BATCH,), generator=generator)
        window = train[pick]
        return window[:, :HISTORY], window[:, HISTORY:, 0]

    train_step(model, optimizer, *batch())
    start = time.perf_counter()
    total = torch.zeros(())
    for _ in range(STEPS):
        total += train_step(model, optimizer, *batch())
    elapsed = time.perf_counter() - start

    model.eval()
    with torch.inference_mode():
        sample = held[::8]
        forecast = model(sample[:, :HISTORY])
        error = F.l1_loss(forecast, sample[:, HISTORY:, 0])
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {error.item():.4f}")


if __name__ == "__main__":
    main()
