"""Kuramoto-Sivashinsky style turbulence on a periodic square, pseudo-spectral."""
import math
import time

import torch


class SpectralGrid:
    def __init__(self, n, length):
        self.n = n
        k = 2 * math.pi / length
        self.kx = k * torch.fft.fftfreq(n, 1.0 / n)[:, None]
        self.ky = k * torch.fft.rfftfreq(n, 1.0 / n)[None, :]
        self.k2 = self.kx.square() + self.ky.square()
        cut = k * n / 3
        self.dealias = ((self.kx.abs() < cut) & (self.ky.abs() < cut)).float()

    def forward(self, u):
        return torch.fft.rfft2(u)

    def inverse(self, uh):
        return torch.fft.irfft2(uh, s=(self.n, self.n))


class Flow:
    """u_t = -lap u - lap^2 u - |grad u|^2 / 2, exponential Runge-Kutta 2."""

    def __init__(self, grid, dt):
        self.grid = grid
        linear = grid.k2 - grid.k2.square()
        self.decay = torch.exp(dt * linear)
        safe = torch.where(linear.abs() < 1e-4, torch.ones_like(linear), linear)
        z = dt * safe
        phi1 = torch.expm1(z) / z
        phi2 = (phi1 - 1) / z
        small = linear.abs() < 1e-4
        phi1 = torch.where(small, torch.ones_like(z), phi1)
        phi2 = torch.where(small, torch.full_like(z, 0.5), phi2)
        mask = grid.dealias.clone()
        mask[0, 0] = 0.0
        self.a1 = -0.5 * dt * phi1 * mask
        self.a2 = -0.5 * dt * phi2 * mask
        self.gradient = torch.stack(
            [1j * grid.kx.expand_as(grid.k2), 1j * grid.ky.expand_as(grid.k2)]
        )

    def slope(self, uh):
        g = self.grid.inverse(self.gradient * uh)
        return self.grid.forward(g.square_().sum(dim=0))

    def step(self, uh):
        n0 = self.slope(uh)
        guess = self.decay * uh + self.a1 * n0
        n1 = self.slope(guess)
        return guess + self.a2 * (n1 - n0)


def initial_field(n, gen):
    return 0.5 * torch.randn(n, n, generator=gen)


def main():
    torch.set_num_threads(1)
    gen = torch.Generator().manual_seed(8)
    grid = SpectralGrid(512, 120.0)
    flow = Flow(grid, dt=0.02)
    uh = grid.forward(initial_field(grid.n, gen)) * grid.dealias
    for _ in range(3):
        uh = flow.step(uh)

    steps = 420
    energies = []
    start = time.perf_counter()
    for k in range(steps):
        uh = flow.step(uh)
        if k % 10 == 9:
            energies.append(torch.linalg.vector_norm(uh) / grid.n ** 2)
    elapsed = time.perf_counter() - start
    energies = torch.stack(energies)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {energies.mean().item():.6f} {energies[-1].item():.6f}")


if __name__ == "__main__":
    main()
