"""Regresses the ellipticity of made-up galaxies from small postage stamps."""

import time

import numpy as np
import torch
from torch import nn


def stamps(count, size=24, seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[-1 : 1 : size * 1j, -1 : 1 : size * 1j]
    shape = rng.uniform(-0.4, 0.4, (count, 2))
    e1, e2 = shape[:, 0, None, None], shape[:, 1, None, None]
    r2 = (1 - e1) * x**2 + (1 + e1) * y**2 - 2 * e2 * x * y
    images = np.exp(-r2 / 0.15) + 0.02 * rng.normal(size=(count, size, size))
    return images[:, None], shape


class ShapeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(24, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )  # fmt: skip
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(48 * 36, 96), nn.ReLU(), nn.Linear(96, 2))

    def forward(self, x):
        return self.head(self.features(x))


def main():
    torch.manual_seed(0)
    images, shapes = (torch.from_numpy(a).float() for a in stamps(1024))
    model = ShapeNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.MSELoss()

    def step(i):
        at = torch.arange(64) + 64 * (i % 16)
        optimizer.zero_grad()
        loss = loss_fn(model(images[at]), shapes[at])
        loss.backward()
        optimizer.step()
        return loss

    step(0)
    steps = 30
    start = time.perf_counter()
    for i in range(1, steps + 1):
        loss = step(i)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    with torch.no_grad():
        print("checksum", float(loss_fn(model(images[:256]), shapes[:256])))


if __name__ == "__main__":
    main()
