"""Fitting a radial-velocity curve of a star with one planet by Levenberg-Marquardt.

The star's velocity over time follows a Keplerian orbit with period, amplitude, eccentricity,
argument of periastron, phase and offset as parameters. We fit them to noisy measurements by damped
Gauss-Newton steps; the derivatives come from autograd.
"""
import math
import time

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

MEASUREMENTS = 300
STEPS = 12
TRUE = torch.tensor([41.0, 55.0, 0.30, 0.8, 0.4, -12.0])
GUESS = torch.tensor([40.7, 48.0, 0.22, 0.7, 0.35, -8.0])


def solve_kepler(mean_anomaly, eccentricity):
    """Eccentric anomaly by a fixed number of Newton iterations."""
    e_anomaly = mean_anomaly + eccentricity * torch.sin(mean_anomaly)
    for _ in range(5):
        f = e_anomaly - eccentricity * torch.sin(e_anomaly) - mean_anomaly
        e_anomaly = e_anomaly - f / (1 - eccentricity * torch.cos(e_anomaly))
    return e_anomaly


def radial_velocity(params, t):
    period, amplitude, ecc, omega, phase, offset = params
    mean_anomaly = 2 * math.pi * (t / period - phase)
    e_anomaly = solve_kepler(mean_anomaly, ecc)
    nu = 2 * torch.atan2(
        torch.sqrt(1 + ecc) * torch.sin(e_anomaly / 2),
        torch.sqrt(1 - ecc) * torch.cos(e_anomaly / 2),
    )
    return amplitude * (torch.cos(nu + omega) + ecc * torch.cos(omega)) + offset


def make_measurements(seed=17):
    """Irregular nights over two years, with an error of three metres per second."""
    generator = torch.Generator().manual_seed(seed)
    t = (torch.rand(MEASUREMENTS, generator=generator) * 730).sort().values
    sigma = 2.0 + 2.0 * torch.rand(MEASUREMENTS, generator=generator)
    noise = sigma * torch.randn(MEASUREMENTS, generator=generator)
    return t, radial_velocity(TRUE, t) + noise, sigma


class LevenbergMarquardt:
    """Minimises 0.5 * sum(residuals(params)**2) with an adaptive damping."""

    def __init__(self, residuals, params, damping=1e-2):
        self.residuals = residuals
        self.params = params
        self.damping = damping
        self.cost = 0.5 * residuals(params).square().sum()

    def step(self):
        r = self.residuals(self.params)
        jac = torch.func.jacfwd(self.residuals)(self.params)
        normal = jac.T @ jac
        damped = normal + self.damping * torch.diag(normal.diagonal())
        proposal = self.params - torch.linalg.solve(damped, jac.T @ r)
        cost = 0.5 * self.residuals(proposal).square().sum()
        if cost < self.cost:
            self.params, self.cost = proposal, cost
            self.damping /= 5
        else:
            self.damping *= 5
        return self.cost


def main():
    t, velocity, sigma = make_measurements()

    def residuals(params):
        return (radial_velocity(params, t) - velocity) / sigma

    fit = LevenbergMarquardt(residuals, GUESS)
    costs = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        costs.append(fit.step())
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    period, amplitude, ecc = fit.params[:3].tolist()
    print(f"{costs[-1]:.5f} {period:.5f} {amplitude:.5f} {ecc:.5f}")


if __name__ == "__main__":
    main()
