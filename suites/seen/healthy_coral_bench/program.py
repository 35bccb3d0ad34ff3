"""A Plummer sphere of stars integrated with the leap-frog scheme."""
import time

import torch

torch.set_num_threads(1)

STARS = 1024
STEPS = 2400
WARMUP = 5
DT = 2e-3
SOFTENING = 0.05


def plummer(n, gen):
    """Positions and velocities of a sphere in rough equilibrium, total mass one."""
    u = torch.rand(n, generator=gen).clamp(0.02, 0.95)
    radius = (u ** (-2.0 / 3.0) - 1.0).rsqrt()
    direction = torch.randn(n, 3, generator=gen)
    direction /= direction.norm(dim=1, keepdim=True)
    pos = radius[:, None] * direction
    sigma = (1.0 / 6.0) ** 0.5 * (1.0 + radius.square()) ** -0.25
    vel = sigma[:, None] * torch.randn(n, 3, generator=gen)
    return pos - pos.mean(0), vel - vel.mean(0)


class Gravity:
    """Softened direct-sum forces; the pair matrix lives in one buffer that is used again."""

    def __init__(self, n, softening):
        self.mass = 1.0 / n
        self.eps2 = softening ** 2
        self.pair = torch.empty(n, n)
        self.ones = torch.ones(n, 1)

    def distances2(self, pos):
        sq = pos.square().sum(1, keepdim=True)
        left = torch.cat([-2.0 * pos, sq + self.eps2, self.ones], dim=1)
        right = torch.cat([pos, self.ones, sq], dim=1)
        return torch.mm(left, right.T, out=self.pair).clamp_(min=self.eps2)

    def acceleration(self, pos):
        inv = self.distances2(pos).rsqrt_()
        weight = inv.pow_(3)
        pull = weight @ torch.cat([pos, self.ones], dim=1)
        return self.mass * (pull[:, :3] - pull[:, 3:] * pos)

    def potential(self, pos):
        inv = self.distances2(pos).rsqrt_()
        total = inv.sum() - inv.diagonal().sum()
        return -0.5 * self.mass ** 2 * total


def energy(gravity, pos, vel):
    kinetic = 0.5 * gravity.mass * vel.square().sum()
    return (kinetic + gravity.potential(pos)).item()


def integrate(gravity, pos, vel, acc, steps, dt):
    radii = []
    for k in range(steps):
        vel.add_(acc, alpha=0.5 * dt)
        pos.add_(vel, alpha=dt)
        acc = gravity.acceleration(pos)
        vel.add_(acc, alpha=0.5 * dt)
        if k % 100 == 0:
            radii.append(pos.norm(dim=1).median())
    return acc, radii


@torch.inference_mode()
def main():
    gen = torch.Generator().manual_seed(33)
    pos, vel = plummer(STARS, gen)
    gravity = Gravity(STARS, SOFTENING)
    acc = gravity.acceleration(pos)
    acc, _ = integrate(gravity, pos, vel, acc, WARMUP, DT)

    before = energy(gravity, pos, vel)
    start = time.perf_counter()
    acc, radii = integrate(gravity, pos, vel, acc, STEPS, DT)
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    after = energy(gravity, pos, vel)
    half_mass = torch.stack(radii).mean().item()
    print(f"checksum {before:.4f} {after:.4f} {half_mass:.3f}")


if __name__ == "__main__":
    main()
