"""Robust PCA: separating a moving foreground from the background of a video."""
import math
import time

import torch

torch.set_num_threads(1)

HEIGHT, WIDTH, FRAMES = 28, 36, 96


def soft_threshold(x, tau):
    return torch.sign(x) * torch.relu(x.abs() - tau)


def singular_value_threshold(x, tau):
    u, s, vh = torch.linalg.svd(x, full_matrices=False)
    s = torch.relu(s - tau)
    rank = int((s > 0).sum())
    return (u[:, :rank] * s[:rank]) @ vh[:rank], rank


class RobustPCA:
    """Principal component pursuit by the alternating direction method."""

    def __init__(self, data, lam=None):
        self.data = data
        self.lam = lam or 1.0 / math.sqrt(max(data.shape))
        self.mu = data.numel() / (4.0 * data.abs().sum().item())
        self.sparse = torch.zeros_like(data)
        self.dual = torch.zeros_like(data)
        self.low_rank = torch.zeros_like(data)
        self.rank = 0

    def iterate(self):
        inv = 1.0 / self.mu
        self.low_rank, self.rank = singular_value_threshold(
            self.data - self.sparse + inv * self.dual, inv
        )
        self.sparse = soft_threshold(
            self.data - self.low_rank + inv * self.dual, self.lam * inv
        )
        gap = self.data - self.low_rank - self.sparse
        self.dual = self.dual + self.mu * gap
        return gap.norm() / self.data.norm()


def synthetic_video(generator):
    y, x = torch.meshgrid(
        torch.linspace(0, 1, HEIGHT), torch.linspace(0, 1, WIDTH), indexing="ij"
    )
    scene = 0.5 + 0.3 * torch.sin(6 * x) * torch.cos(4 * y)
    shade = torch.stack([x, y, x * y])
    frames = []
    for t in range(FRAMES):
        light = torch.tensor([math.sin(0.1 * t), math.cos(0.07 * t), 0.5])
        frame = scene + 0.1 * torch.einsum("c,chw->hw", light, shade)
        r, c = (3 + t) % (HEIGHT - 6), (2 * t) % (WIDTH - 6)
        frame[r:r + 6, c:c + 6] += 0.8
        frames.append(frame + 0.01 * torch.randn(HEIGHT, WIDTH, generator=generator))
    return torch.stack(frames, dim=-1).reshape(HEIGHT * WIDTH, FRAMES)


def foreground_mask(sparse, level=0.3):
    return (sparse.abs() > level).view(HEIGHT, WIDTH, FRAMES).float().mean(dim=(0, 1))


def main():
    generator = torch.Generator().manual_seed(12)
    video = synthetic_video(generator).double()
    RobustPCA(video).iterate()

    solver = RobustPCA(video)
    n_steps = 300
    gaps = []
    start = time.perf_counter()
    for _ in range(n_steps):
        gaps.append(solver.iterate())
    elapsed = time.perf_counter() - start

    occupancy = foreground_mask(solver.sparse)
    nuclear = torch.linalg.matrix_norm(solver.low_rank, "nuc")
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(
        f"checksum {torch.stack(gaps).sum().item():.5f} {occupancy.sum().item():.4f} "
        f"{nuclear.item():.4f} {solver.rank}"
    )


if __name__ == "__main__":
    main()
