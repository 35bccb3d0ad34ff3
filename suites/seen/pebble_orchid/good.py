"""Load forecasting from a panel of sensor channels with a mixture-of-experts regression."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(6)

HOURS = 240_000
CHANNELS = 160
BATCH = 1024
STEPS = 1300
WARMUP = 5


def channel(kind, t, gen):
    """One channel: a season of its own period, a slow drift and noise."""
    period = 24.0 * (1 + kind % 7)
    phase = 6.28 * torch.rand((), generator=gen)
    season = torch.sin(6.2831853 * t / period + phase)
    noise = torch.randn(len(t), generator=gen)
    return season + 0.3 * noise + 0.1 * (kind % 3)


def standardise(series):
    return (series - series.mean()) / series.std()


class SensorPanel:
    """All channels of the plant, one row for every hour."""

    def __init__(self, hours, channels, gen):
        t = torch.arange(hours, dtype=torch.float32)
        columns = [standardise(channel(k, t, gen)) for k in range(channels)]
        self.table = torch.stack(columns, dim=1)
        mix = torch.randn(channels, generator=gen) / channels ** 0.5
        response = self.table @ mix
        self.load = torch.tanh(response) + 0.05 * torch.randn(hours, generator=gen)

    def __len__(self):
        return self.table.shape[0]

    def batch(self, size, gen):
        idx = torch.randint(0, len(self), (size,), generator=gen)
        return self.table[idx], self.load[idx]


class Mixture(nn.Module):
    """A few linear experts and a gate."""

    def __init__(self, inputs, experts=4):
        super().__init__()
        self.gate = nn.Linear(inputs, experts)
        self.expert = nn.Linear(inputs, experts)

    def forward(self, x):
        weight = F.softmax(self.gate(x), dim=-1)
        return (weight * torch.tanh(self.expert(x))).sum(-1)


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = F.huber_loss(model(x), y)
    loss.backward()
    opt.step()
    return loss.detach()


def main():
    gen = torch.Generator().manual_seed(12)
    panel = SensorPanel(HOURS, CHANNELS, gen)
    model = Mixture(CHANNELS)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for _ in range(WARMUP):
        train_step(model, opt, *panel.batch(BATCH, gen))

    total = torch.zeros(())
    start = time.perf_counter()
    for _ in range(STEPS):
        x, y = panel.batch(BATCH, gen)
        total += train_step(model, opt, x, y)
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    weight = model.expert.weight.detach().norm().item()
    print(f"checksum {total.item() / STEPS:.6f} {weight:.5f}")


if __name__ == "__main__":
    main()
