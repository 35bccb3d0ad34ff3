"""Follows a smoke plume with a particle filter and a network of correlated sensors."""

import math
import time

import numpy as np
import torch
from torch.distributions import MultivariateNormal

SENSORS = 160
PARTICLES = 300


def sensor_field(seed):
    rng = np.random.default_rng(seed)
    where = torch.from_numpy(rng.uniform(-5.0, 5.0, size=(SENSORS, 2)).astype(np.float32))
    distance = torch.cdist(where, where)
    noise = 0.04 * torch.exp(-distance / 1.5) + 0.01 * torch.eye(SENSORS)
    return where, noise


def readings(where, source):
    """Concentration at each sensor for each source (x, y, log strength)."""
    square = ((where[None] - source[:, None, :2]) ** 2).sum(-1)
    return torch.exp(source[:, None, 2] - square / 6.0)


class PlumeFilter:
    def __init__(self, where, noise):
        self.where = where
        self.noise = noise
        self.particles = torch.randn(PARTICLES, 3) * torch.tensor([2.0, 2.0, 0.3])

    def predict(self):
        drift = torch.tensor([0.05, 0.02, 0.0])
        spread = torch.tensor([0.15, 0.15, 0.05])
        self.particles = self.particles + drift + spread * torch.randn_like(self.particles)

    def weigh(self, measured):
        expected = readings(self.where, self.particles)
        law = MultivariateNormal(expected, covariance_matrix=self.noise)
        return law.log_prob(measured)

    def update(self, measured):
        self.predict()
        log_weight = self.weigh(measured)
        weight = torch.softmax(log_weight, dim=0)
        estimate = weight @ self.particles
        evidence = torch.logsumexp(log_weight, dim=0) - math.log(PARTICLES)
        chosen = torch.multinomial(weight, PARTICLES, replacement=True)
        self.particles = self.particles[chosen]
        return estimate, evidence


def simulate(where, noise, steps):
    factor = torch.linalg.cholesky(noise)
    source = torch.tensor([-2.0, -1.0, 0.5])
    track, seen = [], []
    for _ in range(steps):
        source = source + torch.tensor([0.05, 0.02, 0.0]) + 0.05 * torch.randn(3)
        track.append(source)
        seen.append(readings(where, source[None])[0] + factor @ torch.randn(SENSORS))
    return torch.stack(track), torch.stack(seen)


@torch.no_grad()
def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    where, noise = sensor_field(1)
    track, seen = simulate(where, noise, 19)
    plume = PlumeFilter(where, noise)
    plume.update(seen[0])

    start = time.perf_counter()
    estimates, evidences = [], []
    for measured in seen[1:]:
        estimate, evidence = plume.update(measured)
        estimates.append(estimate)
        evidences.append(evidence)
    estimates = torch.stack(estimates)
    print(f"{len(estimates)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {estimates[-10:, 0].mean().item():.3f} {torch.stack(evidences)[-10:].mean().item():.2f}")


if __name__ == "__main__":
    main()
