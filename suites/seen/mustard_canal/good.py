"""Maximum-likelihood factor model of daily asset returns, fitted with Adam."""
import time

import torch
from torch import nn
from torch.distributions import LowRankMultivariateNormal

torch.set_num_threads(1)


class FactorModel(nn.Module):
    """r = mu + B f + e with f ~ N(0, I) and independent residuals e."""

    def __init__(self, assets, factors, generator):
        super().__init__()
        self.drift = nn.Parameter(torch.zeros(assets))
        self.loadings = nn.Parameter(0.3 * torch.randn(assets, factors, generator=generator))
        self.log_residual = nn.Parameter(torch.full((assets,), -0.5))

    def distribution(self):
        residual = self.log_residual.exp()
        return LowRankMultivariateNormal(self.drift, self.loadings, residual)

    def forward(self, returns):
        return -self.distribution().log_prob(returns).mean() / returns.shape[-1]


class Market:
    def __init__(self, assets, factors, generator):
        self.generator = generator
        sector = torch.randint(0, factors, (assets,), generator=generator)
        base = 0.2 * torch.randn(assets, factors, generator=generator)
        self.loadings = base + torch.nn.functional.one_hot(sector, factors)
        self.scale = 0.4 + 0.6 * torch.rand(assets, generator=generator)

    def days(self, count):
        factors = torch.randn(count, self.loadings.shape[1], generator=self.generator)
        noise = torch.randn(count, len(self.scale), generator=self.generator)
        return factors @ self.loadings.T + self.scale * noise


def explained_share(model):
    with torch.no_grad():
        common = model.loadings.square().sum(1)
        return (common / (common + model.log_residual.exp())).mean()


def fit(model, returns, steps, batch_size, generator, lr=0.02):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history = []
    for _ in range(steps):
        rows = torch.randint(0, len(returns), (batch_size,), generator=generator)
        loss = model(returns[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    return torch.stack(history)


def main(steps=210, assets=500, factors=8, batch_size=64):
    generator = torch.Generator().manual_seed(31)
    market = Market(assets, factors, generator)
    returns = market.days(1500)
    model = FactorModel(assets, factors, generator)

    fit(model, returns, 1, batch_size, generator)
    begin = time.perf_counter()
    history = fit(model, returns, steps, batch_size, generator)
    elapsed = time.perf_counter() - begin

    share = explained_share(model)
    print(f"loss {history[0]:.4f} -> {history[-1]:.4f}, common variance {share:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {history.sum():.5f} {share:.5f} {model.loadings.norm().item():.4f}")


if __name__ == "__main__":
    main()
