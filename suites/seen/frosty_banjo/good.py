"""Gaussian-process map of a space-time field on a sensor grid, with gaps."""
import time

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def matern32(x, scale):
    r = torch.cdist(x, x) / scale
    return (1.0 + 3.0**0.5 * r) * torch.exp(-(3.0**0.5) * r)


def periodic(t, scale, period):
    gap = (t[:, None] - t[None, :]) / period
    return torch.exp(-2.0 * torch.sin(torch.pi * gap) ** 2 / scale**2)


class SpaceTimeGP:
    """Separable covariance over (site, hour); unobserved cells are masked out."""

    def __init__(self, sites, hours, mask, noise=0.2):
        self.sites = sites
        self.hours = hours
        self.mask = mask.to(sites.dtype)
        self.noise = noise

    def configure(self, length, roughness):
        self.space = matern32(self.sites, length)
        self.time = periodic(self.hours, roughness, 24.0)

    def apply(self, values):
        image = self.smooth(self.mask * values)
        return self.mask * image + self.noise * values

    def smooth(self, weights):
        return self.space @ weights @ self.time.T


def conjugate_gradient(apply, target, iterations):
    x = torch.zeros_like(target)
    r = target.clone()
    p = r.clone()
    rho = (r * r).sum()
    for _ in range(iterations):
        q = apply(p)
        alpha = rho / (p * q).sum()
        x = x + alpha * p
        r = r - alpha * q
        rho_next = (r * r).sum()
        p = r + (rho_next / rho) * p
        rho = rho_next
    return x, rho.sqrt()


def simulate(sites, hours, generator):
    phase = sites @ torch.tensor([1.3, -0.7])
    daily = torch.sin(2 * torch.pi * hours / 24.0 + phase[:, None])
    trend = torch.cos(2.0 * sites[:, :1]) * torch.ones_like(hours)
    noise = 0.2 * torch.randn(len(sites), len(hours), generator=generator)
    return daily + trend, noise


def evaluate(gp, observed, truth, iterations):
    weights, residual = conjugate_gradient(gp.apply, observed * gp.mask, iterations)
    estimate = gp.smooth(weights * gp.mask)
    hidden = 1.0 - gp.mask
    error = ((estimate - truth) ** 2 * hidden).sum() / hidden.sum()
    return error.sqrt(), residual


def main(n_sites=36, n_hours=24, iterations=50):
    generator = torch.Generator().manual_seed(71)
    sites = torch.rand(n_sites, 2, generator=generator)
    hours = torch.arange(n_hours, dtype=torch.float64)
    truth, noise = simulate(sites, hours, generator)
    mask = torch.rand(n_sites, n_hours, generator=generator) < 0.8
    gp = SpaceTimeGP(sites, hours, mask)
    lengths = torch.logspace(-0.7, 0.4, 20).tolist()
    widths = torch.linspace(0.5, 2.5, 20).tolist()
    grid = [(length, roughness) for length in lengths for roughness in widths]

    scores = []
    begin = time.perf_counter()
    for length, roughness in grid:
        gp.configure(length, roughness)
        error, residual = evaluate(gp, truth + noise, truth, iterations)
        scores.append(error)
    elapsed = time.perf_counter() - begin

    scores = torch.stack(scores)
    length, roughness = grid[int(scores.argmin())]
    print(f"best length {length:.2f}, roughness {roughness:.2f}: error {scores.min():.4f}")
    print(f"{len(grid)} steps in {elapsed:.3f} s")
    print(f"checksum {scores.sum():.5f} {scores.min():.5f}")


if __name__ == "__main__":
    main()
