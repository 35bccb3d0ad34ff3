"""Damped wave propagation over a heterogeneous medium with absorbing borders."""
import math
import time

import torch
import torch.nn.functional as F


def border_profile(n, width):
    edge = torch.arange(n, dtype=torch.float32)
    depth = torch.minimum(edge, n - 1 - edge)
    ramp = (1 - depth / width).clamp_min(0.0)
    return ramp.square()


class Medium:
    """Velocity map and sponge layer on a regular grid."""

    def __init__(self, nx, ny, width=30, seed=0):
        gen = torch.Generator().manual_seed(seed)
        x = torch.linspace(0, 1, nx)
        y = torch.linspace(0, 1, ny)
        gx, gy = torch.meshgrid(x, y, indexing="ij")
        rough = torch.randn(1, 1, nx // 16, ny // 16, generator=gen)
        rough = F.interpolate(rough, size=(nx, ny), mode="bicubic", align_corners=True)[0, 0]
        self.speed = 1.0 + 0.3 * gy + 0.08 * rough + 0.1 * torch.exp(-20 * (gx - 0.5) ** 2)
        px, py = torch.meshgrid(border_profile(nx, width), border_profile(ny, width), indexing="xy")
        self.sponge = 0.25 * (px + py).clamp_max(1.0).T


class WaveSolver:
    def __init__(self, medium, dx=1.0, courant=0.45):
        self.dt = courant * dx / float(medium.speed.max())
        self.speed2 = (medium.speed * self.dt / dx) ** 2
        self.keep = (1.0 - medium.sponge).contiguous()
        shape = medium.speed.shape
        self.now = torch.zeros(shape)
        self.before = torch.zeros(shape)
        self.lap = torch.empty(shape)
        self.time = 0.0

    def laplacian(self, u):
        lap = self.lap
        torch.mul(u, -4.0, out=lap)
        lap[1:] += u[:-1]
        lap[:-1] += u[1:]
        lap[:, 1:] += u[:, :-1]
        lap[:, :-1] += u[:, 1:]
        return lap

    def inject(self, u, where, frequency=0.04):
        a = (math.pi * frequency * (self.time - 1.2 / frequency)) ** 2
        u[where] += (1 - 2 * a) * math.exp(-a)

    def step(self, source):
        lap = self.laplacian(self.now).mul_(self.speed2)
        velocity = self.now - self.before
        self.before.copy_(self.now).mul_(self.keep)
        self.now.add_(velocity.mul_(self.keep)).add_(lap).mul_(self.keep)
        self.inject(self.now, source)
        self.time += self.dt

    def record(self, row):
        return self.now[row, ::8].clone()


def main():
    torch.set_num_threads(1)
    medium = Medium(768, 960, seed=5)
    solver = WaveSolver(medium)
    source = (384, 480)
    for _ in range(5):
        solver.step(source)

    steps = 1400
    traces = []
    start = time.perf_counter()
    for _ in range(steps):
        solver.step(source)
        traces.append(solver.record(300))
    elapsed = time.perf_counter() - start
    gather = torch.stack(traces)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {gather.abs().mean().item():.7f} {solver.now.square().sum().item():.6f}")


if __name__ == "__main__":
    main()
