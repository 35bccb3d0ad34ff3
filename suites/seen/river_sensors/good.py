"""Fills gaps in long records of river gauges with a transformer of linear attention."""

import time

import torch
import torch.nn.functional as F
from torch import nn

LENGTH = 1024
GAUGES = 8
WIDTH = 64
HEADS = 4
BATCH = 2


def feature_map(x):
    """Positive features in place of the softmax (Katharopoulos et al., 2020)."""
    return F.elu(x) + 1.0


class LinearAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        qkv = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q, k = feature_map(q), feature_map(k)
        summary = k.transpose(-2, -1) @ v
        norm = q @ k.sum(dim=-2).unsqueeze(-1)
        mixed = (q @ summary) / norm
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = LinearAttention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class GapFiller(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.embed = nn.Linear(2 * GAUGES, WIDTH)
        self.position = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, GAUGES)

    def forward(self, levels, known):
        x = self.embed(torch.cat([levels * known, known], dim=-1)) + self.position
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def make_records(generator):
    """Smooth levels: noise passed through a running mean."""
    noise = torch.randn(40, GAUGES, LENGTH + 24, generator=generator)
    return 4.0 * F.avg_pool1d(noise, 25, stride=1).transpose(1, 2).contiguous()


def train_step(model, optimizer, levels, known):
    optimizer.zero_grad(set_to_none=True)
    error = (model(levels, known) - levels) ** 2
    loss = (error * (1.0 - known)).sum() / (1.0 - known).sum()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(5)
    records = make_records(generator)
    model = GapFiller()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train_step(model, optimizer, records[:BATCH], torch.zeros_like(records[:BATCH]))

    start = time.perf_counter()
    losses = []
    for _ in range(20):
        levels = records[torch.randint(len(records), (BATCH,), generator=generator)]
        known = (torch.rand(levels.shape, generator=generator) < 0.7).float()
        losses.append(train_step(model, optimizer, levels, known))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-10:].mean().item():.5f}")


if __name__ == "__main__":
    main()
