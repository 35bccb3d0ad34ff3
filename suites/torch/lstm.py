"""Training steps of a recurrent cell that is called for one element of a sequence after the other.

    python lstm.py [--steps 8] [--length 40] [--width 32]
"""

from __future__ import annotations

import argparse

import torch
from torch import nn


class Reader(nn.Module):
    """An LSTM cell in a loop of Python."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(8, width)
        self.out = nn.Linear(width, 1)

    def forward(self, sequence: torch.Tensor) -> torch.Tensor:
        hidden = torch.zeros(sequence.shape[1], self.cell.hidden_size)
        memory = torch.zeros_like(hidden)
        for element in sequence:
            hidden, memory = self.cell(element, (hidden, memory))
        return self.out(hidden)


def main() -> None:
    """Train for a number of steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--length", type=int, default=40)
    parser.add_argument("--width", type=int, default=32)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Reader(options.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    sequence, targets = torch.randn(options.length, 8, 8), torch.randn(8, 1)
    for _ in range(options.steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(sequence), targets)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
