"""Anomaly scoring service: a variational autoencoder scores groups of sensor readings on arrival."""
import time
import warnings

import torch
from torch import nn

torch.set_num_threads(1)
warnings.filterwarnings("ignore", category=FutureWarning)

SENSORS, LATENT = 48, 8


class Encoder(nn.Module):
    def __init__(self, hidden=384):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SENSORS, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU())
        self.mean = nn.Linear(hidden, LATENT)
        self.log_scale = nn.Linear(hidden, LATENT)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_scale(h).clamp(-5.0, 2.0)


class Scorer(nn.Module):
    """Negative evidence lower bound at the posterior mean."""

    def __init__(self, hidden=384):
        super().__init__()
        self.encoder = Encoder(hidden)
        self.decoder = nn.Sequential(nn.Linear(LATENT, hidden), nn.SiLU(), nn.Linear(hidden, hidden), nn.SiLU(),
                                     nn.Linear(hidden, SENSORS))
        self.noise = nn.Parameter(torch.zeros(SENSORS))

    def forward(self, x):
        mean, log_scale = self.encoder(x)
        error = (self.decoder(mean) - x) * torch.exp(-self.noise)
        kl = 0.5 * (mean.square() + torch.exp(2 * log_scale) - 1.0 - 2 * log_scale).sum(-1)
        return 0.5 * error.square().sum(-1) + self.noise.sum() + kl


class ScoringService:
    def __init__(self, model, quantile=0.99):
        with torch.no_grad():
            self.network = torch.jit.trace(model.eval(), torch.zeros(2, SENSORS))
        self.quantile = quantile
        self.mean = torch.zeros(SENSORS)
        self.scale = torch.ones(SENSORS)

    @torch.no_grad()
    def calibrate(self, readings):
        self.mean = readings.mean(0)
        self.scale = readings.std(0)
        self.threshold = torch.quantile(self.score(readings), self.quantile)

    @torch.no_grad()
    def score(self, readings):
        x = (readings - self.mean) / self.scale
        return self.network(x)

    def handle(self, readings):
        scores = self.score(readings)
        return scores, scores > self.threshold


def readings(count, gen):
    """Correlated sensors, with now and then a faulty one."""
    base = torch.randn(count, 6, generator=gen)
    mixing = torch.linspace(-1, 1, 6 * SENSORS).view(6, SENSORS).sin()
    x = base @ mixing + 0.2 * torch.randn(count, SENSORS, generator=gen)
    fault = torch.rand(count, 1, generator=gen) < 0.02
    return torch.where(fault, 3.0 * x, x)


def main(steps=26, group=3072):
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(1)
    service = ScoringService(Scorer())
    service.calibrate(readings(2000, gen))
    for _ in range(5):
        service.handle(readings(group, gen))

    total, alarms = 0.0, 0
    begin = time.perf_counter()
    for _ in range(steps):
        scores, flagged = service.handle(readings(group, gen))
        total += scores.mean().item()
        alarms += int(flagged.sum())
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {total / steps:.5f} {alarms}")


if __name__ == "__main__":
    main()
