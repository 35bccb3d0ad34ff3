"""A codebook of small tiles for old glazed walls: k-means on patches of pictures."""

import math
import time

import torch
import torch.nn.functional as F

SIDE = 4
CODES = 64
PICTURES = 6
PICTURE_SIDE = 128


def make_walls(generator):
    """Pictures with a repeated ornament, each wall in its own colours."""
    axis = torch.arange(PICTURE_SIDE, dtype=torch.float32)
    period = 10.0 + 12.0 * torch.rand(PICTURES, 1, 1, generator=generator)
    turn = 2 * math.pi / period
    ornament = torch.sin(turn * axis[:, None]) * torch.cos(turn * axis) + 0.4 * torch.sin(2 * turn * (axis + axis[:, None]))
    colour = torch.rand(PICTURES, 3, 1, 1, generator=generator)
    walls = 0.5 + 0.4 * ornament.unsqueeze(1) * colour
    return walls + 0.05 * torch.randn(walls.shape, generator=generator)


def cut_patches(walls):
    """All patches of SIDE by SIDE, one row each, without their mean colour."""
    columns = F.unfold(walls, SIDE, stride=3)
    patches = columns.transpose(1, 2).reshape(-1, 3 * SIDE * SIDE)
    return patches - patches.mean(dim=1, keepdim=True)


class KMeans:
    def __init__(self, patches, codes, generator):
        first = torch.randperm(len(patches), generator=generator)[:codes]
        self.codebook = patches[first].clone()

    def nearest(self, patches):
        """Index of the nearest code for each patch, and the squared distance to it."""
        difference = patches.unsqueeze(1) - self.codebook.unsqueeze(0)
        squared = difference.pow(2).sum(dim=-1)
        best, index = squared.min(dim=1)
        return index, best

    def step(self, patches):
        index, best = self.nearest(patches)
        counts = torch.bincount(index, minlength=len(self.codebook)).to(patches.dtype)
        sums = torch.zeros_like(self.codebook).index_add_(0, index, patches)
        fresh = sums / counts.clamp(min=1.0).unsqueeze(1)
        self.codebook = torch.where(counts.unsqueeze(1) > 0, fresh, self.codebook)
        return best.mean()


def usage_entropy(index):
    share = torch.bincount(index, minlength=CODES).float() / len(index)
    return -(share * (share + 1e-9).log()).sum().item()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(12)
    patches = cut_patches(make_walls(generator))
    model = KMeans(patches, CODES, generator)
    model.step(patches)

    start = time.perf_counter()
    errors = torch.stack([model.step(patches) for _ in range(25)])
    index, _ = model.nearest(patches)
    print(f"{len(errors)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {errors.mean().item():.6f} {errors[-1].item():.6f} {usage_entropy(index):.4f}")


if __name__ == "__main__":
    main()
