"""Molecular dynamics of a Lennard-Jones fluid, velocity Verlet in a periodic box."""
import math
import time

import torch

torch.set_num_threads(1)


class LennardJones:
    """Truncated and shifted 12-6 potential."""

    def __init__(self, epsilon=1.0, sigma=1.0, cutoff=2.5):
        self.epsilon = epsilon
        self.sigma = sigma
        self.cutoff = cutoff
        self.shift = 4 * epsilon * ((sigma / cutoff) ** 12 - (sigma / cutoff) ** 6)

    def energy_and_scale(self, r2):
        s2 = self.sigma ** 2 / r2
        s6 = s2 * s2 * s2
        s12 = s6 * s6
        energy = 4 * self.epsilon * (s12 - s6) - self.shift
        scale = 24 * self.epsilon * (2 * s12 - s6) / r2
        inside = (r2 < self.cutoff ** 2).to(r2.dtype)
        return energy * inside, scale * inside


class System:
    def __init__(self, n_side, density, temperature, generator):
        n = n_side ** 3
        self.n = n
        self.box = (n / density) ** (1.0 / 3.0)
        grid = torch.arange(n_side) * (self.box / n_side)
        self.x = torch.cartesian_prod(grid, grid, grid)
        self.v = math.sqrt(temperature) * torch.randn(n, 3, generator=generator)
        self.v -= self.v.mean(dim=0)
        self.self_pairs = torch.eye(n) * self.box ** 2
        self.potential = LennardJones()
        self.force, self.energy = self.forces()

    def forces(self):
        x = self.x.T.contiguous()
        d = x[:, :, None] - x[:, None, :]
        d -= self.box * torch.round(d / self.box)
        r2 = d.square().sum(dim=0) + self.self_pairs
        energy, scale = self.potential.energy_and_scale(r2)
        total = (d * scale).sum(dim=2).T
        return total, 0.5 * energy.sum()

    def step(self, dt):
        self.v += 0.5 * dt * self.force
        self.x = torch.remainder(self.x + dt * self.v, self.box)
        self.force, self.energy = self.forces()
        self.v += 0.5 * dt * self.force

    def kinetic(self):
        return 0.5 * self.v.square().sum()


def rescale(system, target):
    """Weak velocity rescaling towards the target temperature."""
    t = 2 * system.kinetic() / (3 * system.n)
    system.v *= torch.sqrt(1 + 0.02 * (target / t - 1))


def main():
    generator = torch.Generator().manual_seed(8)
    system = System(6, density=0.3, temperature=0.8, generator=generator)
    dt = 0.0005
    for _ in range(3):
        system.step(dt)

    n_steps = 4200
    total_energy = []
    start = time.perf_counter()
    for i in range(n_steps):
        system.step(dt)
        rescale(system, 0.8)
        total_energy.append(system.energy + system.kinetic())
    elapsed = time.perf_counter() - start

    trace = torch.stack(total_energy)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {trace.mean().item():.4f} {trace[-1].item():.4f} {system.kinetic().item():.4f}")


if __name__ == "__main__":
    main()
