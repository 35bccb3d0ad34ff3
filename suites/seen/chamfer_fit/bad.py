"""Bends a sphere of points on to a scanned shape by gradient descent on the distance to the nearest points."""

import math
import time

import torch


def sphere(count):
    i = torch.arange(count) + 0.5
    polar, around = torch.acos(1 - 2 * i / count), math.pi * (1 + 5**0.5) * i
    return torch.stack([polar.sin() * around.cos(), polar.sin() * around.sin(), polar.cos()], dim=1)


def scan(count):
    points = sphere(count)
    bumps = 1 + 0.3 * torch.sin(4 * points[:, :1]) * torch.cos(3 * points[:, 1:2])
    return points * bumps * torch.tensor([1.0, 0.7, 1.3])


def chamfer(a, b):
    difference = a[:, None, :] - b[None, :, :]
    distance = (difference**2).sum(dim=-1).clamp_min(1e-12).sqrt()
    return distance.min(dim=1).values.mean() + distance.min(dim=0).values.mean()


def main():
    torch.manual_seed(0)
    target = scan(1600)
    points = sphere(1200).requires_grad_()
    optimizer = torch.optim.SGD([points], lr=20.0)

    def step():
        optimizer.zero_grad()
        loss = chamfer(points, target)
        loss.backward()
        optimizer.step()
        return loss

    step()
    steps = 12
    start = time.perf_counter()
    for _ in range(steps):
        loss = step()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", loss.item())


if __name__ == "__main__":
    main()
