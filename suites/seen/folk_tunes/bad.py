"""Continues folk tunes: a causal transformer over notes, trained on long excerpts."""

import time

import numpy as np
import torch
from torch import nn

NOTES = 64
WIDTH = 64
HEADS = 8
EXCERPT = 512
BATCH = 4


def make_tunes(seed, count):
    """Random walks on a scale with repeated phrases."""
    rng = np.random.default_rng(seed)
    phrase = np.cumsum(rng.integers(-2, 3, size=(count, 64)), axis=1)
    tune = np.tile(phrase, (1, EXCERPT // 64 + 1)) + rng.integers(0, 2, size=(count, 64 * (EXCERPT // 64 + 1)))
    return torch.from_numpy((tune % NOTES)[:, : EXCERPT + 1])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, mask):
        h = self.norm1(x)
        attended, _ = self.attention(h, h, h, attn_mask=mask, is_causal=True)
        x = x + attended
        return x + self.mlp(self.norm2(x))


class TuneModel(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.note = nn.Embedding(NOTES, WIDTH)
        self.place = nn.Embedding(EXCERPT, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(depth)])
        self.head = nn.Linear(WIDTH, NOTES)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(EXCERPT))
        self.register_buffer("index", torch.arange(EXCERPT))

    def forward(self, notes):
        x = self.note(notes) + self.place(self.index)
        for block in self.blocks:
            x = block(x, self.mask)
        return self.head(x)


def train_step(model, optimizer, tunes):
    optimizer.zero_grad(set_to_none=True)
    logits = model(tunes[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, NOTES), tunes[:, 1:].reshape(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tunes = make_tunes(0, 8 * BATCH).split(BATCH)
    model = TuneModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    train_step(model, optimizer, tunes[0])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, batch) for batch in tunes[1:]])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
