"""Ranking of market stalls for buyers: matrix factorisation with the pairwise (BPR) loss."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

BUYERS = 2000
STALLS = 5000
FACTORS = 32
BATCH = 768
STEPS = 120


def make_visits(generator):
    """Visits drawn from hidden tastes: (buyer, stall) pairs."""
    taste = torch.randn(BUYERS, 6, generator=generator)
    offer = torch.randn(STALLS, 6, generator=generator)
    noise = torch.randn(BUYERS, STALLS, generator=generator)
    liked = (taste @ offer.T + 2.0 * noise).topk(12, dim=1).indices
    buyer = torch.arange(BUYERS).repeat_interleave(liked.shape[1])
    return buyer, liked.reshape(-1)


class Factorisation(nn.Module):
    def __init__(self):
        super().__init__()
        self.buyer = nn.Parameter(0.1 * torch.randn(BUYERS, FACTORS))
        self.stall = nn.Parameter(0.1 * torch.randn(STALLS, FACTORS))
        self.popularity = nn.Parameter(torch.zeros(STALLS))

    def forward(self, buyer):
        """Scores of the stalls for each buyer of the batch."""
        return self.buyer[buyer] @ self.stall.T + self.popularity

    def pair_score(self, buyer, stall):
        """Score of one stall for each buyer."""
        return (self.buyer[buyer] * self.stall[stall]).sum(dim=1) + self.popularity[stall]


def pairwise_loss(model, buyer, visited, other):
    margin = model.pair_score(buyer, visited) - model.pair_score(buyer, other)
    shrink = model.buyer[buyer].pow(2).sum() + model.stall[visited].pow(2).sum()
    return -F.logsigmoid(margin).mean() + 1e-3 * shrink / len(buyer)


def train_step(model, optimizer, buyer, visited, other):
    loss = pairwise_loss(model, buyer, visited, other)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def hit_rate(model, buyer, visited, count=100):
    """Share of visits among the best stalls of a buyer, for a sample of buyers."""
    scores = model(buyer[:500])
    best = scores.topk(count, dim=1).indices
    return (best == visited[:500].unsqueeze(1)).any(dim=1).float().mean()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(23)
    generator = torch.Generator().manual_seed(60)
    buyer, visited = make_visits(generator)
    model = Factorisation()
    optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
    rows = torch.randint(len(buyer), (STEPS, BATCH), generator=generator)
    others = torch.randint(STALLS, (STEPS, BATCH), generator=generator)
    train_step(model, optimizer, buyer[rows[0]], visited[rows[0]], others[0])

    start = time.perf_counter()
    losses = [train_step(model, optimizer, buyer[r], visited[r], other) for r, other in zip(rows, others)]
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"hits {hit_rate(model, buyer, visited).item():.3f}")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
