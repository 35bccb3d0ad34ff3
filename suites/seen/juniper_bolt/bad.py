"""Transfer learning: train a new head on a pretrained image backbone, with random augmentation."""
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        return x + self.conv2(F.relu(self.norm(self.conv1(x))))


class Backbone(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, stride=2, padding=1)
        self.stage1 = nn.Sequential(Residual(width), Residual(width))
        self.down = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.stage2 = nn.Sequential(Residual(2 * width), Residual(2 * width))

    def forward(self, x):
        x = self.stage1(F.relu(self.stem(x)))
        x = self.stage2(F.relu(self.down(x)))
        return x.mean(dim=(2, 3))


class TransferModel(nn.Module):
    def __init__(self, backbone, features, classes):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, images):
        return self.head(self.backbone(images))


def load_backbone():
    """Stands in for a checkpoint of a pretrained network."""
    backbone = Backbone()
    weights = {name: tensor.clone() for name, tensor in backbone.state_dict().items()}
    backbone.load_state_dict(weights)
    return backbone.eval()


def make_images(count, classes, size=40, seed=0):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (count,), generator=gen)
    prototypes = torch.randn(classes, 3, 5, 5, generator=gen)
    images = F.interpolate(prototypes[labels], size=(size, size), mode="bilinear")
    return images + 0.5 * torch.randn(images.shape, generator=gen), labels


def augment(images, generator, pad=4):
    """Random flip, random shift and random brightness."""
    if torch.rand((), generator=generator) < 0.5:
        images = images.flip(-1)
    dy, dx = torch.randint(-pad, pad + 1, (2,), generator=generator).tolist()
    images = images.roll((dy, dx), dims=(2, 3))
    gain = 1.0 + 0.2 * torch.randn(len(images), 1, 1, 1, generator=generator)
    return images * gain


def train_step(model, optimizer, images, labels):
    loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main(steps=60, batch=32, classes=8):
    torch.manual_seed(0)
    images, labels = make_images(1000, classes)
    model = TransferModel(load_backbone(), features=64, classes=classes)
    optimizer = torch.optim.Adam(model.head.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(1)

    def next_batch():
        pick = torch.randint(0, len(images), (batch,), generator=generator)
        return augment(images[pick], generator), labels[pick]

    for _ in range(3):
        train_step(model, optimizer, *next_batch())

    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        losses.append(train_step(model, optimizer, *next_batch()))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[-10:].mean().item():.5f}")


if __name__ == "__main__":
    main()
