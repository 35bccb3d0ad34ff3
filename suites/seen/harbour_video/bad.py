"""Finds the boats in a harbour camera: robust PCA splits frames into background and motion."""

import time

import torch

ROWS, COLS = 30, 40
FRAMES = 32
SWEEPS = 70


def make_clip(generator):
    """A still harbour whose light changes slowly, crossed by a few bright boats."""
    harbour = torch.rand(ROWS, COLS, generator=generator)
    light = 1.0 + 0.2 * torch.sin(torch.linspace(0.0, 3.0, FRAMES))
    clip = light[:, None, None] * harbour
    speed = torch.randint(1, 3, (4,), generator=generator)
    row = torch.randint(2, ROWS - 4, (4,), generator=generator)
    for boat in range(4):
        for frame in range(FRAMES):
            col = (5 * boat + int(speed[boat]) * frame) % (COLS - 3)
            clip[frame, row[boat] : row[boat] + 2, col : col + 3] = 1.5
    clip = clip + 0.01 * torch.randn(clip.shape, generator=generator)
    return clip.reshape(FRAMES, ROWS * COLS).T.contiguous()


def soft_threshold(x, amount):
    return torch.sign(x) * torch.relu(x.abs() - amount)


def shrink_rank(matrix, amount):
    """Singular value thresholding: the proximal map of the nuclear norm."""
    u, s, vh = torch.linalg.svd(matrix)
    s = torch.relu(s - amount)
    rank = s.numel()
    return u[:, :rank] @ (s.unsqueeze(-1) * vh[:rank]), int((s > 0).sum())


class RobustPCA:
    """Principal component pursuit by alternating directions."""

    def __init__(self, matrix):
        pixels, frames = matrix.shape
        self.matrix = matrix
        self.weight = 1.0 / max(pixels, frames) ** 0.5
        self.mu = pixels * frames / (4.0 * matrix.abs().sum())
        self.motion = torch.zeros_like(matrix)
        self.dual = torch.zeros_like(matrix)

    def sweep(self):
        rest = self.matrix - self.motion + self.dual / self.mu
        self.background, rank = shrink_rank(rest, 1.0 / self.mu)
        rest = self.matrix - self.background + self.dual / self.mu
        self.motion = soft_threshold(rest, self.weight / self.mu)
        gap = self.matrix - self.background - self.motion
        self.dual = self.dual + self.mu * gap
        return gap.norm() / self.matrix.norm(), rank


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(3)
    pursuit = RobustPCA(make_clip(generator))
    pursuit.sweep()

    start = time.perf_counter()
    gaps, ranks = [], []
    for _ in range(SWEEPS):
        gap, rank = pursuit.sweep()
        gaps.append(gap)
        ranks.append(rank)
    moving = pursuit.motion.abs().mean().item()
    print(f"{SWEEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {moving:.6f} {pursuit.background.mean().item():.6f} {sum(ranks) / SWEEPS:.2f}")


if __name__ == "__main__":
    main()
