"""Semi-supervised node labels: a residual graph network with a cached sparse operator."""
import time
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
warnings.filterwarnings("ignore", message="Sparse CSR tensor support")

N_NODES = 6000
N_BLOCKS = 8


def block_graph(generator):
    """Stochastic block model with a few edges per node, both directions kept."""
    label = torch.randint(0, N_BLOCKS, (N_NODES,), generator=generator)
    order = torch.argsort(label)
    rank = torch.empty_like(order)
    rank[order] = torch.arange(N_NODES)
    src = torch.arange(N_NODES).repeat_interleave(6)
    jump = torch.randint(-200, 201, src.shape, generator=generator)
    dst = order[(rank[src] + jump).remainder(N_NODES)]
    edges = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    return torch.unique(edges, dim=1), label


def normalised_operator(edges):
    loops = torch.arange(N_NODES).expand(2, -1)
    index = torch.cat([edges, loops], dim=1)
    degree = torch.bincount(index[0], minlength=N_NODES).float()
    value = (degree[index[0]] * degree[index[1]]).rsqrt()
    return torch.sparse_coo_tensor(index, value, (N_NODES, N_NODES)).coalesce().to_sparse_csr()


class Propagate(torch.autograd.Function):
    """The operator is symmetric, so its backward is the same product."""

    @staticmethod
    def forward(ctx, operator, x):
        ctx.operator = operator
        return operator @ x

    @staticmethod
    def backward(ctx, grad):
        return None, ctx.operator @ grad.contiguous()


class ResidualGCN(nn.Module):
    def __init__(self, n_in, hidden, depth):
        super().__init__()
        self.inp = nn.Linear(n_in, hidden)
        self.lins = nn.ModuleList([nn.Linear(hidden, hidden) for _ in range(depth)])
        self.out = nn.Linear(hidden, N_BLOCKS)

    def forward(self, x, operator):
        h = F.relu(self.inp(x))
        for lin in self.lins:
            h = h + F.relu(lin(Propagate.apply(operator, h)))
        return self.out(h)


def train_step(model, optimizer, x, operator, label, train_index):
    logits = model(x, operator)
    loss = F.cross_entropy(logits[train_index], label[train_index])
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(6)
    edges, label = block_graph(generator)
    operator = normalised_operator(edges)
    prototypes = torch.randn(N_BLOCKS, 64, generator=generator)
    x = prototypes[label] + 3.0 * torch.randn(N_NODES, 64, generator=generator)
    train_index = torch.randperm(N_NODES, generator=generator)[:3000]

    model = ResidualGCN(64, 96, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=5e-4, fused=True)
    train_step(model, optimizer, x, operator, label, train_index)

    n_steps = 130
    losses = []
    start = time.perf_counter()
    for _ in range(n_steps):
        losses.append(train_step(model, optimizer, x, operator, label, train_index))
    elapsed = time.perf_counter() - start

    with torch.inference_mode():
        hit = (model(x, operator).argmax(-1) == label).float().mean()
    losses = torch.stack(losses)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.4f} {hit.item():.3f}")


if __name__ == "__main__":
    main()
