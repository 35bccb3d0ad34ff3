"""Fit a Gaussian process to ore grades from boreholes by maximum likelihood."""
import math
import time

import torch
from torch import nn

STEPS = 120
HOLES = 700
GRID = 24


class OreProcess(nn.Module):
    """Matern 3/2 covariance with a learned scale, height and noise."""

    def __init__(self):
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(-1.5))
        self.log_height = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-1.5))
        self.mean = nn.Parameter(torch.tensor(0.0))

    def covariance(self, distance):
        reach = distance * (math.sqrt(3.0) * torch.exp(-self.log_scale))
        return torch.exp(self.log_height) * (1.0 + reach) * torch.exp(-reach)

    def factor(self, distance):
        covariance = self.covariance(distance)
        noise = torch.exp(self.log_noise) + 1e-4
        covariance.diagonal().add_(noise)
        return torch.linalg.cholesky(covariance)

    def negative_log_likelihood(self, distance, grade):
        factor = self.factor(distance)
        residual = (grade - self.mean)[:, None]
        white = torch.linalg.solve_triangular(factor, residual, upper=False)
        log_determinant = factor.diagonal().log().sum()
        return (0.5 * white.square().sum() + log_determinant) / len(grade)

    @torch.no_grad()
    def predict(self, distance, cross_distance, grade):
        factor = self.factor(distance)
        cross = self.covariance(cross_distance)
        weights = torch.cholesky_solve((grade - self.mean)[:, None], factor)
        white = torch.linalg.solve_triangular(factor, cross.T, upper=False)
        variance = torch.exp(self.log_height) - white.square().sum(0)
        return self.mean + (cross @ weights).squeeze(1), variance


def make_survey(generator):
    """A smooth field made of random waves, seen through assay noise."""
    place = torch.rand(HOLES, 2, generator=generator)
    wave = 7.0 * torch.randn(2, 40, generator=generator)
    phase = 2 * math.pi * torch.rand(40, generator=generator)
    field = math.sqrt(2.0 / 40) * torch.cos(place @ wave + phase).sum(1)
    return place, field + 0.2 * torch.randn(HOLES, generator=generator)


def fit_step(process, optimizer, distance, grade):
    loss = process.negative_log_likelihood(distance, grade)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(36)
    place, grade = make_survey(generator)
    distance = torch.cdist(place, place, compute_mode="donot_use_mm_for_euclid_dist")
    axis = torch.linspace(0.0, 1.0, GRID)
    grid = torch.cartesian_prod(axis, axis)

    process = OreProcess()
    optimizer = torch.optim.Adam(process.parameters(), lr=0.03)
    fit_step(process, optimizer, distance, grade)
    start = time.perf_counter()
    losses = [fit_step(process, optimizer, distance, grade) for _ in range(STEPS)]
    elapsed = time.perf_counter() - start

    estimate, variance = process.predict(distance, torch.cdist(grid, place), grade)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {losses[-1].item():.4f} {estimate.std().item():.4f} {variance.mean().item():.5f}")


if __name__ == "__main__":
    main()
