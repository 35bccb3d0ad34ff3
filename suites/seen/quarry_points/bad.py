"""Features of scanned boulders: centres spread over each cloud, and the points around them."""

import math
import time

import torch
import torch.nn as nn

CLOUDS = 8
POINTS = 4000
CENTRES = 192
NEIGHBOURS = 16


def make_boulder(generator):
    """Points on a bumpy closed surface."""
    direction = torch.randn(POINTS, 3, generator=generator)
    direction = direction / direction.norm(dim=1, keepdim=True)
    waves = torch.randn(6, 3, generator=generator) * 2.0
    phase = 2 * math.pi * torch.rand(6, generator=generator)
    radius = 1.0 + 0.08 * torch.sin(direction @ waves.T + phase).sum(dim=1)
    return direction * radius.unsqueeze(1)


def distances(a, b):
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")


def spread_centres(points, count):
    """Picks points one after another, each as far as possible from those already picked."""
    picked = [0]
    while len(picked) < count:
        gap = distances(points, points[picked])
        nearest = gap.min(dim=1).values
        picked.append(int(nearest.argmax()))
    return torch.tensor(picked)


def group_points(points, centres, size):
    """The `size` nearest points of each centre, relative to it."""
    gap = distances(points[centres], points)
    index = gap.topk(size, dim=1, largest=False).indices
    return points[index] - points[centres].unsqueeze(1)


class SetAbstraction(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.point_net = nn.Sequential(
            nn.Linear(3, width),
            nn.ReLU(),
            nn.Linear(width, 2 * width),
            nn.ReLU(),
        )
        self.head = nn.Linear(2 * width, 8)

    def forward(self, points):
        centres = spread_centres(points, CENTRES)
        local = group_points(points, centres, NEIGHBOURS)
        features = self.point_net(local).amax(dim=1)
        return self.head(features).mean(dim=0), centres


@torch.no_grad()
def describe(model, clouds):
    descriptors, coverage = [], []
    for points in clouds:
        descriptor, centres = model(points)
        descriptors.append(descriptor)
        coverage.append(distances(points, points[centres]).min(dim=1).values.max())
    return torch.stack(descriptors), torch.stack(coverage)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(8)
    generator = torch.Generator().manual_seed(21)
    clouds = [make_boulder(generator) for _ in range(CLOUDS)]
    model = SetAbstraction().eval()
    describe(model, clouds[:1])

    start = time.perf_counter()
    descriptors, coverage = describe(model, clouds)
    print(f"{CLOUDS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {descriptors.abs().mean().item():.5f} {coverage.mean().item():.5f} {coverage.max().item():.5f}")


if __name__ == "__main__":
    main()
