"""Water levels of a canal network, forecast with a recurrent net."""

import time

import numpy as np
import torch
from torch import nn

GAUGES = 12
PAST = 96
AHEAD = 12
BATCH = 64


def levels(seed, hours):
    rng = np.random.default_rng(seed)
    hour = np.arange(hours)[:, None]
    tide = np.sin(2 * np.pi * hour / 12.4 + rng.uniform(0, 6, GAUGES))
    day = 0.5 * np.sin(2 * np.pi * hour / 24.0 + rng.uniform(0, 6, GAUGES))
    rain = np.zeros((hours, GAUGES))
    for i in range(1, hours):
        rain[i] = 0.95 * rain[i - 1] + 0.1 * rng.normal(size=GAUGES)
    return torch.from_numpy((tide + day + rain).astype(np.float32))


class LevelModel(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.memory = nn.LSTM(GAUGES, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, AHEAD * GAUGES)

    def forward(self, past):
        _, (hidden, _) = self.memory(past)
        return self.head(hidden[-1]).view(-1, AHEAD, GAUGES)


class Windows:
    """All windows of the record as views; a batch is one gather."""

    def __init__(self, record):
        self.windows = record.unfold(0, PAST + AHEAD, 1).transpose(1, 2)

    def batches(self, seed, count):
        generator = torch.Generator().manual_seed(seed)
        rows = torch.randperm(len(self.windows), generator=generator)[: count * BATCH]
        for part in rows.split(BATCH):
            chosen = self.windows[part]
            yield chosen[:, :PAST].contiguous(), chosen[:, PAST:]


def train_step(model, optimizer, past, future):
    loss = nn.functional.mse_loss(model(past), future)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    windows = Windows(levels(2, 6000))
    model = LevelModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)
    for past, future in windows.batches(0, 1):
        train_step(model, optimizer, past, future)

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, *batch) for batch in windows.batches(1, 35)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-5:].mean().item():.4f}")


if __name__ == "__main__":
    main()
