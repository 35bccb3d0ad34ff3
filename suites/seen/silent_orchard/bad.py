"""Density estimation of daily returns with a coupling-layer flow."""
import math
import time

import torch
import torch.nn as nn
from torch.distributions import Normal, StudentT


class Coupling(nn.Module):
    def __init__(self, dim, hidden, flip):
        super().__init__()
        self.flip = flip
        self.half = dim // 2
        self.net = nn.Sequential(
            nn.Linear(self.half, hidden), nn.Tanh(),
            nn.Linear(hidden, hidden), nn.Tanh(),
            nn.Linear(hidden, 2 * self.half),
        )

    def forward(self, x):
        a, b = x.split(self.half, dim=-1)
        if self.flip:
            a, b = b, a
        shift, scale = self.net(a).chunk(2, dim=-1)
        scale = 2.0 * torch.tanh(scale / 2.0)
        b = (b - shift) * torch.exp(-scale)
        out = torch.cat([b, a] if self.flip else [a, b], dim=-1)
        return out, -scale.sum(-1)


class Flow(nn.Module):
    def __init__(self, dim, hidden, depth):
        super().__init__()
        self.dim = dim
        self.layers = nn.ModuleList(
            Coupling(dim, hidden, flip=bool(i % 2)) for i in range(depth)
        )
        self.base = Normal(0.0, 1.0, validate_args=False)

    def log_prob(self, x):
        total = 0.0
        for layer in self.layers:
            x, log_det = layer(x)
            total = total + log_det
        return total + self.base.log_prob(x).sum(-1)


def synthetic_returns(n, dim):
    factor = StudentT(torch.tensor(4.0)).sample((n, 2))
    loading = torch.randn(2, dim) * 0.6
    noise = torch.randn(n, dim) * 0.4
    x = factor @ loading + noise
    return (x - x.mean(0)) / x.std(0)


class Trainer:
    def __init__(self, flow, data, lr=1e-3, batch=128):
        self.flow = flow
        self.data = data
        self.batch = batch
        self.optimizer = torch.optim.Adam(flow.parameters(), lr=lr, fused=True)
        self.gen = torch.Generator().manual_seed(11)

    def step(self):
        idx = torch.randint(0, len(self.data), (self.batch,), generator=self.gen)
        self.optimizer.zero_grad()
        loss = -self.flow.log_prob(self.data[idx]).mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    torch.autograd.set_detect_anomaly(True)
    data = synthetic_returns(20000, 12)
    flow = Flow(dim=12, hidden=64, depth=8)
    trainer = Trainer(flow, data)
    for _ in range(5):
        trainer.step()

    steps = 300
    losses = []
    start = time.perf_counter()
    for _ in range(steps):
        losses.append(trainer.step())
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
