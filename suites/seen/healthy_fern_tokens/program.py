"""Grows ferns as strings: a small causal transformer on the words of an L-system."""

import math
import time

import torch
import torch.nn.functional as F
from torch import nn

LETTERS = "FX+-[]"
LENGTH = 96
WIDTH = 96
HEADS = 4
BATCH = 8
STEPS = 50
RULES = {"X": "F+[[X]-X]-F[-FX]+X", "F": "FF"}


def grow(word="X", generations=5):
    for _ in range(generations):
        word = "".join(RULES.get(letter, letter) for letter in word)
    return torch.tensor([LETTERS.index(letter) for letter in word])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class FernModel(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(LETTERS))

    def forward(self, letters):
        return self.head(self.norm(self.blocks(self.letters(letters) + self.places)))


def make_optimizer(model):
    """Weight decay for matrices only."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=2e-3)


def train_step(model, optimizer, letters):
    optimizer.zero_grad(set_to_none=True)
    logits = model(letters[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), letters[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(2)
    windows = grow().unfold(0, LENGTH + 1, 1)
    model = FernModel()
    optimizer = make_optimizer(model)
    train_step(model, optimizer, windows[:BATCH])

    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        rows = torch.randint(len(windows), (BATCH,), generator=generator)
        losses.append(train_step(model, optimizer, windows[rows]))
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item() / math.log(len(LETTERS)):.5f} {losses[-10:].mean().item():.5f}")


if __name__ == "__main__":
    main()
