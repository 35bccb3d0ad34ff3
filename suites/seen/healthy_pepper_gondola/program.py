"""Sparse variational Gaussian process for a noisy ocean-temperature surface."""
import math
import time

import torch
from torch import nn
from torch.nn.functional import softplus

torch.set_num_threads(1)


class SquaredExponential(nn.Module):
    def __init__(self, dimensions, scale=0.4):
        super().__init__()
        self.raw_scale = nn.Parameter(torch.full((dimensions,), math.log(math.expm1(scale))))
        self.raw_variance = nn.Parameter(torch.tensor(0.5))

    @property
    def variance(self):
        return softplus(self.raw_variance)

    def forward(self, a, b):
        scale = softplus(self.raw_scale)
        a, b = a / scale, b / scale
        squared = a.square().sum(1)[:, None] + b.square().sum(1) - 2.0 * a @ b.T
        return self.variance * torch.exp(-0.5 * squared.clamp(min=0.0))


class SparseGP(nn.Module):
    """Whitened variational posterior at inducing points, Gaussian likelihood."""

    def __init__(self, inducing, jitter=1e-5):
        super().__init__()
        count, dimensions = inducing.shape
        self.kernel = SquaredExponential(dimensions)
        self.inducing = nn.Parameter(inducing.clone())
        self.mean = nn.Parameter(torch.zeros(count))
        self.factor = nn.Parameter(torch.eye(count))
        self.raw_noise = nn.Parameter(torch.tensor(-1.0))
        self.register_buffer("jitter", jitter * torch.eye(count))

    @property
    def noise(self):
        return softplus(self.raw_noise) + 1e-4

    def posterior(self, x):
        root = torch.linalg.cholesky(self.kernel(self.inducing, self.inducing) + self.jitter)
        cross = self.kernel(self.inducing, x)
        projected = torch.linalg.solve_triangular(root, cross, upper=False)
        mean = self.mean @ projected
        spread = self.factor.tril().T @ projected
        variance = self.kernel.variance - projected.square().sum(0) + spread.square().sum(0)
        return mean, variance.clamp(min=1e-8)

    def divergence(self):
        factor = self.factor.tril()
        log_determinant = factor.diagonal().abs().log().sum()
        quadratic = factor.square().sum() + self.mean.square().sum()
        return 0.5 * (quadratic - len(self.mean)) - log_determinant

    def loss(self, x, y, total):
        mean, variance = self.posterior(x)
        fit = ((y - mean).square() + variance) / self.noise + self.noise.log()
        return 0.5 * fit.mean() + self.divergence() / total


def ocean(count, generator):
    x = 2.0 * torch.rand(count, 2, generator=generator, dtype=torch.float64) - 1.0
    east, north = x.unbind(1)
    clean = torch.sin(4.0 * east + torch.cos(3.0 * north)) - 0.8 * north
    noise = 0.2 * torch.randn(count, generator=generator, dtype=torch.float64)
    return x, clean, clean + noise


def main(steps=350, count=20000, inducing=128, batch_size=512):
    generator = torch.Generator().manual_seed(45)
    x, clean, y = ocean(count, generator)
    model = SparseGP(x[torch.randperm(count, generator=generator)[:inducing]]).double()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)

    history = []
    begin = time.perf_counter()
    for step in range(steps):
        rows = torch.randint(0, count, (batch_size,), generator=generator)
        loss = model.loss(x[rows], y[rows], count)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    elapsed = time.perf_counter() - begin

    history = torch.stack(history)
    with torch.inference_mode():
        error = (model.posterior(x[:2000])[0] - clean[:2000]).square().mean().sqrt()
    print(f"bound {history[0]:.4f} -> {history[-1]:.4f}, error {error:.4f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {history.sum():.4f} {error:.5f}")


if __name__ == "__main__":
    main()
