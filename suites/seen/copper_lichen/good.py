"""Semi-supervised node classification on a citation network with a two-layer GCN.

Papers cite a handful of other papers, mostly of their own field. The fields of a few papers are
known; the graph convolutional network (Kipf & Welling) learns to predict the rest from
bag-of-words features and the citations.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

PAPERS = 3000
FIELDS = 6
FEATURES = 128
STEPS = 30


def make_citations(seed=5):
    """Random graph with about five citations per paper, four of five within the same field."""
    generator = torch.Generator().manual_seed(seed)
    field = torch.randint(0, FIELDS, (PAPERS,), generator=generator).sort().values
    first = torch.searchsorted(field, torch.arange(FIELDS))
    size = torch.bincount(field, minlength=FIELDS)

    source = torch.arange(PAPERS).repeat_interleave(5)
    inside = torch.rand(len(source), generator=generator) < 0.8
    uniform = torch.rand(len(source), generator=generator)
    own = first[field[source]] + (uniform * size[field[source]]).long()
    anywhere = (uniform * PAPERS).long()
    target = torch.where(inside, own, anywhere)

    # undirected and without duplicates
    pairs = torch.cat([torch.stack([source, target]), torch.stack([target, source])], dim=1)
    pairs = torch.unique(pairs[:, pairs[0] != pairs[1]], dim=1)

    centre = torch.randn(FIELDS, FEATURES, generator=generator)
    x = 0.1 * centre[field] + torch.randn(PAPERS, FEATURES, generator=generator)
    return pairs, x, field


def normalized_adjacency(edge_index, n):
    """D^-1/2 (A + I) D^-1/2 of the citation graph."""
    loops = torch.arange(n).expand(2, n)
    row, col = torch.cat([edge_index, loops], dim=1)
    d = torch.bincount(row, minlength=n).float().rsqrt()
    adj = torch.sparse_coo_tensor(torch.stack([row, col]), d[row] * d[col], (n, n))
    return adj.coalesce()


class GraphConv(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.linear = nn.Linear(c_in, c_out, bias=False)
        self.bias = nn.Parameter(torch.zeros(c_out))

    def forward(self, x, adj):
        return torch.sparse.mm(adj, self.linear(x)) + self.bias


class GCN(nn.Module):
    def __init__(self, c_in, hidden, classes):
        super().__init__()
        self.conv1 = GraphConv(c_in, hidden)
        self.conv2 = GraphConv(hidden, classes)

    def forward(self, x, adj):
        return self.conv2(F.relu(self.conv1(x, adj)), adj)


def train_step(model, optimizer, x, adj, field, known):
    logits = model(x, adj)
    loss = F.cross_entropy(logits[known], field[known])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def accuracy(model, x, adj, field, known):
    hits = model(x, adj).argmax(dim=1) == field
    return hits[~known].float().mean()


def main():
    torch.manual_seed(0)
    edge_index, x, field = make_citations()
    adj = normalized_adjacency(edge_index, PAPERS)
    known = torch.rand(PAPERS, generator=torch.Generator().manual_seed(9)) < 0.1

    model = GCN(FEATURES, 64, FIELDS)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=5e-4)

    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        losses.append(train_step(model, optimizer, x, adj, field, known))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-1]:.5f} {accuracy(model, x, adj, field, known):.4f}")


if __name__ == "__main__":
    main()
