"""Two-tower recommender for a music shop: listeners and tracks meet in one space."""
import time

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 500
LISTENERS = 200_000
TRACKS = 120_000
WIDTH = 32
BATCH = 512
NEGATIVES = 4
GENRES = 24


class Tower(nn.Module):
    """An identity table followed by a small projection."""

    def __init__(self, rows, side):
        super().__init__()
        self.identity = nn.Embedding(rows, WIDTH)
        nn.init.normal_(self.identity.weight, std=0.1)
        self.project = nn.Sequential(
            nn.Linear(WIDTH + side, 128), nn.ReLU(),
            nn.Linear(128, WIDTH),
        )

    def forward(self, index, extra):
        return self.project(torch.cat([self.identity(index), extra], dim=-1))


class Shop(nn.Module):
    def __init__(self):
        super().__init__()
        self.listener = Tower(LISTENERS, 4)
        self.track = Tower(TRACKS, GENRES)

    def forward(self, listener, profile, track, genre):
        who = self.listener(listener, profile)
        what = self.track(track, genre)
        return torch.einsum("bd,bnd->bn", who, what)


class Sales:
    """Synthetic listening events with a popularity tail."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)
        self.profile = torch.rand(LISTENERS, 4, generator=self.generator)
        kind = torch.randint(0, GENRES, (TRACKS,), generator=self.generator)
        self.genre = F.one_hot(kind, GENRES).float()

    def popular(self, *shape):
        uniform = torch.rand(*shape, generator=self.generator)
        return (uniform.pow(2.5) * TRACKS).long().clamp_(max=TRACKS - 1)

    def draw(self):
        listener = torch.randint(0, LISTENERS, (BATCH,), generator=self.generator)
        heard = (listener * 7919 % TRACKS)[:, None]
        others = self.popular(BATCH, NEGATIVES)
        track = torch.cat([heard, others], dim=1)
        return listener, self.profile[listener], track, self.genre[track]


def train_step(model, optimizer, event):
    score = model(*event)
    target = torch.zeros(BATCH, dtype=torch.long)
    loss = F.cross_entropy(score, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    sales = Sales(12)
    model = Shop()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    train_step(model, optimizer, sales.draw())
    start = time.perf_counter()
    total = torch.zeros(())
    for _ in range(STEPS):
        total += train_step(model, optimizer, sales.draw())
    elapsed = time.perf_counter() - start

    table = model.track.identity.weight.detach()
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {table.abs().mean().item():.5f} {table[:200].norm().item():.4f}")


if __name__ == "__main__":
    main()
