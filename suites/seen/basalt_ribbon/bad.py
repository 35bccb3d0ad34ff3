"""Physics-informed regression: fit the field of a heated plate to sensor readings."""
import time

import numpy as np
import torch
import torch.nn as nn

torch.set_num_threads(1)

SENSORS = 6000
BATCH = 1024
STEPS = 250
WARMUP = 5


class FourierFeatures(nn.Module):
    """Sines and cosines whose wave vectors are trained along."""

    def __init__(self, frequencies):
        super().__init__()
        self.freq = nn.Parameter(torch.as_tensor(frequencies))

    def forward(self, x):
        angle = x @ self.freq
        return torch.cat([torch.sin(angle), torch.cos(angle)], dim=-1)


class PlateField(nn.Module):
    def __init__(self, frequencies, width=256):
        super().__init__()
        self.features = FourierFeatures(frequencies)
        self.net = nn.Sequential(
            nn.Linear(2 * frequencies.shape[1], width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(self.features(x)).squeeze(-1)


def plate_temperature(xy):
    """Reference solution: three sources and a linear background."""
    sources = np.array([[0.2, 0.3, 1.0], [0.7, 0.6, -0.8], [0.5, 0.9, 0.6]])
    value = 0.3 * xy[:, 0] - 0.2 * xy[:, 1]
    for x, y, q in sources:
        r2 = (xy[:, 0] - x) ** 2 + (xy[:, 1] - y) ** 2
        value = value + q * np.exp(-r2 / 0.02)
    return value


def read_sensors(rng, count):
    xy = rng.uniform(0.0, 1.0, size=(count, 2))
    reading = plate_temperature(xy) + rng.normal(0.0, 0.02, size=count)
    return xy, reading


class Batches:
    def __init__(self, xy, reading, size, seed):
        self.xy = torch.from_numpy(xy)
        self.reading = torch.from_numpy(reading)
        self.size = size
        self.gen = torch.Generator().manual_seed(seed)

    def __call__(self):
        idx = torch.randint(0, len(self.xy), (self.size,), generator=self.gen)
        return self.xy[idx], self.reading[idx]


def make_model(rng):
    frequencies = rng.normal(0.0, 6.0, size=(2, 32))
    torch.manual_seed(14)
    return PlateField(frequencies).double()


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = (model(x) - y).square().mean()
    loss.backward()
    opt.step()
    return loss.detach()


def main():
    rng = np.random.default_rng(15)
    batches = Batches(*read_sensors(rng, SENSORS), BATCH, seed=16)
    model = make_model(rng)
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for _ in range(WARMUP):
        train_step(model, opt, *batches())

    losses = []
    start = time.perf_counter()
    for _ in range(STEPS):
        losses.append(train_step(model, opt, *batches()))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
