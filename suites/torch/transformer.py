"""Training steps of a small transformer, written with its operators one by one: normalization and GELU by hand.

    python transformer.py [--steps 8] [--layers 2]
"""

from __future__ import annotations

import argparse
import math

import torch
from torch import nn

WORDS, WIDTH, LENGTH = 256, 128, 128


def normalized(x: torch.Tensor) -> torch.Tensor:
    """What a fused norm does in one pass over memory, in six."""
    mean = x.mean(-1, keepdim=True)
    centered = x - mean
    return centered / torch.sqrt((centered * centered).mean(-1, keepdim=True) + 1e-5)


def gelu(x: torch.Tensor) -> torch.Tensor:
    """GELU by its formula."""
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)))


class Block(nn.Module):
    """Attention, then a perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.queries, self.joined = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.wider, self.narrower = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.queries(normalized(x)).reshape(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.joined(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrower(gelu(self.wider(normalized(x))))


class Transformer(nn.Module):
    """Predicts each next word."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Block() for _ in range(layers))

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        x = self.words(words)
        for layer in self.layers:
            x = layer(x)
        return normalized(x) @ self.words.weight.T


def main() -> None:
    """Train for a number of steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Transformer(options.layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    words = torch.randint(0, WORDS, (4, LENGTH + 1))
    for _ in range(options.steps):
        optimizer.zero_grad()
        scores = model(words[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
