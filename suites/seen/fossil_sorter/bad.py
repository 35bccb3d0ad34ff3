"""Sorts fossil shells by the Fourier descriptors of their outlines."""

import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, RandomSampler

POINTS = 256
HARMONICS = 24
COUNT = 192
BATCH = 32
KINDS = 4


class Outlines(Dataset):
    """Outlines as complex numbers along the rim, turned into descriptors on the way out."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        self.kinds = rng.integers(0, KINDS, COUNT)
        angle = np.linspace(0.0, 2 * np.pi, POINTS, endpoint=False)
        lobes = (self.kinds + 2)[:, None]
        radius = 1.0 + 0.2 * np.cos(lobes * angle) + 0.05 * rng.normal(size=(COUNT, POINTS))
        turned = angle + rng.uniform(0, 2 * np.pi, size=(COUNT, 1))
        self.outlines = radius * np.exp(1j * turned)

    def __len__(self):
        return COUNT

    def __getitem__(self, index):
        outline = self.outlines[index]
        outline = outline - outline.mean()
        spectrum = np.abs(np.fft.fft(outline)) / POINTS
        scale = spectrum[1] + 1e-9
        low = np.concatenate([spectrum[2 : HARMONICS + 2], spectrum[-HARMONICS:]]) / scale
        return torch.from_numpy(np.log(low + 1e-3).astype(np.float32)), int(self.kinds[index])


def make_loader(dataset, seed):
    order = RandomSampler(dataset, generator=torch.Generator().manual_seed(seed))
    return DataLoader(dataset, batch_size=BATCH, sampler=order, num_workers=1)


def make_model():
    return nn.Sequential(
        nn.Linear(2 * HARMONICS, 64),
        nn.ReLU(),
        nn.Linear(64, 64),
        nn.ReLU(),
        nn.Linear(64, KINDS),
    )


def train_epoch(model, optimizer, loader):
    loss_fn = nn.CrossEntropyLoss()
    losses = []
    for descriptors, kinds in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(descriptors), kinds)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = make_loader(Outlines(6), 1)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    train_epoch(model, optimizer, loader)

    start = time.perf_counter()
    losses = torch.cat([train_epoch(model, optimizer, loader) for _ in range(30)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-30:].mean().item():.5f}")


if __name__ == "__main__":
    main()
