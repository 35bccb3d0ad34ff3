"""Robust PCA: split a stack of video frames into a low-rank background and sparse moving objects."""
import time

import torch

torch.set_num_threads(1)

HEIGHT, WIDTH, FRAMES = 40, 36, 110


def make_video(seed=0):
    """A background with slow light changes, and bright squares that move over it."""
    gen = torch.Generator().manual_seed(seed)
    scenes = torch.rand(3, HEIGHT, WIDTH, generator=gen)
    time_axis = torch.linspace(0, 6.28, FRAMES)
    light = torch.stack([torch.ones(FRAMES), 0.4 * torch.sin(time_axis), 0.2 * torch.cos(2 * time_axis)])
    video = torch.einsum("kt,khw->thw", light, scenes)
    for _ in range(3):
        row, column = torch.randint(0, HEIGHT - 6, (2,), generator=gen).tolist()
        speed = 1 + int(torch.randint(0, 3, (1,), generator=gen))
        for t in range(FRAMES):
            left = (column + speed * t) % (WIDTH - 5)
            video[t, row:row + 5, left:left + 5] += 1.5
    video += 0.01 * torch.randn(video.shape, generator=gen)
    return video


def soft_threshold(x, amount):
    return torch.sign(x) * torch.relu(x.abs() - amount)


def shrink_spectrum(x, amount):
    """Singular value thresholding; also returns the rank that is left."""
    u, s, vh = torch.linalg.svd(x)
    s = torch.relu(s - amount)
    rank = int((s > 0).sum())
    return (u[:, :rank] * s[:rank]) @ vh[:rank], rank


class RobustPCA:
    """Principal component pursuit with the alternating direction method of multipliers."""

    def __init__(self, data, weight=None):
        rows, columns = data.shape
        self.data = data
        self.weight = weight or 1.0 / max(rows, columns) ** 0.5
        self.penalty = 0.25 * rows * columns / data.abs().sum().item()
        self.sparse = torch.zeros_like(data)
        self.dual = torch.zeros_like(data)
        self.low_rank = torch.zeros_like(data)

    def step(self):
        inverse = 1.0 / self.penalty
        self.low_rank, rank = shrink_spectrum(self.data - self.sparse + inverse * self.dual, inverse)
        self.sparse = soft_threshold(self.data - self.low_rank + inverse * self.dual, inverse * self.weight)
        residual = self.data - self.low_rank - self.sparse
        self.dual += self.penalty * residual
        return rank, residual.norm() / self.data.norm()


def moving_mask(sparse, level=0.5):
    """Share of every frame that is covered by moving objects."""
    return (sparse.abs() > level).float().mean(0)


def main(steps=230):
    torch.manual_seed(0)
    video = make_video()
    data = video.reshape(FRAMES, -1).T.contiguous()
    RobustPCA(data).step()

    solver = RobustPCA(data)
    begin = time.perf_counter()
    for _ in range(steps):
        rank, residual = solver.step()
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    covered = moving_mask(solver.sparse)
    print(f"checksum {solver.low_rank.norm().item():.4f} {covered.mean().item():.5f} {rank}")


if __name__ == "__main__":
    main()
