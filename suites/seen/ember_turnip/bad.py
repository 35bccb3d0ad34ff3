"""Fit the parameters of a predator-prey model to noisy counts with Levenberg-Marquardt."""
import time

import torch
from torch.autograd.functional import jacobian

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

DAYS, SUBSTEPS = 25, 2


def field(state, rates):
    """Lotka-Volterra with logistic growth of the prey; state (..., 2)."""
    prey, predator = state[0], state[1]
    growth, capacity, attack, gain, death = rates
    d_prey = growth * prey * (1 - prey / capacity) - attack * prey * predator
    d_predator = gain * prey * predator - death * predator
    return torch.stack([d_prey, d_predator])


def simulate(parameters):
    """Counts of both species per day, by classical Runge-Kutta steps."""
    rates = torch.exp(parameters[:5]).unbind()
    state = torch.exp(parameters[5:7])
    h = 1.0 / SUBSTEPS
    days = []
    for _ in range(DAYS):
        for _ in range(SUBSTEPS):
            k1 = field(state, rates)
            k2 = field(state + 0.5 * h * k1, rates)
            k3 = field(state + 0.5 * h * k2, rates)
            k4 = field(state + h * k3, rates)
            state = state + h / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)
        days.append(state)
    return torch.stack(days)


class Problem:
    def __init__(self, truth, seed):
        gen = torch.Generator().manual_seed(seed)
        clean = simulate(truth)
        self.counts = clean * torch.exp(0.05 * torch.randn(clean.shape, generator=gen))

    def residuals(self, parameters):
        return (torch.log(simulate(parameters)) - torch.log(self.counts)).flatten() / 0.05


def derivative(problem, parameters):
    return jacobian(problem.residuals, parameters)


class LevenbergMarquardt:
    def __init__(self, problem, start, damping=1e-2):
        self.problem = problem
        self.parameters = start
        self.damping = damping
        self.residuals = problem.residuals(start)

    def step(self):
        J = derivative(self.problem, self.parameters)
        gradient = J.T @ self.residuals
        normal = J.T @ J
        damped = normal + self.damping * torch.diag(normal.diagonal())
        trial = self.parameters - torch.linalg.solve(damped, gradient)
        residuals = self.problem.residuals(trial)
        if residuals.square().sum() < self.residuals.square().sum():
            self.parameters, self.residuals = trial, residuals
            self.damping *= 0.3
        else:
            self.damping *= 4.0
        return self.residuals.square().mean()


def main(steps=8):
    truth = torch.log(torch.tensor([0.9, 12.0, 0.35, 0.12, 0.45, 4.0, 1.5]))
    problem = Problem(truth, seed=0)
    start = truth + torch.tensor([0.1, -0.1, 0.1, -0.1, 0.1, 0.05, -0.05])
    LevenbergMarquardt(problem, truth).step()

    solver = LevenbergMarquardt(problem, start)
    begin = time.perf_counter()
    for _ in range(steps):
        loss = solver.step()
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {loss.item():.5f} {solver.parameters.sum().item():.5f}")


if __name__ == "__main__":
    main()
