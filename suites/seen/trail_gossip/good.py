"""Which huts along hiking trails share a gossip: node classification on a sparse graph."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

HUTS = 3000
LINKS = 4
FEATURES = 24
HIDDEN = 32
CLASSES = 5
STEPS = 24


def make_trails(generator):
    """Huts on a map, each linked with huts close to it; classes are regions."""
    place = torch.rand(HUTS, 2, generator=generator)
    order = torch.cdist(place, place).topk(LINKS + 1, largest=False).indices[:, 1:]
    source = torch.arange(HUTS).repeat_interleave(LINKS)
    edges = torch.stack([source, order.reshape(-1)])
    edges = torch.unique(torch.cat([edges, edges.flip(0)], dim=1), dim=1)
    region = (place[:, 0] * 2).long() * 2 + (place[:, 1] * 2).long()
    region[(place - 0.5).norm(dim=1) < 0.25] = CLASSES - 1
    centre = torch.randn(CLASSES, FEATURES, generator=generator)
    features = centre[region] + 2.0 * torch.randn(HUTS, FEATURES, generator=generator)
    return features, edges, region


def normalised_adjacency(edges, count):
    """D^-1/2 (A + I) D^-1/2 of the graph: target, source and weight of each edge."""
    own = torch.arange(count)
    target = torch.cat([edges[0], own])
    source = torch.cat([edges[1], own])
    scale = torch.bincount(target, minlength=count).float().rsqrt()
    return target, source, (scale[target] * scale[source]).unsqueeze(1)


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        target, source, weight = adjacency
        message = weight * self.linear(x).index_select(0, source)
        return torch.zeros(len(x), message.shape[1]).index_add(0, target, message)


class GossipNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GraphConv(FEATURES, HIDDEN)
        self.second = GraphConv(HIDDEN, HIDDEN)
        self.third = GraphConv(HIDDEN, CLASSES)

    def forward(self, x, adjacency):
        x = F.relu(self.first(x, adjacency))
        x = x + F.relu(self.second(x, adjacency))
        return self.third(x, adjacency)


def train_step(model, optimizer, features, adjacency, region, known):
    logits = model(features, adjacency)
    loss = F.cross_entropy(logits[known], region[known])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(19)
    generator = torch.Generator().manual_seed(50)
    features, edges, region = make_trails(generator)
    adjacency = normalised_adjacency(edges, HUTS)
    known = torch.randperm(HUTS, generator=generator)[:300]
    model = GossipNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    train_step(model, optimizer, features, adjacency, region, known)

    start = time.perf_counter()
    losses = [train_step(model, optimizer, features, adjacency, region, known) for _ in range(STEPS)]
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
