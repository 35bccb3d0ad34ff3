"""Which books readers borrow, as a factorization with a vector for each of them."""

import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset

torch.set_num_threads(1)

READERS, BOOKS, WIDTH, BATCH, STEPS = 300_000, 120_000, 32, 1024, 60


class Loans(IterableDataset):
    """An endless stream of batches: reader, book, and a book that was not borrowed."""

    def __iter__(self):
        generator = torch.Generator().manual_seed(4)
        while True:
            readers = torch.randint(READERS, (BATCH,), generator=generator)
            borrowed = (readers // 3 + torch.randint(50, (BATCH,), generator=generator)) % BOOKS
            other = torch.randint(BOOKS, (BATCH,), generator=generator)
            yield readers, borrowed, other


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.readers = nn.Embedding(READERS, WIDTH)
        self.books = nn.Embedding(BOOKS, WIDTH)
        self.appeal = nn.Embedding(BOOKS, 1)
        nn.init.normal_(self.readers.weight, std=0.1)
        nn.init.normal_(self.books.weight, std=0.1)
        nn.init.zeros_(self.appeal.weight)

    def score(self, readers, books):
        match = (self.readers(readers) * self.books(books)).sum(dim=1)
        return match + self.appeal(books).squeeze(1)

    def forward(self, readers, borrowed, other):
        return self.score(readers, borrowed) - self.score(readers, other)


def train_step(model, optimizer, readers, borrowed, other):
    """One update by Bayesian personalized ranking."""
    optimizer.zero_grad()
    loss = -F.logsigmoid(model(readers, borrowed, other)).sum() / 16.0
    loss.backward()
    optimizer.step()
    return loss.detach() * 16.0 / BATCH


def main():
    torch.manual_seed(0)
    model = Factors()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    stream = iter(DataLoader(Loans(), batch_size=None))
    train_step(model, optimizer, *next(stream))
    start = time.perf_counter()
    losses = [train_step(model, optimizer, *next(stream)) for _ in range(STEPS)]
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(torch.stack(losses).mean()), float(model.books.weight.norm()))


if __name__ == "__main__":
    main()
