"""Relaxation of a frustrated phi-four lattice with Newton-CG."""
import time

import torch
from torch.func import grad, hessian, vmap

torch.set_num_threads(1)
torch.manual_seed(4)

SIDE = 48
NEWTON_STEPS = 12
CG_STEPS = 14
SHIFT = 2.5


def lattice_energy(phi, field):
    """Kinetic, double-well, next-neighbour and long-range terms of the field."""
    f = phi.view(SIDE, SIDE)
    right = torch.roll(f, -1, 0)
    up = torch.roll(f, -1, 1)
    diag = torch.roll(f, (-1, -1), (0, 1))
    gradient = 0.5 * ((f - right) ** 2 + (f - up) ** 2)
    frustration = 0.15 * torch.tanh(f) * torch.tanh(diag)
    well = 0.25 * (f * f - 1.0) ** 2
    drive = -field * torch.sin(f)
    local = (gradient + frustration + well + drive).sum()
    return local + 0.5 * (f.mean() ** 2) * SIDE


def conjugate_gradient(matvec, b, steps):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rs = r @ r
    for _ in range(steps):
        ap = matvec(p)
        alpha = rs / (p @ ap + 1e-12)
        x = x + alpha * p
        r = r - alpha * ap
        rs_new = r @ r
        p = r + (rs_new / (rs + 1e-12)) * p
        rs = rs_new
    return x


class NewtonCG:
    def __init__(self, energy, shift=SHIFT, cg_steps=CG_STEPS):
        self.energy = energy
        self.gradient = grad(energy)
        self.shift = shift
        self.cg_steps = cg_steps

    def curvature(self, phi, field):
        h = hessian(self.energy)(phi, field)
        return lambda v: h @ v + self.shift * v

    def step(self, phi, field):
        g = self.gradient(phi, field)
        direction = conjugate_gradient(self.curvature(phi, field), -g, self.cg_steps)
        scales = torch.tensor([0.25, 0.5, 1.0])
        trials = phi + scales[:, None] * direction
        energies = vmap(self.energy, in_dims=(0, None))(trials, field)
        best = energies.argmin()
        return trials[best], energies[best], g.norm()


def main():
    gen = torch.Generator().manual_seed(9)
    field = 0.2 * torch.randn(SIDE, SIDE, generator=gen)
    phi = 0.5 * torch.randn(SIDE * SIDE, generator=gen)
    solver = NewtonCG(lattice_energy)
    solver.step(phi, field)

    trace = []
    start = time.perf_counter()
    for _ in range(NEWTON_STEPS):
        phi, value, gnorm = solver.step(phi, field)
        trace.append(value)
    elapsed = time.perf_counter() - start
    print(f"{NEWTON_STEPS} steps in {elapsed:.2f} s")
    trace = torch.stack(trace)
    print(f"checksum {trace[-1].item():.3f} {trace.mean().item():.3f} {phi.square().mean().item():.5f}")


if __name__ == "__main__":
    main()
