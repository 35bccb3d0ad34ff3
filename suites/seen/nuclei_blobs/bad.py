"""Counts cell nuclei in microscope images with differences of Gaussians."""

import math
import time

import numpy as np
import torch
import torch.nn.functional as F

SIDE = 384
SCALES = (4.0, 5.6, 8.0)


def draw_slide(seed):
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[0:SIDE, 0:SIDE]
    image = 0.05 * rng.normal(size=(SIDE, SIDE))
    for _ in range(25):
        row, col = rng.uniform(20, SIDE - 20, 2)
        size = rng.uniform(5.0, 8.0)
        image += np.exp(-((rows - row) ** 2 + (cols - col) ** 2) / (2 * size**2))
    return torch.from_numpy(image.astype(np.float32))[None, None]


def bell(sigma):
    reach = math.ceil(3.0 * sigma)
    axis = torch.arange(-reach, reach + 1, dtype=torch.float32)
    weights = torch.exp(-(axis**2) / (2.0 * sigma**2))
    return weights / weights.sum()


class Blur(torch.nn.Module):
    def __init__(self, sigma):
        super().__init__()
        line = bell(sigma)
        self.pad = len(line) // 2
        self.register_buffer("kernel", torch.outer(line, line)[None, None])

    def forward(self, image):
        padded = F.pad(image, [self.pad] * 4, mode="reflect")
        return F.conv2d(padded, self.kernel)


class NucleiCounter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blurs = torch.nn.ModuleList([Blur(sigma) for sigma in SCALES])

    def forward(self, image):
        smooth = [blur(image) for blur in self.blurs]
        contrast = torch.stack([fine - coarse for fine, coarse in zip(smooth[:-1], smooth[1:])], dim=1)
        strongest = contrast.amax(dim=1)
        peak = F.max_pool2d(strongest, 15, stride=1, padding=7)
        nuclei = (strongest == peak) & (strongest > 0.06)
        return nuclei.sum(dim=(1, 2, 3)), strongest.mean(dim=(1, 2, 3))


def main():
    torch.set_num_threads(1)
    slides = [draw_slide(seed) for seed in range(13)]
    counter = NucleiCounter().eval()
    with torch.inference_mode():
        counter(slides[0])
        start = time.perf_counter()
        counts, contrasts = [], []
        for slide in slides[1:]:
            count, contrast = counter(slide)
            counts.append(count)
            contrasts.append(contrast)
        counts, contrasts = torch.cat(counts), torch.cat(contrasts)
        print(f"{len(counts)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {counts.float().mean().item():.3f} {contrasts.mean().item():.5f}")


if __name__ == "__main__":
    main()
