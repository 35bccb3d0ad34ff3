"""Mixture-of-experts regression of building energy use, with a compiled training step.

A gating network mixes two expert networks for each building. The gate's softmax temperature is
annealed with the number of updates, from soft to sharp. The model goes through torch.compile;
we use the "aot_eager" backend because many of our machines have no C++ compiler.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

FEATURES = 20
EXPERTS = 2
WIDTH = 128
DEPTH = 1
BATCH = 256
STEPS = 24


class ExpertBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(FEATURES, WIDTH)
        self.blocks = nn.Sequential(*(ExpertBlock(WIDTH) for _ in range(DEPTH)))
        self.output = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.output(self.blocks(self.stem(x)))


class EnergyMixture(nn.Module):
    """Experts weighted by a gate whose temperature falls from 2.0 to 0.5."""

    def __init__(self, anneal_steps=100):
        super().__init__()
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))
        self.gate = nn.Linear(FEATURES, EXPERTS)
        self.anneal_steps = anneal_steps
        self.updates = 0

    def temperature(self):
        progress = self.updates / self.anneal_steps
        return 2.0 - 1.5 * progress

    def forward(self, x):
        if self.training:
            self.updates += 1
        weights = torch.softmax(self.gate(x) / self.temperature(), dim=1)
        answers = torch.cat([expert(x) for expert in self.experts], dim=1)
        return (weights * answers).sum(dim=1)


def make_buildings(n, seed=31):
    """Standardised features of buildings and their energy use (three regimes and noise)."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, FEATURES, generator=generator)
    slopes = torch.randn(3, FEATURES, generator=generator) / FEATURES**0.5
    regime = (x[:, 0] > 0.5).long() + (x[:, 1] > 0).long()
    y = (x * slopes[regime]).sum(dim=1) + 0.5 * torch.sin(2 * x[:, 2])
    return x, y + 0.1 * torch.randn(n, generator=generator)


def train_step(model, optimizer, x, y):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    x, y = make_buildings(BATCH * (STEPS + 1))
    model = EnergyMixture()
    compiled = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        rows = slice(step * BATCH, (step + 1) * BATCH)
        losses.append(train_step(compiled, optimizer, x[rows], y[rows]))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-8:].mean():.5f} {float(model.temperature()):.4f}")


if __name__ == "__main__":
    main()
