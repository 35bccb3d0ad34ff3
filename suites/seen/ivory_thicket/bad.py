"""Bayesian optimisation of a simulated process with a Gaussian-process surrogate."""
import math
import time

import torch
from torch.distributions import Normal


class Matern52:
    def __init__(self, lengthscale, variance):
        self.lengthscale = lengthscale
        self.variance = variance

    def __call__(self, a, b):
        r = torch.cdist(a / self.lengthscale, b / self.lengthscale) * math.sqrt(5.0)
        return self.variance * (1.0 + r + r.square() / 3.0) * torch.exp(-r)


class GaussianProcess:
    def __init__(self, kernel, noise=1e-2):
        self.kernel = kernel
        self.noise = noise

    def fit(self, x, y):
        self.x = x
        self.mean_y = y.mean()
        k = self.kernel(x, x)
        k.diagonal().add_(self.noise)
        self.chol = torch.linalg.cholesky(k)
        self.alpha = torch.cholesky_solve((y - self.mean_y)[:, None], self.chol)
        return self

    def predict(self, xs):
        ks = self.kernel(self.x, xs)
        mean = self.mean_y + (ks.T @ self.alpha)[:, 0]
        v = torch.linalg.solve_triangular(self.chol, ks, upper=False)
        var = (self.kernel(xs, xs) - v.T @ v).diagonal()
        return mean, var.clamp_min(1e-9)


def process_yield(x):
    """Smooth response surface with several local optima."""
    bumps = torch.sin(3.0 * x[:, 0]) * torch.cos(2.0 * x[:, 1])
    return bumps + 0.5 * torch.exp(-((x - 0.6) ** 2).sum(-1)) - 0.1 * x.square().sum(-1)


def expected_improvement(mean, var, best):
    std = var.sqrt()
    z = (mean - best) / std
    unit = Normal(0.0, 1.0, validate_args=False)
    pdf = torch.exp(unit.log_prob(z))
    return std * (z * unit.cdf(z) + pdf)


class Optimizer:
    def __init__(self, dim, n_init, n_candidates, seed=0):
        self.dim = dim
        self.n_candidates = n_candidates
        self.sobol = torch.quasirandom.SobolEngine(dim, scramble=True, seed=seed)
        self.gen = torch.Generator().manual_seed(seed)
        self.x = self.sobol.draw(n_init) * 4 - 2
        self.y = self.evaluate(self.x)
        self.gp = GaussianProcess(Matern52(0.7, 1.0))

    def evaluate(self, x):
        return process_yield(x) + 0.02 * torch.randn(len(x), generator=self.gen)

    def step(self):
        self.gp.fit(self.x, self.y)
        candidates = self.sobol.draw(self.n_candidates) * 4 - 2
        mean, var = self.gp.predict(candidates)
        score = expected_improvement(mean, var, self.y.max())
        chosen = candidates[score.topk(4).indices]
        self.x = torch.cat([self.x, chosen])
        self.y = torch.cat([self.y, self.evaluate(chosen)])
        return mean.mean(), var.mean()


def main():
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    study = Optimizer(dim=4, n_init=700, n_candidates=1800)
    study.step()

    steps = 25
    stats = []
    start = time.perf_counter()
    for _ in range(steps):
        stats.append(torch.stack(study.step()))
    elapsed = time.perf_counter() - start
    stats = torch.stack(stats).mean(0)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {stats[0].item():.6f} {stats[1].item():.6f} {study.y.max().item():.6f}")


if __name__ == "__main__":
    main()
