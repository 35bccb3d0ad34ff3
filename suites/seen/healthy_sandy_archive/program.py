"""Monte Carlo pricing of a basket option with control variates."""
import math
import time

import torch
from torch.distributions import Normal


class Market:
    def __init__(self, n_assets, rate=0.03, seed=0):
        gen = torch.Generator().manual_seed(seed)
        self.rate = rate
        self.spot = 80 + 40 * torch.rand(n_assets, generator=gen)
        self.vol = 0.15 + 0.2 * torch.rand(n_assets, generator=gen)
        loading = torch.randn(n_assets, 4, generator=gen)
        cov = loading @ loading.T + 2.0 * torch.eye(n_assets)
        scale = cov.diagonal().rsqrt()
        self.corr = cov * scale[:, None] * scale
        self.mixing = torch.linalg.cholesky(self.corr) * self.vol[:, None]


class Basket:
    """European call on an arithmetic basket; the geometric one is the control."""

    def __init__(self, market, strike, maturity):
        n = len(market.spot)
        self.weights = torch.full((n,), 1.0 / n)
        self.strike = strike
        self.maturity = maturity
        self.discount = math.exp(-market.rate * maturity)
        self.log_start = market.spot.log() + (market.rate - 0.5 * market.vol.square()) * maturity
        self.transform = (market.mixing * math.sqrt(maturity)).T.contiguous()
        self.control_mean = self.geometric_price(market)

    def geometric_price(self, market):
        mu = self.weights @ self.log_start
        sd = torch.linalg.vector_norm(self.transform @ self.weights)
        unit = Normal(0.0, 1.0)
        d2 = (mu - math.log(self.strike)) / sd
        value = torch.exp(mu + 0.5 * sd.square()) * unit.cdf(d2 + sd) - self.strike * unit.cdf(d2)
        return self.discount * value

    def payoffs(self, z):
        log_price = torch.addmm(self.log_start, z, self.transform)
        geometric = torch.exp(log_price @ self.weights)
        arithmetic = log_price.exp_() @ self.weights
        pay = torch.stack([arithmetic, geometric]).sub_(self.strike).clamp_min_(0.0)
        return pay.mul_(self.discount)


class RunningMoments:
    def __init__(self):
        self.n = 0
        self.mean = torch.zeros(2, dtype=torch.float64)
        self.cross = torch.zeros(2, 2, dtype=torch.float64)

    def add(self, pay):
        m = pay.shape[1]
        mean = pay.mean(dim=1)
        centered = pay - mean[:, None]
        delta = mean.double() - self.mean
        total = self.n + m
        self.cross += (centered @ centered.T).double() + torch.outer(delta, delta) * self.n * m / total
        self.mean += delta * m / total
        self.n = total

    def controlled(self, known):
        beta = self.cross[0, 1] / self.cross[1, 1]
        price = self.mean[0] - beta * (self.mean[1] - known)
        residual = self.cross[0, 0] - beta * self.cross[0, 1]
        return price, torch.sqrt(residual.clamp_min(0.0)) / self.n


@torch.inference_mode()
def main():
    torch.set_num_threads(1)
    market = Market(64)
    option = Basket(market, strike=100.0, maturity=1.5)
    gen = torch.Generator().manual_seed(99)
    moments = RunningMoments()
    z = torch.empty(20_000, 64)
    option.payoffs(z.normal_(generator=gen))

    steps = 420
    start = time.perf_counter()
    for _ in range(steps):
        z.normal_(generator=gen)
        moments.add(option.payoffs(z))
        moments.add(option.payoffs(z.neg_()))
    price, error = moments.controlled(option.control_mean)
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {price.item():.5f} {error.item():.7f}")


if __name__ == "__main__":
    main()
