"""Random-walk Metropolis for a soil moisture model whose errors are correlated in space."""

import time

import torch
from torch.distributions import MultivariateNormal, Normal

SITES = 280
DRAWS = 1100
WARMUP = 20


def make_field(generator):
    """Positions of the probes, their elevation and distance to the brook."""
    position = 4.0 * torch.rand(SITES, 2, generator=generator)
    elevation = torch.sin(position[:, 0]) + 0.3 * position[:, 1]
    brook = (position[:, 1] - 2.0 - 0.4 * torch.sin(2.0 * position[:, 0])).abs()
    return position, elevation, brook


def spatial_covariance(position, scale=0.35, length=0.8, nugget=0.05):
    gap = torch.cdist(position, position)
    return scale**2 * torch.exp(-gap / length) + nugget * torch.eye(len(position))


def forward_model(theta, elevation, brook):
    """Moisture from base level, drainage with height, and seepage near the brook."""
    base, drainage, seepage, log_reach = theta.unbind()
    return base - drainage * elevation + seepage * torch.exp(-brook / log_reach.exp())


class MoistureModel:
    def __init__(self, position, elevation, brook, observed):
        self.elevation = elevation
        self.brook = brook
        self.observed = observed
        factor = torch.linalg.cholesky(spatial_covariance(position))
        self.noise = MultivariateNormal(torch.zeros_like(observed), scale_tril=factor)
        self.prior = Normal(torch.zeros(4), torch.full((4,), 2.0))

    def log_likelihood(self, theta):
        predicted = forward_model(theta, self.elevation, self.brook)
        return self.noise.log_prob(self.observed - predicted)

    def log_posterior(self, theta):
        return self.prior.log_prob(theta).sum() + self.log_likelihood(theta)


class Metropolis:
    def __init__(self, model, start, step_size, generator):
        self.model = model
        self.theta = start
        self.value = model.log_posterior(start)
        self.step_size = step_size
        self.generator = generator
        self.accepted = 0

    def step(self):
        move = self.step_size * torch.randn(len(self.theta), generator=self.generator)
        proposal = self.theta + move
        value = self.model.log_posterior(proposal)
        threshold = torch.rand((), generator=self.generator).log()
        if threshold < value - self.value:
            self.theta, self.value = proposal, value
            self.accepted += 1
        return self.theta


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(3)
    position, elevation, brook = make_field(generator)
    truth = torch.tensor([1.2, 0.5, 0.9, -0.4])
    factor = torch.linalg.cholesky(spatial_covariance(position))
    noise = factor @ torch.randn(SITES, generator=generator)
    observed = forward_model(truth, elevation, brook) + noise

    model = MoistureModel(position, elevation, brook, observed)
    step_size = torch.tensor([0.05, 0.04, 0.06, 0.08])
    chain = Metropolis(model, torch.tensor([1.0, 0.4, 0.8, -0.3]), step_size, generator)
    for _ in range(WARMUP):
        chain.step()

    start = time.perf_counter()
    draws = torch.stack([chain.step() for _ in range(DRAWS)])
    print(f"{DRAWS} steps in {time.perf_counter() - start:.3f} s")
    mean = draws.mean(dim=0)
    print(f"checksum {mean[0]:.5f} {mean[1]:.5f} {mean[2]:.5f} {chain.accepted}")


if __name__ == "__main__":
    main()
