"""Evaluation of a land-cover segmentation network.

A small encoder-decoder labels every pixel of satellite tiles with one of six land-cover classes. We
run it over a validation set and report the overall accuracy and the mean intersection over union,
both computed from the confusion matrix.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

CLASSES = 6
SIZE = 64
BATCH = 8
BATCHES = 12


class ConvBlock(nn.Sequential):
    def __init__(self, c_in, c_out):
        super().__init__(
            nn.Conv2d(c_in, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(),
            nn.Conv2d(c_out, c_out, 3, padding=1), nn.BatchNorm2d(c_out), nn.ReLU(),
        )


class SmallUNet(nn.Module):
    def __init__(self, channels=16):
        super().__init__()
        c = channels
        self.down1 = ConvBlock(4, c)
        self.down2 = ConvBlock(c, 2 * c)
        self.bottom = ConvBlock(2 * c, 4 * c)
        self.up2 = ConvBlock(6 * c, 2 * c)
        self.up1 = ConvBlock(3 * c, c)
        self.output = nn.Conv2d(c, CLASSES, 1)

    def forward(self, x):
        a = self.down1(x)
        b = self.down2(F.max_pool2d(a, 2))
        z = self.bottom(F.max_pool2d(b, 2))
        z = self.up2(torch.cat([F.interpolate(z, scale_factor=2), b], dim=1))
        z = self.up1(torch.cat([F.interpolate(z, scale_factor=2), a], dim=1))
        return self.output(z)


def make_tiles(n, seed=41):
    """Four-band tiles with smooth patches of the classes, and the label of every pixel."""
    generator = torch.Generator().manual_seed(seed)
    coarse = torch.randn(n, CLASSES, 8, 8, generator=generator)
    labels = F.interpolate(coarse, size=(SIZE, SIZE), mode="bilinear").argmax(dim=1)
    signature = torch.randn(CLASSES, 4, generator=generator)
    tiles = signature[labels].permute(0, 3, 1, 2)
    tiles = tiles + 0.4 * torch.randn(n, 4, SIZE, SIZE, generator=generator)
    return tiles.contiguous(), labels


class SegmentationMetrics:
    """Collects the confusion matrix; rows are the true classes."""

    def __init__(self, num_classes):
        self.num_classes = num_classes
        self.confusion = torch.zeros(num_classes, num_classes, dtype=torch.long)

    def update(self, predicted, labels):
        for truth, guess in zip(labels.flatten(), predicted.flatten()):
            self.confusion[truth, guess] += 1

    def accuracy(self):
        return self.confusion.diagonal().sum() / self.confusion.sum()

    def mean_iou(self):
        hits = self.confusion.diagonal()
        union = self.confusion.sum(dim=0) + self.confusion.sum(dim=1) - hits
        return (hits / union.clamp(min=1)).mean()


@torch.inference_mode()
def evaluate(model, tiles, labels):
    """Metrics over all tiles, batch by batch, and the seconds after the first batch."""
    metrics = SegmentationMetrics(CLASSES)
    for step in range(BATCHES + 1):
        if step == 1:  # the first batch is a warm-up
            start = time.perf_counter()
        rows = slice(step * BATCH, (step + 1) * BATCH)
        predicted = model(tiles[rows]).argmax(dim=1)
        metrics.update(predicted, labels[rows])
    return metrics, time.perf_counter() - start


def main():
    torch.manual_seed(0)
    tiles, labels = make_tiles(BATCH * (BATCHES + 1))
    model = SmallUNet().eval()

    metrics, elapsed = evaluate(model, tiles, labels)

    print(f"{BATCHES} steps in {elapsed:.2f} s")
    print(f"{metrics.accuracy():.6f} {metrics.mean_iou():.6f}")


if __name__ == "__main__":
    main()
