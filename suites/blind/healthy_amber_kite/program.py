"""Down-and-out barrier options on correlated assets, with pathwise deltas."""
import math
import time

import torch

torch.set_num_threads(1)

N_ASSETS = 4
N_DATES = 48


class BasketMarket:
    def __init__(self, spot, vol, correlation, rate):
        self.spot = spot
        self.vol = vol
        self.rate = rate
        self.chol = torch.linalg.cholesky(correlation)

    def increments(self, n_paths, generator):
        """Correlated normals, antithetic in the second half: (dates, assets, paths)."""
        z = torch.randn(N_DATES, N_ASSETS, n_paths // 2, generator=generator)
        z = self.chol @ z
        return torch.cat([z, -z], dim=-1)


def log_paths(spot, market, z, dt):
    drift = (market.rate - 0.5 * market.vol.square()) * dt
    steps = drift[:, None] + (market.vol * math.sqrt(dt))[:, None] * z
    return torch.log(spot)[:, None] + steps.cumsum(dim=0)


def barrier_basket(spot, market, z, maturity, strike, barrier):
    paths = log_paths(spot, market, z, maturity / N_DATES).exp()
    basket = paths.mean(dim=1)
    # a smooth survival weight keeps the pathwise derivative meaningful
    alive = torch.sigmoid((basket.amin(dim=0) - barrier) * 2.0)
    payoff = (basket[-1] - strike).clamp_min(0.0) * alive
    return math.exp(-market.rate * maturity) * payoff.mean()


def price_and_delta(market, z, maturity, strike, barrier):
    spot = market.spot.detach().requires_grad_()
    price = barrier_basket(spot, market, z, maturity, strike, barrier)
    (delta,) = torch.autograd.grad(price, spot)
    return price.detach(), delta


def main():
    generator = torch.Generator().manual_seed(2)
    correlation = 0.4 + 0.6 * torch.eye(N_ASSETS)
    market = BasketMarket(
        spot=torch.tensor([100.0, 95.0, 105.0, 98.0]),
        vol=torch.tensor([0.2, 0.25, 0.3, 0.22]),
        correlation=correlation,
        rate=0.03,
    )
    price_and_delta(market, market.increments(2048, generator), 1.0, 100.0, 80.0)

    n_steps = 80
    prices, deltas = [], []
    start = time.perf_counter()
    for _ in range(n_steps):
        z = market.increments(16384, generator)
        price, delta = price_and_delta(market, z, 1.0, 100.0, 80.0)
        prices.append(price)
        deltas.append(delta)
    elapsed = time.perf_counter() - start

    prices, deltas = torch.stack(prices), torch.stack(deltas)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"price {prices.mean():.4f} +- {prices.std() / math.sqrt(n_steps):.4f}")
    print(f"checksum {prices.sum().item():.4f} {deltas.sum().item():.5f}")


if __name__ == "__main__":
    main()
