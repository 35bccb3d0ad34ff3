"""Iteratively reweighted least squares for robust and logistic regressions."""
import time

import torch
from torch.distributions import Bernoulli


class RobustRegression:
    """Huber M-estimator with MAD scale."""

    def __init__(self, delta=1.345):
        self.delta = delta

    def start(self, x, y):
        return torch.linalg.lstsq(x, y[:, None]).solution[:, 0]

    def weights(self, x, y, beta):
        residual = y - x @ beta
        scale = residual.abs().median() / 0.6745
        ratio = residual.abs() / (self.delta * scale)
        return 1.0 / ratio.clamp_min(1.0), y


class LogisticRegression:
    def start(self, x, y):
        return x.new_zeros(x.shape[1])

    def weights(self, x, y, beta):
        eta = x @ beta
        p = torch.sigmoid(eta)
        w = (p * (1 - p)).clamp_min(1e-6)
        return w, eta + (y - p) / w


class IRLS:
    def __init__(self, family, ridge=1e-6):
        self.family = family
        self.ridge = ridge

    def solve(self, x, w, z):
        xtw = x.T @ torch.diag(w)
        gram = xtw @ x
        gram.diagonal().add_(self.ridge)
        chol = torch.linalg.cholesky(gram)
        return torch.cholesky_solve((xtw @ z)[:, None], chol)[:, 0]

    def fit(self, x, y, iters):
        beta = self.family.start(x, y)
        for _ in range(iters):
            w, z = self.family.weights(x, y, beta)
            beta = self.solve(x, w, z)
        return beta


def linear_sample(n, p, gen):
    x = torch.randn(n, p, generator=gen, dtype=torch.float64)
    x[:, 0] = 1.0
    beta = torch.linspace(-1, 1, p, dtype=torch.float64)
    noise = torch.randn(n, generator=gen, dtype=torch.float64)
    noise[: n // 20] *= 15
    return x, x @ beta + noise


def binary_sample(n, p, gen):
    x = torch.randn(n, p, generator=gen, dtype=torch.float64)
    x[:, 0] = 1.0
    beta = torch.linspace(-0.3, 0.3, p, dtype=torch.float64)
    prob = Bernoulli(logits=x @ beta, validate_args=False).probs
    return x, (torch.rand(n, generator=gen, dtype=torch.float64) < prob).double()


def main():
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(10)
    n, p = 1600, 320
    studies = []
    for _ in range(3):
        studies.append((IRLS(RobustRegression()), *linear_sample(n, p, gen)))
        studies.append((IRLS(LogisticRegression(), 1e-2), *binary_sample(n, p, gen)))
    studies[0][0].fit(*studies[0][1:], 1)

    steps = 20
    norms = []
    start = time.perf_counter()
    for k in range(steps):
        model, x, y = studies[k % len(studies)]
        norms.append(model.fit(x, y, 8).norm())
    elapsed = time.perf_counter() - start
    norms = torch.stack(norms)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {norms.mean().item():.6f} {norms[-1].item():.6f}")


if __name__ == "__main__":
    main()
