"""Small convolutional classifier on synthetic textures."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x):
        return F.relu(x + self.body(x), inplace=True)


class TextureNet(nn.Module):
    def __init__(self, n_classes, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, width, 5, stride=2, padding=2, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(2),
            Residual(width),
            nn.Conv2d(width, 2 * width, 3, stride=2, padding=1),
            nn.ReLU(inplace=True),
            Residual(2 * width),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(2 * width, n_classes),
        )

    def forward(self, x):
        return self.net(x)


def textures(n, size, n_classes, gen):
    """Oriented gratings, one frequency band per class."""
    labels = torch.randint(0, n_classes, (n,), generator=gen)
    axis = torch.linspace(0, 1, size)
    gy, gx = torch.meshgrid(axis, axis, indexing="ij")
    angle = torch.rand(n, 1, 1, generator=gen) * 3.1416
    freq = (6 + 5 * labels.float())[:, None, None]
    phase = torch.rand(n, 1, 1, generator=gen) * 6.28
    wave = torch.sin(freq * (gx * angle.cos() + gy * angle.sin()) + phase)
    images = wave[:, None] + 0.4 * torch.randn(n, 3, size, size, generator=gen)
    return images.contiguous(memory_format=torch.channels_last), labels


class Batches:
    """Keeps the data in memory and gathers one shuffled batch per request."""

    def __init__(self, images, labels, size, gen):
        self.images = images
        self.labels = labels
        self.size = size
        self.gen = gen

    def epoch(self):
        order = torch.randperm(len(self.labels), generator=self.gen)
        for idx in order.split(self.size):
            yield self.images[idx], self.labels[idx]


def train_epoch(model, optimizer, batches):
    losses = []
    for x, y in batches.epoch():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return losses


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    images, labels = textures(640, 64, 5, gen)
    batches = Batches(images, labels, 64, gen)
    model = TextureNet(5).to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, fused=True)
    model(images[:8])

    losses = []
    start = time.perf_counter()
    for epoch in range(4):
        epoch_losses = train_epoch(model, optimizer, batches)
        losses += epoch_losses
        print(f"epoch {epoch} loss {torch.stack(epoch_losses).mean().item():.4f}")
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
