"""Variational Gaussian-process regression with inducing points."""
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)


class ArdKernel(nn.Module):
    """Squared-exponential kernel with one length scale per input."""

    def __init__(self, n_inputs):
        super().__init__()
        self.log_length = nn.Parameter(torch.zeros(n_inputs))
        self.log_variance = nn.Parameter(torch.zeros(()))

    def forward(self, a, b):
        scale = torch.exp(-self.log_length)
        a, b = a * scale, b * scale
        sq = a.square().sum(-1, keepdim=True) + b.square().sum(-1) - 2 * a @ b.T
        return torch.exp(self.log_variance - 0.5 * sq.clamp_min(0.0))

    def diagonal(self):
        return torch.exp(self.log_variance)


class SparseGP(nn.Module):
    """Collapsed bound of Titsias on minibatches, with whitened inducing values."""

    def __init__(self, inducing, n_data):
        super().__init__()
        m, d = inducing.shape
        self.inducing = nn.Parameter(inducing.clone())
        self.kernel = ArdKernel(d)
        self.mean = nn.Parameter(torch.zeros(m))
        self.raw_scale = nn.Parameter(torch.eye(m) * 0.5)
        self.log_noise = nn.Parameter(torch.tensor(-1.0))
        self.n_data = n_data
        self.register_buffer("jitter", 1e-4 * torch.eye(m))

    def project(self, x):
        kzz = self.kernel(self.inducing, self.inducing) + self.jitter
        chol = torch.linalg.cholesky(kzz)
        kzx = self.kernel(self.inducing, x)
        return torch.linalg.solve_triangular(chol, kzx, upper=False)

    def predict(self, x):
        a = self.project(x)
        scale = self.raw_scale.tril()
        mean = self.mean @ a
        var = self.kernel.diagonal() - a.square().sum(0) + (scale.T @ a).square().sum(0)
        return mean, var.clamp_min(1e-6), scale

    def loss(self, x, y):
        mean, var, scale = self.predict(x)
        noise = torch.exp(self.log_noise)
        fit = 0.5 * (math.log(2 * math.pi) + self.log_noise + ((y - mean).square() + var) / noise)
        diag = scale.diagonal()
        kl = 0.5 * (scale.square().sum() + self.mean.square().sum() - diag.numel())
        kl = kl - diag.abs().log().sum()
        return fit.mean() + kl / self.n_data


def friedman(n, generator):
    x = torch.rand(n, 6, generator=generator)
    y = (
        torch.sin(math.pi * x[:, 0] * x[:, 1])
        + 2 * (x[:, 2] - 0.5).square()
        + x[:, 3]
        + 0.5 * x[:, 4]
    )
    return x, y - y.mean() + 0.1 * torch.randn(n, generator=generator)


def main():
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(3)
    x, y = friedman(8192, generator)
    batches = list(zip(x.split(1024), y.split(1024)))
    model = SparseGP(x[:256], n_data=x.shape[0])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, fused=True)

    def step(xb, yb):
        loss = model.loss(xb, yb)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(*batches[0])
    n_steps = 240
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(step(*batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    with torch.inference_mode():
        rmse = F.mse_loss(model.predict(x[:1024])[0], y[:1024]).sqrt()
    losses = torch.stack(losses)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.4f} {rmse.item():.4f}")


if __name__ == "__main__":
    main()
