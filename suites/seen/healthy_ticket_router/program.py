"""Routes support tickets to teams: a transformer encoder over batches of similar length."""

import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

VOCABULARY = 3000
TEAMS = 6
WIDTH = 96
HEADS = 4
BATCH = 32


def tickets(seed, count):
    rng = np.random.default_rng(seed)
    lengths = np.sort(np.clip(rng.lognormal(3.8, 0.4, count).astype(int), 8, 160))
    teams = rng.integers(0, TEAMS, count)
    texts = []
    for length, team in zip(lengths, teams):
        words = rng.integers(1, VOCABULARY, length)
        own = 1 + team * 40 + rng.integers(0, 40, length)
        texts.append(torch.from_numpy(np.where(rng.random(length) < 0.2, own, words)))
    return texts, torch.from_numpy(teams)


def bucketed(texts, teams, seed):
    """Batches of neighbours in length, in random order."""
    firsts = np.random.default_rng(seed).permutation(np.arange(0, len(texts), BATCH))
    for first in firsts:
        part = slice(first, first + BATCH)
        yield pad_sequence(texts[part], batch_first=True), teams[part]


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 3 * WIDTH), nn.GELU(), nn.Linear(3 * WIDTH, WIDTH))

    def forward(self, x, keep):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=keep[:, None, None, :])
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Router(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, TEAMS)

    def forward(self, tokens):
        keep = tokens != 0
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, keep)
        x = x.masked_fill(~keep[..., None], 0.0)
        return self.head(x.sum(dim=1) / keep.sum(dim=1, keepdim=True))


def train_step(model, optimizer, tokens, teams):
    loss = F.cross_entropy(model(tokens), teams)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    texts, teams = tickets(0, 40 * BATCH)
    model = Router()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    train_step(model, optimizer, *next(bucketed(texts, teams, 9)))

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, *batch) for batch in bucketed(texts, teams, 1)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-8:].mean().item():.4f}")


if __name__ == "__main__":
    main()
