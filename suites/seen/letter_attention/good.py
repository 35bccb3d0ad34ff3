"""A small causal language model of letters, trained on a made-up text."""

import time

import torch
from torch import nn
from torch.nn import functional as F

LETTERS, LENGTH, WIDTH, HEADS = 40, 768, 128, 4


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(LETTERS, WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, LETTERS)

    def forward(self, letters):
        return self.head(self.blocks(self.embed(letters) + self.place[: letters.shape[1]]))


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(0)
    text = (torch.arange(60_000) * torch.arange(60_000) // 7) % LETTERS
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def step(i):
        rows = torch.stack([text[1500 * i + 37 * j :][: LENGTH + 1] for j in range(2)])
        optimizer.zero_grad()
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(0)
    steps = 12
    start = time.perf_counter()
    losses = torch.stack([step(i) for i in range(1, steps + 1)])
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", losses.mean().item())


if __name__ == "__main__":
    main()
