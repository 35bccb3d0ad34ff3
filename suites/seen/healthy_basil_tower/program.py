"""Decaying two-dimensional turbulence: a pseudo-spectral solver for the vorticity equation."""
import math
import time

import torch

torch.set_num_threads(1)


class VorticitySolver:
    """Fourth-order integrating-factor Runge-Kutta on a doubly periodic square."""

    def __init__(self, n=128, viscosity=2e-4, dt=3e-3):
        self.n, self.dt = n, dt
        ky = torch.fft.fftfreq(n, 1.0 / n).view(-1, 1)
        kx = torch.fft.rfftfreq(n, 1.0 / n).view(1, -1)
        square = kx ** 2 + ky ** 2
        keep = (kx.abs() < n / 3) & (ky.abs() < n / 3)
        inverse = torch.where(square > 0, 1.0 / square.clamp(min=1.0), torch.zeros(()))
        # Velocity (u, v) and vorticity gradient (wx, wy), all from the spectrum of the vorticity.
        self.operators = torch.stack([
            1j * ky * inverse, -1j * kx * inverse, 1j * kx.expand_as(square), 1j * ky.expand_as(square)])
        self.dealias = keep.float()
        self.half = torch.exp(-0.5 * dt * viscosity * square)
        self.full = self.half ** 2

    def tendency(self, w_hat):
        u, v, wx, wy = torch.fft.irfft2(self.operators * w_hat, s=(self.n, self.n)).unbind()
        return -self.dealias * torch.fft.rfft2(torch.addcmul(u * wx, v, wy))

    def step(self, w_hat):
        dt, half, full = self.dt, self.half, self.full
        k1 = self.tendency(w_hat)
        middle = half * w_hat
        k2 = self.tendency(middle + 0.5 * dt * half * k1)
        k3 = self.tendency(middle + 0.5 * dt * k2)
        k4 = self.tendency(full * w_hat + dt * half * k3)
        return full * w_hat + dt / 6.0 * (full * k1 + 2.0 * half * (k2 + k3) + k4)


def initial_vorticity(n, seed=0, peak=6.0):
    """Random phases with a spectrum around one wave number."""
    gen = torch.Generator().manual_seed(seed)
    ky = torch.fft.fftfreq(n, 1.0 / n).view(-1, 1)
    kx = torch.fft.rfftfreq(n, 1.0 / n).view(1, -1)
    k = torch.sqrt(kx ** 2 + ky ** 2)
    noise = torch.fft.rfft2(torch.randn(n, n, generator=gen))
    w = torch.fft.irfft2(noise * k * torch.exp(-(k / peak) ** 2), s=(n, n))
    return torch.fft.rfft2(5.0 * w / w.std())


def enstrophy(w_hat, n):
    return 0.5 * torch.fft.irfft2(w_hat, s=(n, n)).square().mean()


@torch.inference_mode()
def main(steps=1500, n=192, report=250):
    solver = VorticitySolver(n)
    w_hat = initial_vorticity(n)
    for _ in range(5):
        w_hat = solver.step(w_hat)

    history = [enstrophy(w_hat, n)]
    begin = time.perf_counter()
    for step in range(1, steps + 1):
        w_hat = solver.step(w_hat)
        if step % report == 0:
            history.append(enstrophy(w_hat, n))
            print(f"t = {step * solver.dt:.2f} enstrophy {history[-1].item():.4f}")
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    assert math.isfinite(history[-1].item())
    print(f"checksum {torch.stack(history).mean().item():.4f} {history[-1].item():.4f}")


if __name__ == "__main__":
    main()
