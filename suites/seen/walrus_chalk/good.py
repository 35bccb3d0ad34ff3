"""Next-purchase recommendation with sampled softmax over a large catalogue."""
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)


class PurchaseLog:
    """Synthetic baskets: every shopper sticks to one corner of the catalogue."""

    def __init__(self, shoppers, items, corners, generator):
        self.generator = generator
        self.items = items
        self.span = items // corners
        self.home = torch.randint(0, corners, (shoppers,), generator=generator)
        self.skew = 1.5

    def batch(self, size, history):
        shopper = torch.randint(0, len(self.home), (size,), generator=self.generator)
        draw = torch.rand(size, history + 1, generator=self.generator) ** self.skew
        items = (self.home[shopper][:, None] * self.span + draw * self.span).long()
        return shopper, items[:, :-1], items[:, -1]

    def negatives(self, count):
        return torch.randint(0, self.items, (count,), generator=self.generator)


class NextPurchase(nn.Module):
    def __init__(self, shoppers, items, width):
        super().__init__()
        self.shopper = nn.Embedding(shoppers, width, sparse=True)
        self.bought = nn.EmbeddingBag(items, width, mode="mean", sparse=True)
        self.target = nn.Embedding(items, width, sparse=True)
        for table in (self.shopper, self.bought, self.target):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, shopper, history, candidates):
        query = self.shopper(shopper) + self.bought(history)
        return query @ self.target(candidates).T


def sampled_loss(model, shopper, history, bought, negatives):
    candidates = torch.cat([bought, negatives])
    scores = model(shopper, history, candidates)
    size = len(bought)
    clash = candidates[None, :] == bought[:, None]
    clash[torch.arange(size), torch.arange(size)] = False
    return F.cross_entropy(scores.masked_fill(clash, -1e9), torch.arange(size))


def train(model, optimizer, log, steps, batch_size, history, negatives):
    losses = []
    for _ in range(steps):
        shopper, past, bought = log.batch(batch_size, history)
        loss = sampled_loss(model, shopper, past, bought, log.negatives(negatives))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@torch.no_grad()
def hit_rate(model, log, queries, history, negatives):
    shopper, past, bought = log.batch(queries, history)
    candidates = torch.cat([bought, log.negatives(negatives)])
    scores = model(shopper, past, candidates)
    own = scores.diagonal()[:, None]
    return ((scores > own).sum(1) < 10).float().mean()


def main(steps=170, shoppers=30000, items=60000, width=32):
    torch.manual_seed(81)
    generator = torch.Generator().manual_seed(82)
    log = PurchaseLog(shoppers, items, 40, generator)
    model = NextPurchase(shoppers, items, width)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)

    train(model, optimizer, log, 1, 128, 20, 256)
    begin = time.perf_counter()
    losses = train(model, optimizer, log, steps, 128, 20, 256)
    elapsed = time.perf_counter() - begin

    rate = hit_rate(model, log, 512, 20, 256)
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}, hit rate {rate:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    weight = sum(p.detach().double().square().sum() for p in model.parameters())
    print(f"checksum {losses.sum():.5f} {weight:.4f}")


if __name__ == "__main__":
    main()
