"""Learning the hyper-parameters of a Gaussian process for tide-gauge readings.

A sum of a periodic and a squared-exponential kernel explains the water level over ten days. The
logarithms of the kernel's parameters are found by maximising the marginal likelihood with Adam. All is in
double precision, since the covariance matrix is badly conditioned.
"""
import math
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

READINGS = 500
STEPS = 40


def make_readings(seed=91):
    """Irregular times in days and the water level in metres."""
    generator = torch.Generator().manual_seed(seed)
    t = (10 * torch.rand(READINGS, generator=generator)).sort().values
    tide = 1.2 * torch.sin(2 * math.pi * t / 0.5175) + 0.3 * torch.sin(2 * math.pi * t)
    weather = 0.5 * torch.sin(0.9 * t) + 0.2 * torch.cos(2.3 * t)
    level = tide + weather + 0.1 * torch.randn(READINGS, generator=generator)
    return t, level - level.mean()


class TideProcess(nn.Module):
    """Gaussian process with the kernel periodic + squared exponential + noise."""

    def __init__(self):
        super().__init__()
        start = {
            "tide_scale": 1.0, "tide_length": 1.0, "period": 0.52,
            "weather_scale": 0.5, "weather_length": 1.5, "noise": 0.2,
        }
        self.log = nn.ParameterDict(
            {name: nn.Parameter(torch.tensor(math.log(value))) for name, value in start.items()}
        )

    def parameter(self, name):
        return self.log[name].exp()

    def kernel(self, delta):
        wave = torch.sin(math.pi * delta / self.parameter("period"))
        tide = torch.exp(-2 * (wave / self.parameter("tide_length")).square())
        weather = torch.exp(-0.5 * (delta / self.parameter("weather_length")).square())
        tide = self.parameter("tide_scale").square() * tide
        return tide + self.parameter("weather_scale").square() * weather

    def factor(self, delta):
        noise = self.parameter("noise").square().expand(len(delta))
        return torch.linalg.cholesky(self.kernel(delta) + torch.diag(noise))

    def negative_log_likelihood(self, delta, y):
        """Per reading, from one Cholesky factorisation."""
        factor = self.factor(delta)
        z = torch.linalg.solve_triangular(factor, y[:, None], upper=False)
        log_det = 2 * factor.diagonal().log().sum()
        n = len(y)
        return 0.5 * (z.square().sum() + log_det + n * math.log(2 * math.pi)) / n

    @torch.no_grad()
    def predict(self, t, y, t_new):
        factor = self.factor(t[:, None] - t[None, :])
        weights = torch.cholesky_solve(y[:, None], factor).squeeze(1)
        return self.kernel(t_new[:, None] - t[None, :]) @ weights


def train_step(process, optimizer, delta, y):
    loss = process.negative_log_likelihood(delta, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    t, level = make_readings()
    delta = t[:, None] - t[None, :]
    process = TideProcess()
    optimizer = torch.optim.Adam(process.parameters(), lr=0.02)

    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        losses.append(train_step(process, optimizer, delta, level))
    elapsed = time.perf_counter() - start

    forecast = process.predict(t, level, torch.linspace(10.0, 10.5, 20))
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-1]:.5f} {forecast.std():.5f}")


if __name__ == "__main__":
    main()
