"""Maps of meadow flowers: a small segmentation net with a pyramid of features."""

import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SIDE = 160
CLASSES = 6
BATCH = 4
PICTURES = 16
STEPS = 48


def make_meadows(generator):
    """Pictures of coloured patches with noise, and the class of each pixel."""
    axis = torch.arange(SIDE, dtype=torch.float32)
    turn = 2 * math.pi / (30.0 + 30.0 * torch.rand(PICTURES, 2, 1, 1, generator=generator))
    wave = torch.sin(turn[:, 0] * axis.view(-1, 1)) + torch.cos(turn[:, 1] * axis)
    label = ((wave + 2.0) / 4.0 * CLASSES).long().clamp(0, CLASSES - 1)
    colour = torch.rand(CLASSES, 3, generator=generator)
    picture = colour[label].permute(0, 3, 1, 2)
    return picture + 0.1 * torch.randn(picture.shape, generator=generator), label


def conv_block(inputs, outputs, stride):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


class PyramidNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.stem = conv_block(3, width, 2)
        self.quarter = conv_block(width, 2 * width, 2)
        self.eighth = conv_block(2 * width, 4 * width, 2)
        self.lateral = nn.Conv2d(2 * width, 4 * width, 1)
        self.merge = conv_block(4 * width, 4 * width, 1)
        self.classify = nn.Conv2d(4 * width, CLASSES, 1)

    def forward(self, picture):
        quarter = self.quarter(self.stem(picture))
        eighth = self.eighth(quarter)
        top = F.interpolate(eighth, scale_factor=2, mode="nearest")
        merged = self.merge(top + self.lateral(quarter))
        logits = self.classify(merged)
        return F.interpolate(logits, size=picture.shape[-2:], mode="bilinear", align_corners=False)


def train_step(model, optimizer, picture, label):
    loss = F.cross_entropy(model(picture), label)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


@torch.no_grad()
def pixel_accuracy(model, picture, label):
    model.eval()
    return (model(picture).argmax(dim=1) == label).float().mean()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(31)
    generator = torch.Generator().manual_seed(80)
    picture, label = make_meadows(generator)
    model = PyramidNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    batches = torch.randint(PICTURES, (STEPS, BATCH), generator=generator)
    train_step(model, optimizer, picture[:BATCH], label[:BATCH])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, picture[rows], label[rows]) for rows in batches])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"accuracy {pixel_accuracy(model, picture[:2], label[:2]).item():.3f}")
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f}")


if __name__ == "__main__":
    main()
