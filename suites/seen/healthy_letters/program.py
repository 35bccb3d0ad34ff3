"""A small causal language model of letters, trained on a made-up text."""

import time

import torch
from torch import nn
from torch.nn import functional as F

LETTERS, LENGTH, WIDTH, HEADS, BATCH = 64, 128, 192, 6, 8


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.embed, self.place = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, LETTERS)

    def forward(self, letters):
        x = self.embed(letters) + self.place.weight[: letters.shape[1]]
        return self.head(self.norm(self.blocks(x)))


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(0)
    text = (torch.arange(200_000) * torch.arange(200_000) // 7) % LETTERS
    windows = text.unfold(0, LENGTH + 1, LENGTH)
    order = torch.randperm(len(windows))
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def step(i):
        rows = windows[order[BATCH * i : BATCH * (i + 1)]]
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(0)
    steps = 16
    start = time.perf_counter()
    losses = torch.stack([step(i) for i in range(1, steps + 1)])
    mean = losses.mean().item()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", mean)


if __name__ == "__main__":
    main()
