"""Traffic forecasting with a graph whose edges are learned from node embeddings."""
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)


class LearnedGraph(nn.Module):
    """Symmetric adjacency from node embeddings, with self loops, normalised by degree."""

    def __init__(self, nodes, width):
        super().__init__()
        self.embedding = nn.Parameter(torch.randn(nodes, width) / width**0.5)

    def forward(self):
        affinity = F.relu(torch.tanh(self.embedding @ self.embedding.T))
        adjacency = affinity + torch.eye(len(affinity))
        degree = adjacency.sum(1)
        root = degree.rsqrt()
        return root[:, None] * adjacency * root


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs, hops=2):
        super().__init__()
        self.hops = hops
        self.mix = nn.Linear((hops + 1) * inputs, outputs)

    def forward(self, adjacency, x):
        batch, nodes, channels = x.shape
        stack = [x]
        for _ in range(self.hops):
            stack.append(torch.matmul(adjacency, stack[-1]))
        return self.mix(torch.cat(stack, dim=-1))


class Forecaster(nn.Module):
    def __init__(self, nodes, history, horizon, width=12, hidden=16):
        super().__init__()
        self.graph = LearnedGraph(nodes, width)
        self.first = GraphConv(history, hidden)
        self.second = GraphConv(hidden, hidden)
        self.readout = nn.Linear(hidden + history, horizon)

    def forward(self, speeds):
        adjacency = self.graph()
        hidden = F.relu(self.first(adjacency, speeds))
        hidden = F.relu(self.second(adjacency, hidden))
        return self.readout(torch.cat([hidden, speeds], dim=-1))


class RoadNetwork:
    """Congestion waves that travel along a ring road with a few shortcuts."""

    def __init__(self, nodes, steps, generator):
        position = torch.rand(nodes, generator=generator).sort().values
        ticks = torch.arange(steps) / 24.0
        waves = 0.0
        for harmonic in (1, 2, 3):
            offset = torch.rand(1, generator=generator)
            waves = waves + torch.sin(
                6.2832 * (harmonic * (position - 0.3 * ticks[:, None]) + offset)
            )
        noise = 0.1 * torch.randn(steps, nodes, generator=generator)
        self.speeds = waves / 3.0 + noise

    def windows(self, history, horizon):
        return self.speeds.unfold(0, history + horizon, 1)


def train_step(model, optimizer, window, history):
    past, future = window[..., :history], window[..., history:]
    loss = F.l1_loss(model(past), future)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main(steps=50, nodes=640, history=12, horizon=3, batch_size=4):
    torch.manual_seed(111)
    generator = torch.Generator().manual_seed(112)
    network = RoadNetwork(nodes, 400, generator)
    windows = network.windows(history, horizon)
    model = Forecaster(nodes, history, horizon)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    train_step(model, optimizer, windows[:batch_size], history)
    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        rows = torch.randint(0, len(windows), (batch_size,), generator=generator)
        losses.append(train_step(model, optimizer, windows[rows], history))
    elapsed = time.perf_counter() - begin

    losses = torch.stack(losses)
    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"error {losses[0]:.4f} -> {losses[-1]:.4f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum():.5f} {weight:.4f}")


if __name__ == "__main__":
    main()
