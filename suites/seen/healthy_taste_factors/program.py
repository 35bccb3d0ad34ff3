"""Tastes of guests in a restaurant from the words of their reviews."""

import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

WORDS, WIDTH, GUESTS, REVIEWS, BATCH, LENGTH = 50_000, 64, 4, 24_000, 512, 60


class TasteModel(nn.Module):
    """Mean of the vectors of the words, then two layers."""

    def __init__(self):
        super().__init__()
        self.words = nn.EmbeddingBag(WORDS, WIDTH, mode="mean", sparse=True)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, GUESTS))

    def forward(self, words, offsets):
        return self.layers(self.words(words, offsets))


def make_reviews(generator):
    """Word numbers of all reviews in one row, where each of them begins, and its guest."""
    guests = torch.randint(GUESTS, (REVIEWS,), generator=generator)
    lengths = torch.randint(LENGTH // 2, LENGTH, (REVIEWS,), generator=generator)
    rare = torch.rand(int(lengths.sum()), generator=generator).square() * WORDS
    owner = guests.repeat_interleave(lengths)
    favorite = torch.rand(len(owner), generator=generator) < 0.15
    words = torch.where(favorite, owner * 500 + rare / WORDS * 500, rare).long()
    return words, lengths, guests


def make_batches(words, lengths, guests):
    rows = lengths.split(BATCH)
    texts = words.split([int(own.sum()) for own in rows])
    offsets = [own.cumsum(0) - own for own in rows]
    return list(zip(texts, offsets, guests.split(BATCH)))


def train_step(model, optimizers, words, offsets, guests):
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss = F.cross_entropy(model(words, offsets), guests)
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    batches = make_batches(*make_reviews(torch.Generator().manual_seed(1)))
    model = TasteModel()
    optimizers = [
        torch.optim.SGD(model.words.parameters(), lr=20.0),
        torch.optim.Adam(model.layers.parameters(), lr=2e-3),
    ]
    train_step(model, optimizers, *batches[0])
    start = time.perf_counter()
    losses = [train_step(model, optimizers, *batch) for _ in range(4) for batch in batches]
    print(f"{len(losses)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(torch.stack(losses[-20:]).mean()))


if __name__ == "__main__":
    main()
