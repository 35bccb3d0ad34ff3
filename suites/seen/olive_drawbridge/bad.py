"""Levenberg-Marquardt fitting of overlapping spectral lines."""
import time

import torch

torch.set_num_threads(1)


class LineModel:
    """Sum of pseudo-Voigt lines on a linear background."""

    def __init__(self, axis, lines):
        self.axis = axis
        self.lines = lines

    def unpack(self, params):
        background, rest = params[:2], params[2:]
        return background, *rest.view(self.lines, 4).unbind(1)

    def __call__(self, params):
        background, amplitude, centre, log_width, mixing = self.unpack(params)
        width = log_width.exp()
        u = (self.axis[:, None] - centre) / width
        share = torch.sigmoid(mixing)
        gauss = torch.exp(-0.5 * u**2)
        lorentz = 1.0 / (1.0 + u**2)
        profile = amplitude * (share * lorentz + (1.0 - share) * gauss)
        return profile.sum(1) + background[0] + background[1] * self.axis


class LevenbergMarquardt:
    def __init__(self, model, data, sigma, damping=1e-2):
        self.model = model
        self.data = data
        self.sigma = sigma
        self.damping = damping

    def residual(self, params):
        return (self.model(params) - self.data) / self.sigma

    def step(self, params):
        residual = self.residual(params)
        jacobian = torch.autograd.functional.jacobian(self.residual, params)
        gradient = jacobian.T @ residual
        hessian = jacobian.T @ jacobian
        cost = residual.square().sum()
        for _ in range(6):
            damped = hessian + self.damping * torch.diag(hessian.diagonal())
            trial = params - torch.linalg.solve(damped, gradient)
            trial_cost = self.residual(trial).square().sum()
            if trial_cost < cost:
                self.damping = max(self.damping * 0.3, 1e-6)
                return trial, trial_cost
            self.damping *= 4.0
        return params, cost


def synthetic_spectrum(axis, lines, generator):
    def uniform(low, high):
        return low + (high - low) * torch.rand(lines, generator=generator, dtype=axis.dtype)

    centres = torch.linspace(-0.75, 0.75, lines, dtype=axis.dtype) + uniform(-0.08, 0.08)
    shape = torch.stack(
        [uniform(0.5, 2.0), centres, uniform(0.04, 0.09).log(), uniform(-1.0, 1.0)], dim=1
    )
    truth = torch.cat([torch.tensor([0.3, 0.1], dtype=axis.dtype), shape.reshape(-1)])
    clean = LineModel(axis, lines)(truth)
    noise = 0.02 * torch.randn(len(axis), generator=generator, dtype=axis.dtype)
    return truth, clean + noise


def initial_guess(truth, generator):
    jitter = torch.randn(truth.shape, generator=generator, dtype=truth.dtype)
    scale = torch.full_like(truth, 0.1)
    scale[3::4] = 0.01
    return truth + scale * jitter


def main(spectra=6, iterations=9, points=240, lines=5):
    generator = torch.Generator().manual_seed(51)
    axis = torch.linspace(-1.0, 1.0, points, dtype=torch.float64)
    truth, data = synthetic_spectrum(axis, lines, generator)
    LevenbergMarquardt(LineModel(axis, lines), data, sigma=0.02).step(truth)

    costs, found = [], []
    begin = time.perf_counter()
    for _ in range(spectra):
        truth, data = synthetic_spectrum(axis, lines, generator)
        solver = LevenbergMarquardt(LineModel(axis, lines), data, sigma=0.02)
        params = initial_guess(truth, generator)
        for _ in range(iterations):
            params, cost = solver.step(params)
        costs.append(cost / points)
        found.append(params)
    elapsed = time.perf_counter() - begin

    costs = torch.stack(costs)
    print(f"reduced chi-square {costs.mean():.4f} (worst {costs.max():.4f})")
    print(f"{spectra * iterations} steps in {elapsed:.3f} s")
    print(f"checksum {costs.sum():.6f} {torch.stack(found).abs().sum():.6f}")


if __name__ == "__main__":
    main()
