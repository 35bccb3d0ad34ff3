"""A surrogate for a wave tank: the height at a probe from the settings of the paddles."""

import time

import numpy as np
import torch
from torch import nn

PADDLES = 12
RUNS = 6000
BATCH = 256
EPOCHS = 5


def run_tank(rng):
    """Results of the tank, as they come out of NumPy."""
    settings = rng.uniform(-1.0, 1.0, size=(RUNS, PADDLES))
    mixing = rng.normal(size=(PADDLES, 3))
    drive = np.tanh(settings @ mixing / PADDLES**0.5)
    height = np.sin(3.0 * drive[:, 0]) * drive[:, 1] + 0.5 * drive[:, 2] ** 2
    return settings, height + 0.02 * rng.normal(size=RUNS)


def standardise(values):
    return (values - values.mean(axis=0)) / values.std(axis=0)


class TankNet(nn.Module):
    def __init__(self, width=256):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(PADDLES, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 1),
        )

    def forward(self, settings):
        return self.layers(settings).squeeze(-1)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.loss_fn = nn.MSELoss()

    def step(self, settings, height):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(settings), height)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def epoch(self, settings, height, generator):
        order = torch.randperm(len(settings), generator=generator)
        return [self.step(settings[rows], height[rows]) for rows in order.split(BATCH)]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    settings, height = run_tank(np.random.default_rng(10))
    settings = torch.from_numpy(standardise(settings)).float()
    height = torch.from_numpy(standardise(height)).float()
    trainer = Trainer(TankNet())
    generator = torch.Generator().manual_seed(6)

    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        losses += trainer.epoch(settings, height, generator)
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
