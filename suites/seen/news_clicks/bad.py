"""Click prediction on news: hashed words of the headline against the reader's history."""

import time

import numpy as np
import torch
from torch import nn

VOCABULARY = 300_000
WIDTH = 32
BATCH = 512
WORDS = 12


class ClickLog:
    """Impressions with words that follow a Zipf law; clicks depend on a few topics."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.taste = self.rng.normal(size=VOCABULARY).astype(np.float32)

    def words(self, count):
        rank = self.rng.zipf(1.3, size=(count, WORDS))
        return np.minimum(rank, VOCABULARY) - 1

    def batch(self):
        headline, history = self.words(BATCH), self.words(BATCH)
        score = self.taste[headline].mean(axis=1) * self.taste[history].mean(axis=1) * 4.0
        clicked = self.rng.random(BATCH) < 1.0 / (1.0 + np.exp(-score))
        return (
            torch.from_numpy(headline),
            torch.from_numpy(history),
            torch.from_numpy(clicked.astype(np.float32)),
        )


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.headline = nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean")
        self.history = nn.EmbeddingBag(VOCABULARY, WIDTH, mode="mean")
        self.head = nn.Sequential(nn.Linear(3 * WIDTH, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, headline, history):
        left, right = self.headline(headline), self.history(history)
        return self.head(torch.cat([left, right, left * right], dim=-1)).squeeze(-1)


def train(model, optimizer, batches):
    loss_fn = nn.BCEWithLogitsLoss()
    losses = []
    for headline, history, clicked in batches:
        optimizer.zero_grad()
        loss = loss_fn(model(headline, history), clicked)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    log = ClickLog(3)
    model = ClickModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    train(model, optimizer, [log.batch()])

    batches = [log.batch() for _ in range(80)]
    start = time.perf_counter()
    mean_loss = train(model, optimizer, batches)
    print(f"{len(batches)} steps in {time.perf_counter() - start:.3f} s")
    with torch.no_grad():
        headline, history, _ = batches[0]
        score = model(headline, history).mean().item()
        weight = model.headline.weight[:200].norm().item()
    print(f"checksum {mean_loss:.5f} {score:.5f} {weight:.4f}")


if __name__ == "__main__":
    main()
