"""Train a small convolutional classifier on images that are held in memory, with validation at the end."""
import time

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

CLASSES, SIZE = 6, 32


def make_images(count, seed):
    """Oriented gratings with noise; the orientation is the class."""
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, CLASSES, (count,), generator=gen)
    angle = labels * (3.14159 / CLASSES) + 0.1 * torch.randn(count, generator=gen)
    phase = 6.2832 * torch.rand(count, generator=gen)
    axis = torch.arange(SIZE, dtype=torch.float32)
    wave = (torch.cos(angle)[:, None, None] * axis[:, None] + torch.sin(angle)[:, None, None] * axis)
    grating = torch.sin(0.8 * wave + phase[:, None, None])
    images = grating[:, None].repeat(1, 3, 1, 1) + 0.8 * torch.randn(count, 3, SIZE, SIZE, generator=gen)
    return images, labels


def block(cin, cout):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, stride=2, bias=False), nn.BatchNorm2d(cout),
                         nn.ReLU(inplace=True))


class Classifier(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.features = nn.Sequential(block(3, width), block(width, 2 * width), block(2 * width, 4 * width))
        self.head = nn.Linear(4 * width, CLASSES)

    def forward(self, x):
        return self.head(self.features(x).mean(dim=(2, 3)))


class Batches:
    """Shuffled batches by one gather per batch."""

    def __init__(self, images, labels, batch, seed=0):
        self.images, self.labels, self.batch = images, labels, batch
        self.gen = torch.Generator().manual_seed(seed)

    def __iter__(self):
        while True:
            order = torch.randperm(len(self.images), generator=self.gen)
            for pick in order.split(self.batch)[: len(order) // self.batch]:
                yield self.images[pick], self.labels[pick]


def train_step(model, optimizer, schedule, images, labels):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    return loss.detach()


@torch.inference_mode()
def accuracy(model, images, labels, batch=256):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum() for x, y in zip(images.split(batch), labels.split(batch)))
    model.train()
    return right.item() / len(labels)


def main(steps=90):
    torch.manual_seed(0)
    images, labels = make_images(3000, seed=0)
    model = Classifier().to(memory_format=torch.channels_last)
    images = images.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=steps + 3)
    stream = iter(Batches(images, labels, batch=64))
    for _ in range(3):
        train_step(model, optimizer, schedule, *next(stream))

    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        losses.append(train_step(model, optimizer, schedule, *next(stream)))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    score = accuracy(model, *make_images(500, seed=1))
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.4f} {score:.3f}")


if __name__ == "__main__":
    main()
