"""Graph convolution that predicts congestion on the crossings of a road network."""
import time

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 160
SIDE = 100
NODES = SIDE * SIDE
FEATURES = 32
CLASSES = 4


def make_roads(generator):
    """A street grid with some random motorways, as a normalised sparse operator."""
    index = torch.arange(NODES).view(SIDE, SIDE)
    across = torch.stack([index[:, :-1].reshape(-1), index[:, 1:].reshape(-1)])
    down = torch.stack([index[:-1].reshape(-1), index[1:].reshape(-1)])
    far = torch.randint(0, NODES, (2, NODES // 4), generator=generator)
    edge = torch.cat([across, down, far], dim=1)
    loop = torch.arange(NODES).expand(2, -1)
    edge = torch.cat([edge, edge.flip(0), loop], dim=1)
    matrix = torch.sparse_coo_tensor(edge, torch.ones(edge.shape[1]), (NODES, NODES))
    matrix = matrix.coalesce()
    row, column = matrix.indices()
    degree = torch.zeros(NODES).index_add_(0, row, matrix.values())
    value = matrix.values() * (degree[row] * degree[column]).rsqrt()
    return torch.sparse_coo_tensor(matrix.indices(), value, (NODES, NODES)).to_sparse_csr()


def make_traffic(roads, generator):
    """Congestion spreads from random sources; sensors see a blurred mixture."""
    source = torch.randn(NODES, 6, generator=generator)
    for _ in range(3):
        source = torch.sparse.mm(roads, source)
    load = source.sum(1)
    level = torch.bucketize(load, torch.quantile(load, torch.tensor([0.25, 0.5, 0.75])))
    mixing = torch.randn(6, FEATURES, generator=generator)
    seen = 4.0 * source @ mixing + 0.5 * torch.randn(NODES, FEATURES, generator=generator)
    return seen, level


class RoadNet(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.first = nn.Linear(FEATURES, width)
        self.second = nn.Linear(width, width)
        self.third = nn.Linear(width, CLASSES)

    def forward(self, roads, spread):
        x = F.relu(self.first(spread))
        x = F.relu(self.second(torch.sparse.mm(roads, x)))
        return torch.sparse.mm(roads, self.third(x))


def train_step(model, optimizer, roads, spread, level, known):
    loss = F.cross_entropy(model(roads, spread)[known], level[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(38)
    generator = torch.Generator().manual_seed(39)
    roads = make_roads(generator)
    seen, level = make_traffic(roads, generator)
    spread = torch.sparse.mm(roads, seen)
    order = torch.randperm(NODES, generator=generator)
    known, hidden = order[: NODES // 2], order[NODES // 2:]
    model = RoadNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, fused=True)

    train_step(model, optimizer, roads, spread, level, known)
    start = time.perf_counter()
    total = torch.zeros(())
    for _ in range(STEPS):
        total += train_step(model, optimizer, roads, spread, level, known)
    elapsed = time.perf_counter() - start

    with torch.inference_mode():
        guess = model(roads, spread)[hidden].argmax(1)
        right = (guess == level[hidden]).float().mean()
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.4f} {right.item():.3f}")


if __name__ == "__main__":
    main()
