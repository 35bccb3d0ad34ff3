"""Levenberg-Marquardt fit of overlapping peaks in many short spectra."""
import time

import torch
from torch.func import jacfwd, vmap

torch.set_num_threads(1)

N_PARAMS = 7


def pseudo_voigt(x, height, centre, width, mix):
    z = ((x - centre) / width).square()
    return height * (mix / (1 + z) + (1 - mix) * torch.exp(-0.693 * z))


def spectrum(theta, x):
    mix = torch.sigmoid(theta[6])
    first = pseudo_voigt(x, torch.exp(theta[0]), theta[1], torch.exp(theta[2]), mix)
    second = pseudo_voigt(x, torch.exp(theta[3]), theta[4], torch.exp(theta[5]), mix)
    return first + second


def residual(theta, grid, observed):
    return spectrum(theta, grid) - observed


class Fitter:
    def __init__(self, grid, observed, theta0):
        self.grid = grid
        self.observed = observed
        self.theta = theta0.clone()
        self.damping = torch.full((theta0.shape[0],), 1e-1, dtype=theta0.dtype)
        self.jac = vmap(jacfwd(residual), in_dims=(0, None, 0))
        self.res = vmap(residual, in_dims=(0, None, 0))

    def step(self):
        r = self.res(self.theta, self.grid, self.observed)
        J = self.jac(self.theta, self.grid, self.observed)
        JtJ = J.mT @ J
        g = J.mT @ r.unsqueeze(-1)
        eye = torch.eye(JtJ.shape[-1], dtype=JtJ.dtype)
        lhs = JtJ + self.damping[:, None, None] * eye
        delta = torch.linalg.solve(lhs, g).squeeze(-1)
        candidate = self.theta - delta.clamp(-0.5, 0.5)
        old = r.square().sum(-1)
        new = self.res(candidate, self.grid, self.observed).square().sum(-1)
        better = new < old
        self.theta = torch.where(better[:, None], candidate, self.theta)
        self.damping = torch.where(better, self.damping * 0.5, self.damping * 2.0)
        self.damping.clamp_(1e-6, 1e4)
        return torch.where(better, new, old)


def make_spectra(n, grid, generator):
    centre = torch.tensor([0.5, -1.2, -0.7, 0.1, 0.9, -0.4, 0.0], dtype=torch.float64)
    spread = 0.15 * torch.randn(n, N_PARAMS, generator=generator, dtype=torch.float64)
    clean = vmap(spectrum, in_dims=(0, None))(centre + spread, grid)
    noise = 0.02 * torch.randn(clean.shape, generator=generator, dtype=torch.float64)
    return clean + noise, centre.expand(n, N_PARAMS)


def main():
    generator = torch.Generator().manual_seed(5)
    grid = torch.linspace(-4.0, 4.0, 48, dtype=torch.float64)
    observed, theta0 = make_spectra(500, grid, generator)
    fitter = Fitter(grid, observed, theta0)
    fitter.step()

    n_steps = 130
    history = []
    start = time.perf_counter()
    for _ in range(n_steps):
        history.append(fitter.step().mean())
    elapsed = time.perf_counter() - start

    history = torch.stack(history)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {history.sum().item():.6f} {fitter.theta.abs().sum().item():.5f}")


if __name__ == "__main__":
    main()
