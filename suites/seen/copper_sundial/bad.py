"""Bootstrap particle filter for a pendulum with noisy bearing readings."""
import logging
import math
import time

import torch
from torch.distributions import Normal

logger = logging.getLogger("tracker")


class PendulumModel:
    def __init__(self, dt=0.02, damping=0.1, process_std=0.05, obs_std=0.1):
        self.dt = dt
        self.damping = damping
        self.process_std = process_std
        self.obs_std = obs_std

    def propagate(self, state, gen):
        angle, speed = state
        noise = torch.randn(2, angle.shape[0], generator=gen) * self.process_std
        accel = -9.81 * torch.sin(angle) - self.damping * speed
        speed = speed + self.dt * accel + math.sqrt(self.dt) * noise[0]
        angle = angle + self.dt * speed + self.dt * noise[1]
        return torch.stack([angle, speed])

    def log_likelihood(self, state, reading):
        predicted = torch.sin(state[0])
        return Normal(predicted, self.obs_std, validate_args=False).log_prob(reading)


class ParticleFilter:
    def __init__(self, model, n_particles, seed=0):
        self.model = model
        self.n = n_particles
        self.gen = torch.Generator().manual_seed(seed)
        self.state = torch.randn(2, n_particles, generator=self.gen) * 0.3
        self.log_w = torch.zeros(n_particles)
        self.positions = torch.arange(n_particles) / n_particles

    def resample(self, weights):
        offset = torch.rand(1, generator=self.gen) / self.n
        cdf = torch.cumsum(weights, 0)
        idx = torch.searchsorted(cdf, self.positions + offset).clamp_(max=self.n - 1)
        self.state = self.state.index_select(1, idx)
        self.log_w = torch.zeros(self.n)

    def update(self, step, reading):
        self.state = self.model.propagate(self.state, self.gen)
        self.log_w = self.log_w + self.model.log_likelihood(self.state, reading)
        weights = torch.softmax(self.log_w, 0)
        mean = self.state @ weights
        spread = ((self.state - mean[:, None]) ** 2) @ weights
        logger.debug(f"step {step} weights {weights} state {self.state} spread {spread}")
        self.resample(weights)
        return mean, spread


def simulate(model, steps, seed):
    gen = torch.Generator().manual_seed(seed)
    state = torch.tensor([[1.0], [0.0]])
    readings = []
    for _ in range(steps):
        state = model.propagate(state, gen)
        readings.append(torch.sin(state[0]) + model.obs_std * torch.randn(1, generator=gen))
    return torch.cat(readings)


def run(pf, readings):
    means, spreads = [], []
    for k, reading in enumerate(readings):
        mean, spread = pf.update(k, reading)
        means.append(mean)
        spreads.append(spread)
        if k % 1000 == 0:
            logger.info("step %d angle %.3f", k, mean[0])
    return torch.stack(means), torch.stack(spreads)


def main():
    logging.basicConfig(level=logging.INFO)
    torch.set_num_threads(1)
    model = PendulumModel()
    steps = 3400
    readings = simulate(model, steps + 20, seed=7)
    pf = ParticleFilter(model, 8000)
    run(pf, readings[:20])

    start = time.perf_counter()
    means, spreads = run(pf, readings[20:])
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {means.abs().mean().item():.6f} {spreads.mean().item():.6f}")


if __name__ == "__main__":
    main()
