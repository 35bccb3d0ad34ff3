"""Predicts the passengers of trams from the hours before, with data of a loader."""

import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TramDataset(Dataset):
    """Windows of the counts at all stops, and the counts of the hour that follows."""

    def __init__(self, counts, window=24):
        self.counts = torch.from_numpy(counts)
        self.window = window

    def __len__(self):
        return len(self.counts) - self.window

    def __getitem__(self, i):
        return self.counts[i : i + self.window].flatten(), self.counts[i + self.window]


def passengers(hours=1200, stops=12):
    rng = np.random.default_rng(0)
    t = np.arange(hours)[:, None]
    daily = 1.0 + np.sin(2 * np.pi * (t / 24 + rng.random(stops)))
    return (daily + 0.1 * rng.normal(size=(hours, stops))).astype(np.float32)


def train_epoch(model, optimizer, loader):
    losses = []
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean()


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(0)
    loader = DataLoader(TramDataset(passengers()), batch_size=64, num_workers=2)
    model = nn.Sequential(nn.Linear(24 * 12, 128), nn.ReLU(), nn.Linear(128, 12))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    train_epoch(model, optimizer, loader)
    steps = 12
    start = time.perf_counter()
    for _ in range(steps):
        loss = train_epoch(model, optimizer, loader)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", loss.item())


if __name__ == "__main__":
    main()
