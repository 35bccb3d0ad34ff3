"""Churn prediction for a telephone company with a small multilayer perceptron.

The table has numeric columns (usage, age of the contract, ...) and two categorical ones (tariff and
region), which go through embeddings. The model is trained for one pass over the customers in
shuffled mini-batches.
"""
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, RandomSampler

torch.set_num_threads(1)

CUSTOMERS = 150_000
NUMERIC = 24
TARIFFS = 12
REGIONS = 40
BATCH = 256


def make_customers(seed=21):
    """Columns of the table; churn depends on usage, tariff and region."""
    rng = np.random.default_rng(seed)
    numeric = rng.lognormal(0.0, 0.6, (CUSTOMERS, NUMERIC)).astype(np.float32)
    tariff = rng.integers(0, TARIFFS, CUSTOMERS)
    region = rng.integers(0, REGIONS, CUSTOMERS)
    weight = rng.standard_normal(NUMERIC) / np.sqrt(NUMERIC)
    risk = rng.standard_normal(TARIFFS)[tariff] + 0.5 * rng.standard_normal(REGIONS)[region]
    score = (numeric - 1.2) @ weight + risk
    churn = rng.random(CUSTOMERS) < 1 / (1 + np.exp(-score))
    return numeric, np.stack([tariff, region], axis=1), churn.astype(np.float32)


class ChurnDataset(Dataset):
    """Rows of the customer table, with standardised numeric columns."""

    def __init__(self, numeric, categories, churn):
        numeric = (numeric - numeric.mean(axis=0)) / numeric.std(axis=0)
        self.numeric = torch.from_numpy(numeric)
        self.categories = torch.from_numpy(categories)
        self.churn = torch.from_numpy(churn)

    def __len__(self):
        return len(self.churn)

    def __getitem__(self, index):
        return self.numeric[index], self.categories[index], self.churn[index]


class ChurnModel(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.tariff = nn.Embedding(TARIFFS, 4)
        self.region = nn.Embedding(REGIONS, 8)
        self.layers = nn.Sequential(
            nn.Linear(NUMERIC + 12, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, numeric, categories):
        x = torch.cat(
            [numeric, self.tariff(categories[:, 0]), self.region(categories[:, 1])], dim=1
        )
        return self.layers(x).squeeze(1)


def make_loader(dataset):
    sampler = RandomSampler(dataset, generator=torch.Generator().manual_seed(6))
    return DataLoader(dataset, batch_size=BATCH, sampler=sampler, drop_last=True)


def train_step(model, optimizer, numeric, categories, churn):
    logits = model(numeric, categories)
    loss = F.binary_cross_entropy_with_logits(logits, churn)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    dataset = ChurnDataset(*make_customers())
    loader = make_loader(dataset)
    model = ChurnModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    losses = []
    for step, (numeric, categories, churn) in enumerate(loader):
        losses.append(train_step(model, optimizer, numeric, categories, churn))
        if step == 0:  # the first step is a warm-up
            start = time.perf_counter()
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{len(losses) - 1} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-50:].mean():.5f} {model.layers[-1].weight.norm():.5f}")


if __name__ == "__main__":
    main()
