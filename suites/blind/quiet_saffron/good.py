"""Two-tower recommender with sampled negatives, trained with plain SGD."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

N_USERS = 60_000
N_ITEMS = 50_000
DIM = 40


class Tower(nn.Module):
    def __init__(self, n_rows, dim, hidden):
        super().__init__()
        self.table = nn.Embedding(n_rows, dim, sparse=True)
        nn.init.normal_(self.table.weight, std=0.1)
        self.mlp = nn.Sequential(
            nn.Linear(dim, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, dim),
        )

    def forward(self, ids):
        e = self.table(ids)
        return F.normalize(e + self.mlp(e), dim=-1)


class TwoTower(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.users = Tower(N_USERS, DIM, 128)
        self.items = Tower(N_ITEMS, DIM, 128)
        self.temperature = temperature

    def forward(self, users, items):
        u = self.users(users)
        v = self.items(items)
        return u @ v.T / self.temperature


class Clicks:
    """Synthetic interactions; popularity follows a power law."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.users = torch.randint(0, N_USERS, (n,), generator=g)
        skew = torch.rand(n, generator=g) ** 3
        self.items = ((self.users * 7 + (skew * N_ITEMS).long()) % N_ITEMS)
        self.generator = g

    def batches(self, size):
        while True:
            order = torch.randperm(self.users.numel(), generator=self.generator)
            for part in order.split(size):
                if part.numel() == size:
                    yield self.users[part], self.items[part]


def train_step(model, optimizer, users, items):
    logits = model(users, items)
    target = torch.arange(users.numel())
    loss = F.cross_entropy(logits, target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def recall_at(model, users, items, k=10):
    scores = model(users, items)
    top = scores.topk(k, dim=-1).indices
    return (top == torch.arange(users.numel())[:, None]).any(-1).float().mean()


def main():
    torch.manual_seed(0)
    model = TwoTower()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    stream = Clicks(400_000, seed=1).batches(320)
    for _ in range(5):
        train_step(model, optimizer, *next(stream))

    n_steps = 900
    losses = []
    start = time.perf_counter()
    for _ in range(n_steps):
        losses.append(train_step(model, optimizer, *next(stream)))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    recall = recall_at(model, *next(stream))
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(
        f"checksum {losses.sum().item():.4f} {losses[-20:].mean().item():.6f} "
        f"{model.users.table.weight.abs().sum().item():.2f} {recall.item() + 1:.3f}"
    )


if __name__ == "__main__":
    main()
