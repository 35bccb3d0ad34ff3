"""Forecast of ledger entries by a small transformer that looks back one short window."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

LENGTH = 1024
WINDOW = 32
WIDTH = 64
HEADS = 4
LAYERS = 2
BATCH = 2
STEPS = 24


def make_ledgers(batch, generator):
    """Daily amounts with a weekly rhythm, a drift, and jumps."""
    day = torch.arange(LENGTH + 1, dtype=torch.float32)
    phase = 2 * math.pi * torch.rand(batch, 1, generator=generator)
    weekly = torch.sin(2 * math.pi * day / 7 + phase)
    jumps = (torch.rand(batch, LENGTH + 1, generator=generator) < 0.02).float().cumsum(dim=1)
    noise = 0.1 * torch.randn(batch, LENGTH + 1, generator=generator)
    return (weekly + 0.3 * torch.sin(jumps) + noise).unsqueeze(-1)


class WindowAttention(nn.Module):
    """Every position attends to itself and the WINDOW - 1 positions before it."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        row = torch.arange(LENGTH).unsqueeze(1)
        column = torch.arange(LENGTH)
        self.register_buffer("visible", (column <= row) & (column > row - WINDOW))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=self.visible)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = WindowAttention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(1, WIDTH)
        self.place = nn.Parameter(0.1 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.leave = nn.Linear(WIDTH, 1)

    def forward(self, amounts):
        return self.leave(self.blocks(self.enter(amounts) + self.place))


def train_step(model, optimizer, ledgers):
    loss = F.mse_loss(model(ledgers[:, :-1]), ledgers[:, 1:])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(6)
    model = Forecaster()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = [make_ledgers(BATCH, generator) for _ in range(STEPS)]
    train_step(model, optimizer, data[0])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, ledgers) for ledgers in data])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
