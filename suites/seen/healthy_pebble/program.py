"""Classifying pebbles by shape and colour with a small convolutional network.

The pictures fit into memory, so each batch is cut out of the tensors by a shuffled
index. Training uses SGD with momentum and a one-cycle learning rate.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

CLASSES = 8
SIZE = 32
PICTURES = 2048
BATCH = 64
STEPS = 40


def make_pebbles(n, seed=61):
    """Noisy ellipses; the class decides about the aspect ratio and the colour."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (n,), generator=generator)
    axis = torch.linspace(-1, 1, SIZE)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    centre = 0.3 * torch.randn(n, 2, 1, 1, generator=generator)
    ratio = torch.tensor([0.6, 1.0, 1.5, 2.2])[labels % 4][:, None, None]
    distance = (xx - centre[:, 0]).square() * ratio + (yy - centre[:, 1]).square() / ratio
    shape = torch.sigmoid(12 * (0.25 - distance))
    palette = torch.tensor([[1.0, 0.7, 0.5], [0.5, 0.7, 1.0]])
    colour = palette[labels // 4][:, :, None, None]
    noise = 0.3 * torch.randn(n, 3, SIZE, SIZE, generator=generator)
    return shape[:, None] * colour + noise, labels


class PebbleNet(nn.Module):
    def __init__(self, channels=24):
        super().__init__()
        c = channels
        self.features = nn.Sequential(
            nn.Conv2d(3, c, 3, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(c, 2 * c, 3, padding=1, bias=False), nn.BatchNorm2d(2 * c), nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(2 * c, 4 * c, 3, padding=1, bias=False), nn.BatchNorm2d(4 * c), nn.ReLU(),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.classify = nn.Linear(4 * c, CLASSES)

    def forward(self, x):
        return self.classify(self.features(x))


def train_step(model, optimizer, scheduler, images, labels):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    scheduler.step()
    return loss.detach()


def shuffled_batches(n, steps, generator):
    """Indices of the batches, with a new order for every epoch."""
    batches = []
    while len(batches) < steps:
        batches.extend(torch.randperm(n, generator=generator)[: n // BATCH * BATCH].split(BATCH))
    return batches[:steps]


@torch.inference_mode()
def accuracy(model, images, labels):
    model.eval()
    hits = [
        (model(x).argmax(dim=1) == y).sum()
        for x, y in zip(images.split(128), labels.split(128))
    ]
    return torch.stack(hits).sum() / len(labels)


def main():
    torch.manual_seed(0)
    images, labels = make_pebbles(PICTURES + 256)
    train_images, train_labels = images[:PICTURES], labels[:PICTURES]
    model = PebbleNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=0.1, total_steps=STEPS + 1
    )

    losses = []
    batches = shuffled_batches(PICTURES, STEPS + 1, torch.Generator().manual_seed(1))
    for step, index in enumerate(batches):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        x, y = train_images[index], train_labels[index]
        losses.append(train_step(model, optimizer, scheduler, x, y))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    held_out = accuracy(model, images[PICTURES:], labels[PICTURES:])
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-5:].mean():.5f} {held_out:.4f}")


if __name__ == "__main__":
    main()
