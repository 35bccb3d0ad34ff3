"""Matrix factorisation with Bayesian personalised ranking on an implicit-feedback log."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(2)

USERS = 60_000
ITEMS = 90_000
DIM = 32
BATCH = 1024
STEPS = 950
WARMUP = 5


class InteractionLog:
    """Positive (user, item) pairs from a popularity-skewed process."""

    def __init__(self, n, gen):
        self.user = torch.randint(0, USERS, (n,), generator=gen)
        skew = torch.rand(n, generator=gen) ** 3
        self.item = (skew * ITEMS).long().clamp(max=ITEMS - 1)
        self.gen = gen

    def sample(self, batch):
        idx = torch.randint(0, len(self.user), (batch,), generator=self.gen)
        negative = torch.randint(0, ITEMS, (batch,), generator=self.gen)
        return self.user[idx], self.item[idx], negative


class Factorisation(nn.Module):
    def __init__(self, users, items, dim):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.bias = nn.Embedding(items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, user, item):
        dot = (self.user(user) * self.item(item)).sum(-1)
        return dot + self.bias(item).squeeze(-1)

    def forward(self, user, positive, negative):
        return self.score(user, positive) - self.score(user, negative)


def train_step(model, opt, user, positive, negative):
    opt.zero_grad()
    margin = model(user, positive, negative)
    loss = -F.logsigmoid(margin).sum() / 64.0
    loss.backward()
    opt.step()
    return loss.detach()


@torch.no_grad()
def ranking_accuracy(model, log, rounds=10):
    hits = 0.0
    for _ in range(rounds):
        hits += (model(*log.sample(4096)) > 0).float().mean().item()
    return hits / rounds


def main():
    gen = torch.Generator().manual_seed(8)
    log = InteractionLog(500_000, gen)
    model = Factorisation(USERS, ITEMS, DIM)
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(WARMUP):
        train_step(model, opt, *log.sample(BATCH))

    total = torch.zeros(())
    start = time.perf_counter()
    for _ in range(STEPS):
        total += train_step(model, opt, *log.sample(BATCH))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    norm = model.item.weight.detach().norm().item()
    print(f"checksum {total.item() / STEPS:.5f} {norm:.4f} {ranking_accuracy(model, log):.4f}")


if __name__ == "__main__":
    main()
