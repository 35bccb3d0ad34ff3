"""Calibrating a local-volatility smile with quasi-Monte-Carlo paths."""
import math
import time

import torch
from torch.quasirandom import SobolEngine

torch.set_num_threads(1)

N_PATHS = 16_384
N_DATES = 96
SPOT = 100.0
RATE = 0.02
MATURITY = 1.0
STRIKES = (85.0, 92.5, 100.0, 107.5, 115.0)


def gaussian_increments(n_paths, n_dates, seed):
    engine = SobolEngine(n_dates, scramble=True, seed=seed)
    u = engine.draw(n_paths).clamp(1e-6, 1 - 1e-6)
    return torch.special.ndtri(u).t().contiguous()


class LocalVolModel:
    """sigma(S) = level * (1 + skew * x + smile * x^2), x = S / S0 - 1."""

    def __init__(self, increments):
        self.z = increments
        self.dt = MATURITY / N_DATES
        self.paths = torch.empty(N_DATES + 1, N_PATHS)

    def simulate(self, level, skew, smile):
        root = math.sqrt(self.dt)
        self.paths[0] = SPOT
        for t in range(N_DATES):
            s = self.paths[t]
            x = s / SPOT - 1.0
            vol = level * (1.0 + skew * x + smile * x * x)
            vol.clamp_(0.02, 1.5)
            step = 1.0 + RATE * self.dt + root * vol * self.z[t]
            self.paths[t + 1] = (s * step).clamp_min(1e-3)
        return self.paths

    def barrier_calls(self, params, barrier=70.0):
        """Prices of down-and-out calls for all strikes."""
        paths = self.simulate(*params)
        alive = torch.ones(N_PATHS, dtype=torch.bool)
        running = torch.zeros(N_PATHS)
        for t in range(1, N_DATES + 1):
            alive &= paths[t] > barrier
            running += paths[t]
        mean = running / N_DATES
        final = 0.5 * (paths[N_DATES] + mean)
        strikes = torch.tensor(STRIKES)[:, None]
        payoff = (final - strikes).clamp_min(0.0) * alive
        return math.exp(-RATE * MATURITY) * payoff.double().mean(dim=-1)


def random_search(model, target, n_steps, generator):
    """(1+1) evolution strategy with step-size adaptation."""
    best = [0.25, 0.0, 0.0]
    best_loss = float((model.barrier_calls(best) - target).square().sum())
    scale = 0.2
    losses = []
    for _ in range(n_steps):
        kick = torch.randn(3, generator=generator).tolist()
        trial = [
            max(0.05, best[0] + 0.2 * scale * kick[0]),
            best[1] + scale * kick[1],
            best[2] + scale * kick[2],
        ]
        loss = float((model.barrier_calls(trial) - target).square().sum())
        losses.append(loss)
        if loss < best_loss:
            best, best_loss = trial, loss
            scale *= 1.3
        else:
            scale *= 0.93
    return best, best_loss, losses


def main():
    model = LocalVolModel(gaussian_increments(N_PATHS, N_DATES, seed=3))
    target = model.barrier_calls([0.21, -0.45, 0.3])

    n_steps = 270
    generator = torch.Generator().manual_seed(4)
    start = time.perf_counter()
    best, best_loss, losses = random_search(model, target, n_steps, generator)
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {sum(losses):.5f} {best[0] + 1:.4f} {target.sum().item():.5f}")


if __name__ == "__main__":
    main()
