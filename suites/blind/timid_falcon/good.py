"""Transformer regression of remaining life from multichannel sensor windows."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

CHANNELS = 14
WINDOW = 640


class SensorBlock(nn.Module):
    def __init__(self, dim, heads, expansion=2):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(
            nn.Linear(dim, expansion * dim), nn.GELU(), nn.Linear(expansion * dim, dim)
        )

    def forward(self, x):
        h = self.norm1(x)
        a, _ = self.attn(h, h, h, need_weights=False)
        x = x + a
        return x + self.ff(self.norm2(x))


class LifeModel(nn.Module):
    def __init__(self, dim=64, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Linear(CHANNELS, dim)
        self.position = nn.Parameter(0.02 * torch.randn(WINDOW, dim))
        self.blocks = nn.ModuleList([SensorBlock(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 1)

    def forward(self, x):
        h = self.embed(x) + self.position
        for block in self.blocks:
            h = block(h)
        pooled = self.norm(h).mean(dim=1)
        return F.softplus(self.head(pooled)).squeeze(-1)


def make_windows(n, generator):
    """Degradation curves with noise; the label is the time left, scaled."""
    age = torch.rand(n, 1, 1, generator=generator)
    t = torch.linspace(0, 1, WINDOW).view(1, -1, 1)
    gain = torch.randn(1, 1, CHANNELS, generator=generator)
    trend = torch.exp(1.5 * (age + 0.2 * t)) * gain
    wave = torch.sin(40 * t * (1 + age)) * gain.flip(-1)
    noise = 0.2 * torch.randn(n, WINDOW, CHANNELS, generator=generator)
    x = trend + wave + noise
    x = (x - x.mean(dim=(0, 1))) / x.std(dim=(0, 1))
    return x, (1.0 - age.view(-1)) * 2


def train_step(model, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = F.huber_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(6)
    generator = torch.Generator().manual_seed(17)
    x, y = make_windows(48, generator)
    model = LifeModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
    size = 4
    batches = list(zip(x.split(size), y.split(size)))
    train_step(model, optimizer, *batches[0])

    n_steps = 44
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(train_step(model, optimizer, *batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    with torch.no_grad():
        prediction = model(batches[0][0])
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.5f} {prediction.sum().item():.5f}")


if __name__ == "__main__":
    main()
