"""A perceptron that waits for its data: each sample is made in Python, by the thread that trains.

    python mlp_loader.py [--steps 12] [--width 256] [--samples 64]
"""

from __future__ import annotations

import argparse
import math

import torch
from torch.utils.data import DataLoader, Dataset

FEATURES = 64


class Waves(Dataset):
    """Samples that cost Python time to make: one number after the other."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        values = [math.sin(0.01 * index * place) for place in range(FEATURES)]
        return torch.tensor(values), torch.tensor([values[-1]])


def main() -> None:
    """Train for a number of steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--samples", type=int, default=64, help="samples of a step")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(FEATURES, options.width), torch.nn.ReLU(), torch.nn.Linear(options.width, 1)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(Waves(options.steps * options.samples), batch_size=options.samples)
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
