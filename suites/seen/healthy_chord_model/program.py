"""A small transformer that learns which chord follows which."""

import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

CHORDS, LENGTH, WIDTH, HEADS, BATCH, STEPS = 96, 96, 128, 4, 32, 14


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project, self.merge = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.project(self.before(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind()
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.merge(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.feed(self.between(x))


class ChordModel(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.chords = nn.Embedding(CHORDS, WIDTH)
        self.places = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*(Block() for _ in range(depth)), nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, CHORDS)

    def forward(self, songs):
        return self.head(self.blocks(self.chords(songs) + self.places))


def make_songs(generator, count):
    """Songs that walk around the circle of fifths, with surprises."""
    leaps = torch.tensor([7, 5, 12, 1])[torch.randint(4, (count, LENGTH + 1), generator=generator)]
    return leaps.cumsum(dim=1) % CHORDS


def train_step(model, optimizer, songs):
    optimizer.zero_grad()
    scores = model(songs[:, :-1])
    loss = F.cross_entropy(scores.flatten(0, 1), songs[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    batches = make_songs(torch.Generator().manual_seed(1), BATCH * (STEPS + 1)).split(BATCH)
    model = ChordModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train_step(model, optimizer, batches[0])
    start = time.perf_counter()
    losses = [train_step(model, optimizer, songs) for songs in batches[1:]]
    print(f"{len(losses)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(torch.stack(losses).mean()))


if __name__ == "__main__":
    main()
