"""Training steps of a small convolutional network: nearly all time is in convolutions.

    python cnn.py [--steps 10] [--channels 24]
"""

from __future__ import annotations

import argparse

import torch
from torch import nn


def network(channels: int) -> nn.Module:
    """Three convolutions and a classifier."""
    return nn.Sequential(
        nn.Conv2d(3, channels, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(channels, channels, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(channels, 2 * channels, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * channels, 10),
    )


def main() -> None:
    """Train for a number of steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--channels", type=int, default=24)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = network(options.channels)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    images, labels = torch.randn(8, 3, 48, 48), torch.randint(0, 10, (8,))
    for _ in range(options.steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
