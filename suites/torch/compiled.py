"""A function under `torch.compile` that breaks its graph at a print and is compiled again for each new length.

    python compiled.py [--steps 12] [--width 256] [--fixed]
"""

from __future__ import annotations

import argparse

import torch
from torch import nn


class Model(nn.Module):
    """A perceptron with a report in its middle."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.wider, self.narrower = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, scale: float, report: bool) -> torch.Tensor:
        wide = torch.nn.functional.gelu(self.wider(x)) * scale
        if report:
            print("norm", wide.norm().item())
        return self.narrower(wide)


def main() -> None:
    """Run for a number of steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--fixed", action="store_true", help="no graph break and no recompilation")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model(options.width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    step = torch.compile(model)
    for number in range(options.steps):
        x = torch.randn(64, options.width)
        optimizer.zero_grad()
        loss = step(x, 1.0 if options.fixed else 1.0 + number % 4, not options.fixed).square().mean()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
