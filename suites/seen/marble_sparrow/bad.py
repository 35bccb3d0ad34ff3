"""Pairwise ranking recommender trained on implicit feedback."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import BatchSampler, DataLoader, Dataset, RandomSampler


class Interactions(Dataset):
    """Zipf-distributed user/item pairs; items are sampled uniformly as negatives."""

    def __init__(self, n_users, n_items, n_pairs, seed=0):
        gen = torch.Generator().manual_seed(seed)
        u = torch.rand(n_pairs, generator=gen)
        self.users = torch.randint(0, n_users, (n_pairs,), generator=gen)
        self.items = (n_items ** u).long().clamp_(max=n_items - 1)
        self.n_items = n_items
        self.gen = gen

    def __len__(self):
        return self.users.numel()

    def __getitem__(self, index):
        index = torch.as_tensor(index)
        negatives = torch.randint(0, self.n_items, index.shape, generator=self.gen)
        return self.users[index], self.items[index], negatives


class Scorer(nn.Module):
    def __init__(self, n_users, n_items, width):
        super().__init__()
        self.user = nn.Embedding(n_users, width)
        self.item = nn.Embedding(n_items, width)
        self.mix = nn.Sequential(
            nn.Linear(2 * width, 192), nn.ReLU(), nn.Linear(192, 96), nn.ReLU(), nn.Linear(96, 1)
        )
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)

    def forward(self, users, items):
        u, i = self.user(users), self.item(items)
        deep = self.mix(torch.cat([u * i, u - i], dim=-1)).squeeze(-1)
        return (u * i).sum(-1) + deep


def bpr_loss(positive, negative):
    return -F.logsigmoid(positive - negative).mean()


def train(model, loader, optimizer, steps):
    losses = []
    batches = iter(loader)
    for _ in range(steps):
        users, liked, negatives = next(batches)
        optimizer.zero_grad()
        loss = bpr_loss(model(users, liked), model(users, negatives))
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(12)
    n_users, n_items = 250_000, 60_000
    data = Interactions(n_users, n_items, 1_000_000)
    sampler = BatchSampler(
        RandomSampler(data, generator=torch.Generator().manual_seed(1)), 2048, drop_last=True
    )
    loader = DataLoader(data, sampler=sampler, batch_size=None)
    model = Scorer(n_users, n_items, 48)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    train(model, loader, optimizer, 3)

    steps = 90
    start = time.perf_counter()
    losses = train(model, loader, optimizer, steps)
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-10:].mean().item():.6f}")


if __name__ == "__main__":
    main()
