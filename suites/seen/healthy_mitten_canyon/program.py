"""Gaussian process regression: fit the hyperparameters by gradient ascent on the evidence, then predict."""
import math
import time

import torch
from torch import nn

torch.set_num_threads(1)

# The Cholesky factor of a kernel matrix with small noise needs double precision.
torch.set_default_dtype(torch.float64)


def make_data(count, seed=0):
    gen = torch.Generator().manual_seed(seed)
    x = torch.rand(count, 3, generator=gen) * 4.0
    y = torch.sin(2.0 * x[:, 0]) * torch.cos(x[:, 1]) + 0.3 * x[:, 2]
    return x, y - y.mean() + 0.02 * torch.randn(count, generator=gen)


class GaussianProcess(nn.Module):
    """Squared-exponential kernel with one length scale per input."""

    def __init__(self, x, y):
        super().__init__()
        self.register_buffer("x", x)
        self.register_buffer("y", y)
        self.log_length = nn.Parameter(torch.zeros(x.shape[1]))
        self.log_signal = nn.Parameter(torch.zeros(()))
        self.log_noise = nn.Parameter(torch.tensor(-2.0))

    def kernel(self, a, b):
        a = a * torch.exp(-self.log_length)
        b = b * torch.exp(-self.log_length)
        square = a.square().sum(1, keepdim=True) + b.square().sum(1) - 2.0 * a @ b.T
        return torch.exp(2.0 * self.log_signal - 0.5 * square)

    def factor(self):
        noise = torch.exp(2.0 * self.log_noise) + 1e-8
        covariance = self.kernel(self.x, self.x)
        return torch.linalg.cholesky(covariance + noise * torch.eye(len(self.x)))

    def loss(self):
        """Negative log marginal likelihood per observation."""
        lower = self.factor()
        white = torch.linalg.solve_triangular(lower, self.y.unsqueeze(1), upper=False)
        logdet = lower.diagonal().log().sum()
        count = len(self.y)
        return (0.5 * white.square().sum() + logdet) / count + 0.5 * math.log(2 * math.pi)

    @torch.no_grad()
    def predict(self, points):
        lower = self.factor()
        weights = torch.cholesky_solve(self.y.unsqueeze(1), lower)
        cross = self.kernel(points, self.x)
        mean = (cross @ weights).squeeze(1)
        white = torch.linalg.solve_triangular(lower, cross.T, upper=False)
        variance = torch.exp(2.0 * self.log_signal) - white.square().sum(0)
        return mean, variance.clamp(min=0.0)


def fit(model, steps, rate=0.05):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    losses = []
    for _ in range(steps):
        loss = model.loss()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main(steps=60):
    x, y = make_data(600)
    fit(GaussianProcess(x, y), 2)
    model = GaussianProcess(x, y)

    begin = time.perf_counter()
    losses = fit(model, steps)
    elapsed = time.perf_counter() - begin
    points, truth = make_data(300, seed=1)
    mean, variance = model.predict(points)
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"rmse {(mean - truth).square().mean().sqrt().item():.4f}")
    print(f"checksum {losses[-1].item():.5f} {variance.mean().item():.6f}")


if __name__ == "__main__":
    main()
