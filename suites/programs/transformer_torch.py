"""Training steps of a small transformer in PyTorch: what `transformer_jax.py` does, eager or compiled.

    python transformer_torch.py --steps 10
    python transformer_torch.py --steps 10 --compile
"""

from __future__ import annotations

import argparse
import time

import torch
from torch import nn
from torch.nn import functional

WORDS = 1024
HEAD = 64


class Block(nn.Module):
    """One layer: causal attention, then a perceptron."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width, bias=False), nn.LayerNorm(width, bias=False)
        self.queries, self.joined = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.wider, self.narrower = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.queries(self.norm_1(x)).reshape(batch, length, 3, width // HEAD, HEAD).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
        x = x + self.joined(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrower(functional.gelu(self.wider(self.norm_2(x)), approximate="tanh"))


class Transformer(nn.Module):
    """Predicts each next token."""

    def __init__(self, layers: int, width: int, length: int) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.places = nn.Parameter(0.02 * torch.randn(length, width))
        self.layers = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.words(tokens) + self.places
        for layer in self.layers:
            x = layer(x)
        return self.norm(x) @ self.words.weight.T


def train_step(model: nn.Module, optimizer: torch.optim.Optimizer, tokens: torch.Tensor) -> torch.Tensor:
    """One step of Adam; the loss is the mean cross entropy of each next token."""
    optimizer.zero_grad()
    with torch.autocast(tokens.device.type, dtype=torch.bfloat16):
        scores = model(tokens[:, :-1])
    loss = functional.cross_entropy(scores.float().flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss


def main() -> None:
    """Train, and say how fast."""
    parser = argparse.ArgumentParser(description="Training steps of a small transformer in PyTorch")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512, help="a multiple of 64")
    parser.add_argument("--length", type=int, default=512, help="tokens of a row")
    parser.add_argument("--batch", type=int, default=16, help="rows of a step")
    parser.add_argument("--compile", action="store_true", help="compile the model with torch.compile")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.manual_seed(0)
    plain = Transformer(options.layers, options.width, options.length).to(options.device)
    model = torch.compile(plain) if options.compile else plain
    optimizer = torch.optim.Adam(plain.parameters(), lr=1e-3, betas=(0.9, 0.95))
    for number in range(options.steps):
        half = torch.randint(0, WORDS, (options.batch, options.length // 2 + 1))
        tokens = torch.cat([half, half], dim=1)[:, : options.length + 1].to(options.device)
        begun = time.perf_counter()
        value = train_step(model, optimizer, tokens).item()
        seconds = time.perf_counter() - begun
        print(f"step {number}: {seconds * 1e3:.3f} ms, loss {value:.4f}", flush=True)


if __name__ == "__main__":
    main()
