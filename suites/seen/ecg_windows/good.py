"""Finds irregular heart beats in windows of long ECG recordings."""

import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler

WINDOW = 64
BATCH = 512
COUNT = 40_000


class BeatWindows(Dataset):
    """Windows around the beats of one recording, with the label of each beat."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        axis = np.linspace(-1.0, 1.0, WINDOW)
        self.labels = torch.from_numpy(rng.integers(0, 3, COUNT))
        width = np.array([0.05, 0.12, 0.2])[self.labels.numpy()][:, None]
        shape = np.exp(-((axis - 0.1 * rng.normal(size=(COUNT, 1))) ** 2) / (2 * width**2))
        self.windows = torch.from_numpy((shape + 0.3 * rng.normal(size=shape.shape)).astype(np.float32))
        self.baseline = self.windows.mean(dim=1)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        window = self.windows[index] - self.baseline[index].unsqueeze(-1)
        return window, self.labels[index]


def make_loader(dataset, seed):
    order = RandomSampler(dataset, generator=torch.Generator().manual_seed(seed))
    return DataLoader(dataset, batch_size=None, sampler=BatchSampler(order, BATCH, drop_last=False))


class BeatNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(WINDOW, 96),
            nn.ReLU(),
            nn.Linear(96, 96),
            nn.ReLU(),
            nn.Linear(96, 3),
        )

    def forward(self, window):
        return self.layers(window)


def train_epoch(model, optimizer, loader):
    loss_fn = nn.CrossEntropyLoss()
    losses = []
    for window, label in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(window), label)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    dataset = BeatWindows(2)
    model = BeatNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = make_loader(dataset, 5)

    start = time.perf_counter()
    losses = torch.cat([train_epoch(model, optimizer, loader) for _ in range(5)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
