"""Node classification on a citation-like graph with a two-layer GraphSAGE network."""
import os
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(10)

NODES = 12_000
EDGES = 48_000
CLASSES = 8
DIM = 64
EPOCHS = 100
WARMUP = 5
SNAPSHOT = 5


def community_graph(gen):
    """Random graph whose edges stay inside a community most of the time."""
    label = torch.randint(0, CLASSES, (NODES,), generator=gen)
    order = label.argsort()
    rank = torch.empty_like(order)
    rank[order] = torch.arange(NODES)
    src = torch.randint(0, NODES, (EDGES,), generator=gen)
    offset = torch.randint(-400, 401, (EDGES,), generator=gen)
    dst = order[(rank[src] + offset) % NODES]
    both = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    return both[:, both[1].argsort()], label


class SAGELayer(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.neighbour = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edges, inv_degree):
        message = self.neighbour(x)
        total = torch.zeros_like(message).index_add_(0, edges[1], message.index_select(0, edges[0]))
        return self.own(x) + total * inv_degree


class GraphNet(nn.Module):
    def __init__(self, nodes, dim, classes):
        super().__init__()
        self.feature = nn.Parameter(0.1 * torch.randn(nodes, dim))
        self.first = SAGELayer(dim, 24)
        self.second = SAGELayer(24, classes)

    def embed(self, edges, inv_degree):
        return F.relu(self.first(self.feature, edges, inv_degree))

    def forward(self, edges, inv_degree):
        return self.second(self.embed(edges, inv_degree), edges, inv_degree)


class Trainer:
    def __init__(self, model, folder):
        self.model = model
        self.opt = torch.optim.Adam(model.parameters(), lr=5e-3, fused=True)
        self.folder = folder
        self.epoch = 0

    def snapshot_path(self, epoch):
        return os.path.join(self.folder, f"embedding_{epoch:04d}.txt")

    def snapshot(self, edges, inv_degree):
        """Keeps the hidden features so that their path can be plotted after the run."""
        with torch.no_grad():
            hidden = self.model.embed(edges, inv_degree)
        np.savetxt(self.snapshot_path(self.epoch), hidden.numpy())

    def train_epoch(self, edges, inv_degree, label, mask):
        self.opt.zero_grad()
        logits = self.model(edges, inv_degree)
        loss = F.cross_entropy(logits[mask], label[mask])
        loss.backward()
        self.opt.step()
        self.epoch += 1
        return loss.detach()

    def fit(self, graph, epochs):
        losses = []
        for _ in range(epochs):
            losses.append(self.train_epoch(*graph))
            if self.epoch % SNAPSHOT == 0:
                self.snapshot(*graph[:2])
        return torch.stack(losses)


def main():
    gen = torch.Generator().manual_seed(21)
    edges, label = community_graph(gen)
    degree = torch.bincount(edges[1], minlength=NODES).clamp(min=1)
    inv_degree = (1.0 / degree).unsqueeze(-1)
    mask = (torch.rand(NODES, generator=gen) < 0.3).nonzero().squeeze(-1)
    graph = (edges, inv_degree, label, mask)

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(GraphNet(NODES, DIM, CLASSES), folder)
        trainer.fit(graph, WARMUP)
        start = time.perf_counter()
        losses = trainer.fit(graph, EPOCHS)
        elapsed = time.perf_counter() - start
        print(f"{EPOCHS} steps in {elapsed:.2f} s")
        path = [np.loadtxt(trainer.snapshot_path(e)) for e in (WARMUP, WARMUP + EPOCHS)]
        travelled = np.linalg.norm(path[1] - path[0], axis=1).mean()

    with torch.inference_mode():
        pred = trainer.model(edges, inv_degree).argmax(-1)
    accuracy = (pred == label).float().mean().item()
    print(f"checksum {losses.mean().item():.5f} {losses[-1].item():.5f} {accuracy:.4f} {travelled:.4f}")


if __name__ == "__main__":
    main()
