"""Ore grades between bore holes: a Gaussian process whose scales are learnt by the likelihood."""

import math
import time

import torch
import torch.nn as nn

HOLES = 640
PLACES = 400
STEPS = 100


def make_ore(generator):
    """Depth and position of samples, and their grade along a tilted vein."""
    place = torch.rand(HOLES + PLACES, 3, generator=generator) * torch.tensor([3.0, 3.0, 1.0])
    tilt = place @ torch.tensor([0.5, -0.3, 1.2])
    grade = torch.exp(-((tilt - 0.6) ** 2) / 0.2) + 0.2 * torch.sin(2.0 * place[:, 0])
    return place, grade + 0.05 * torch.randn(len(place), generator=generator)


class GaussianProcess(nn.Module):
    """Matern 5/2 kernel with one length for each axis."""

    def __init__(self):
        super().__init__()
        self.log_length = nn.Parameter(torch.zeros(3))
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_noise = nn.Parameter(torch.tensor(-3.0))
        self.level = nn.Parameter(torch.tensor(0.3))

    def kernel(self, a, b):
        length = self.log_length.exp()
        gap = math.sqrt(5.0) * torch.cdist(a / length, b / length)
        return self.log_scale.exp() * (1.0 + gap + gap.square() / 3.0) * torch.exp(-gap)

    def factor(self, place):
        covariance = self.kernel(place, place)
        covariance.diagonal().add_(self.log_noise.exp() + 1e-5)
        return torch.linalg.cholesky(covariance)

    def loss(self, place, grade):
        """Negative log marginal likelihood per sample."""
        factor = self.factor(place)
        white = torch.linalg.solve_triangular(factor, (grade - self.level).unsqueeze(1), upper=False)
        fit = 0.5 * white.square().sum()
        volume = factor.diagonal().log().sum()
        return (fit + volume) / len(place) + 0.5 * math.log(2.0 * math.pi)

    @torch.no_grad()
    def predict(self, place, grade, asked):
        """Mean and variance of the grade at the places asked for."""
        factor = self.factor(place)
        cross = self.kernel(place, asked)
        weights = torch.cholesky_solve((grade - self.level).unsqueeze(1), factor)
        reduced = torch.linalg.solve_triangular(factor, cross, upper=False)
        mean = self.level + (cross.T @ weights).squeeze(1)
        return mean, self.log_scale.exp() - reduced.square().sum(dim=0)


def train_step(model, optimizer, place, grade):
    loss = model.loss(place, grade)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(25)
    place, grade = make_ore(generator)
    known_place, known_grade = place[:HOLES], grade[:HOLES]
    model = GaussianProcess()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.03, fused=True)
    train_step(model, optimizer, known_place, known_grade)

    start = time.perf_counter()
    losses = [train_step(model, optimizer, known_place, known_grade) for _ in range(STEPS)]
    mean, variance = model.predict(known_place, known_grade, place[HOLES:])
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    error = (mean - grade[HOLES:]).square().mean().sqrt().item()
    print(f"checksum {losses.mean().item():.4f} {losses[-1].item():.4f} {error:.4f} {variance.mean().item():.4f}")


if __name__ == "__main__":
    main()
