"""Strength of bricks by kiln settings: Gaussian processes fitted from several starts at once."""

import math
import time

import torch

BRICKS = 300
SETTINGS = 5
STARTS = 6


def firings(generator):
    setting = torch.rand(BRICKS, SETTINGS, generator=generator)
    strength = torch.sin(4.0 * setting[:, 0]) + setting[:, 1] * setting[:, 2] - 0.5 * setting[:, 3]
    strength = strength + 0.1 * torch.randn(BRICKS, generator=generator)
    return setting, (strength - strength.mean()) / strength.std()


class KilnGP(torch.nn.Module):
    def __init__(self, setting, strength, generator):
        super().__init__()
        self.register_buffer("setting", setting)
        self.register_buffer("strength", strength)
        self.register_buffer("unit", torch.eye(BRICKS))
        start = torch.randn(STARTS, SETTINGS, generator=generator)
        self.log_reach = torch.nn.Parameter(0.4 * start)
        self.log_scale = torch.nn.Parameter(torch.zeros(STARTS))
        self.log_noise = torch.nn.Parameter(torch.full((STARTS,), -1.5))

    def covariance(self):
        scaled = self.setting * torch.exp(-self.log_reach)[:, None, :]
        square = (scaled**2).sum(-1)
        distance = square[:, :, None] + square[:, None, :] - 2.0 * scaled @ scaled.mT
        kernel = torch.exp(2.0 * self.log_scale)[:, None, None] * torch.exp(-0.5 * distance.clamp_min(0.0))
        return kernel + (torch.exp(2.0 * self.log_noise) + 1e-4)[:, None, None] * self.unit

    def evidence(self):
        factor = torch.linalg.cholesky(self.covariance())
        right = self.strength.expand(STARTS, BRICKS)[..., None]
        white = torch.linalg.solve_triangular(factor, right, upper=False)
        log_det = torch.log(factor.diagonal(dim1=-2, dim2=-1)).sum(-1)
        return -0.5 * (white**2).sum((-2, -1)) - log_det - 0.5 * BRICKS * math.log(2.0 * math.pi)


def fit_step(model, optimizer):
    evidence = model.evidence()
    loss = -evidence.sum() / BRICKS
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return evidence.detach()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    model = KilnGP(*firings(generator), generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    fit_step(model, optimizer)

    start = time.perf_counter()
    steps = 50
    for _ in range(steps):
        evidence = fit_step(model, optimizer)
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {evidence.max().item():.2f} {model.log_noise.mean().item():.3f}")


if __name__ == "__main__":
    main()
