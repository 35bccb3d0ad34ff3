"""Graph convolution for traffic speed on a road network."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


def road_network(n, generator):
    """Random geometric graph: every junction is linked with its nearest ones."""
    xy = torch.rand(n, 2, generator=generator)
    near = torch.cdist(xy, xy).topk(9, largest=False).indices[:, 1:]
    src = torch.arange(n).repeat_interleave(near.shape[1])
    dst = near.reshape(-1)
    edges = torch.stack([torch.cat([src, dst]), torch.cat([dst, src])])
    edges = torch.unique(edges, dim=1)
    length = (xy[edges[0]] - xy[edges[1]]).norm(dim=-1)
    order = torch.randperm(edges.shape[1], generator=generator)
    return edges[:, order], torch.exp(-10 * length[order])


def propagation_matrix(edges, weight, n):
    loop = torch.arange(n)
    index = torch.cat([edges, loop.expand(2, n)], dim=1)
    value = torch.cat([weight, torch.ones(n)])
    degree = torch.zeros(n).scatter_add_(0, index[0], value)
    inv = degree.rsqrt()
    value = inv[index[0]] * value * inv[index[1]]
    adj = torch.sparse_coo_tensor(index, value, (n, n)).coalesce()
    return adj.to_sparse_csr()


class GraphConv(nn.Module):
    """Symmetrically normalised convolution with self loops."""

    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out)

    def forward(self, x, adj):
        return adj @ self.lin(x)


class TrafficNet(nn.Module):
    def __init__(self, history, hidden, horizon, depth=4):
        super().__init__()
        sizes = [history] + [hidden] * depth
        self.convs = nn.ModuleList([GraphConv(a, b) for a, b in zip(sizes, sizes[1:])])
        self.head = nn.Linear(hidden, horizon)

    def forward(self, x, adj):
        for conv in self.convs:
            x = F.elu(conv(x, adj))
        return self.head(x)


class Forecaster:
    """Rolling forecasts on standardised windows."""

    def __init__(self, model, edges, weight, n):
        self.model = model.eval()
        self.adj = propagation_matrix(edges, weight, n)

    @torch.inference_mode()
    def __call__(self, window):
        mean = window.mean(dim=1, keepdim=True)
        std = window.std(dim=1, keepdim=True) + 1e-3
        out = self.model((window - mean) / std, self.adj)
        return out * std + mean


def traffic(n, t, generator):
    base = 30 + 20 * torch.rand(n, 1, generator=generator)
    phase = torch.rand(n, 1, generator=generator)
    time_axis = torch.arange(t) / 48.0
    rush = torch.sin(2 * torch.pi * (time_axis + phase))
    return base * (1 + 0.3 * rush) + torch.randn(n, t, generator=generator)


def main():
    torch.manual_seed(20)
    generator = torch.Generator().manual_seed(14)
    n, history, horizon = 4000, 24, 6
    edges, weight = road_network(n, generator)
    speeds = traffic(n, 700, generator)
    forecast = Forecaster(TrafficNet(history, 48, horizon), edges, weight, n)
    forecast(speeds[:, :history])

    n_steps = 600
    error, total = 0.0, 0.0
    start = time.perf_counter()
    for t in range(n_steps):
        out = forecast(speeds[:, t:t + history])
        truth = speeds[:, t + history:t + history + horizon]
        error += (out - truth).abs().mean()
        total += out.sum() / n
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {error.item():.4f} {total.item():.3f}")


if __name__ == "__main__":
    main()
