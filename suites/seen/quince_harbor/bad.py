"""Transfer learning on a small flower data set.

A residual backbone that was pre-trained elsewhere (here: a fixed random initialisation) stays as it
is, and a new linear head is trained on top of it for ten flower classes. Images are augmented
with random flips and shifts, so every epoch sees slightly different pictures.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

NUM_CLASSES = 10
BATCH = 32
STEPS = 14


class ResidualBlock(nn.Module):
    def __init__(self, c_in, c_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(c_out)
        self.shortcut = nn.Identity()
        if stride != 1 or c_in != c_out:
            self.shortcut = nn.Conv2d(c_in, c_out, 1, stride=stride, bias=False)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + self.shortcut(x))


class Backbone(nn.Module):
    """Four-stage residual feature extractor, 3x48x48 -> 128."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 24, 3, padding=1)
        self.stages = nn.Sequential(
            ResidualBlock(24, 24),
            ResidualBlock(24, 48, stride=2),
            ResidualBlock(48, 96, stride=2),
            ResidualBlock(96, 128, stride=2),
        )

    def forward(self, x):
        x = self.stages(F.relu(self.stem(x)))
        return x.mean(dim=(2, 3))


class FlowerClassifier(nn.Module):
    def __init__(self, backbone, num_classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(128, num_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def make_flowers(n, generator):
    """Coloured blobs: the class decides about the colour and the number of petals."""
    labels = torch.randint(0, NUM_CLASSES, (n,), generator=generator)
    axis = torch.linspace(-1, 1, 48)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    angle, radius = torch.atan2(yy, xx), (xx**2 + yy**2).sqrt()
    petals = torch.cos(angle[None] * (labels[:, None, None] % 5 + 2)) * torch.exp(-2 * radius)
    colour = F.one_hot(labels % 3, 3).float()[:, :, None, None]
    images = petals[:, None] * colour + 0.3 * torch.randn(n, 3, 48, 48, generator=generator)
    return images, labels


def augment(images, generator):
    """Random horizontal flip and random shift of the whole batch."""
    if torch.rand((), generator=generator) < 0.5:
        images = images.flip(-1)
    dy, dx = torch.randint(-4, 5, (2,), generator=generator).tolist()
    return torch.roll(images, shifts=(dy, dx), dims=(2, 3))


def train_step(model, optimizer, images, labels):
    logits = model(images)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    images, labels = make_flowers(1024, generator)

    backbone = Backbone()
    model = FlowerClassifier(backbone, NUM_CLASSES)
    model.eval()  # keep the batch-norm statistics of the pre-training
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)

    losses = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        index = torch.randint(0, len(images), (BATCH,), generator=generator)
        batch = augment(images[index], generator)
        losses.append(train_step(model, optimizer, batch, labels[index]))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-5:].mean():.5f} {model.head.weight.norm():.5f}")


if __name__ == "__main__":
    main()
