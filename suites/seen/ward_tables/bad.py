"""Predicts how long patients stay, from tables of a hospital, by a residual network."""

import time

import numpy as np
import torch
from torch import nn


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def build(features, width=192, depth=4):
    return nn.Sequential(nn.Linear(features, width), *[Residual(width) for _ in range(depth)], nn.Linear(width, 1))


def patients(count=4096, features=60):
    rng = np.random.default_rng(11)
    age = rng.uniform(1, 95, size=(count, 1))
    labs = rng.normal(size=(count, features - 1))
    stay = 2 + 0.05 * age[:, 0] + np.abs(labs[:, 0] * labs[:, 1]) + 0.1 * rng.normal(size=count)
    table = np.concatenate([age, labs], axis=1)
    return (table - table.mean(axis=0)) / table.std(axis=0), np.log(stay)


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(2)
    table, stay = patients()
    x, y = torch.from_numpy(table), torch.from_numpy(stay)
    model = build(x.shape[1]).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step(i):
        at = slice(256 * (i % 16), 256 * (i % 16) + 256)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[at]).squeeze(-1), y[at])
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(0)
    steps = 64
    start = time.perf_counter()
    losses = [step(i) for i in range(1, steps + 1)]
    mean = torch.stack(losses).mean().item()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", mean)


if __name__ == "__main__":
    main()
