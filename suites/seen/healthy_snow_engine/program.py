"""Train a small convolutional classifier on pictures of machine parts."""
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 3
PARTS = 2048
HELD = 512
BATCH = 64
SIDE = 32
CLASSES = 8


def make_pictures(count, generator):
    """Gear-like outlines: the class sets the number of teeth."""
    axis = torch.linspace(-1.0, 1.0, SIDE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    radius = torch.hypot(x, y)
    angle = torch.atan2(y, x)
    label = torch.randint(0, CLASSES, (count,), generator=generator)
    teeth = (label + 3).view(-1, 1, 1)
    turn = 6.28 * torch.rand(count, 1, 1, generator=generator)
    edge = 0.6 + 0.15 * torch.cos(teeth * angle + turn)
    shape = torch.sigmoid(20.0 * (edge - radius))
    colour = 0.3 + 0.7 * torch.rand(count, 3, 1, 1, generator=generator)
    picture = colour * shape[:, None]
    picture = picture + 0.1 * torch.randn(picture.shape, generator=generator)
    return picture, label


def stage(enter, leave):
    return nn.Sequential(
        nn.Conv2d(enter, leave, 3, padding=1, bias=False),
        nn.BatchNorm2d(leave),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


def make_model():
    return nn.Sequential(
        stage(3, 32), stage(32, 64), stage(64, 128),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, CLASSES),
    )


def train_epoch(model, optimizer, criterion, loader):
    model.train()
    total = torch.zeros(())
    for picture, label in loader:
        loss = criterion(model(picture), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item() / len(loader)


@torch.inference_mode()
def accuracy(model, loader):
    model.eval()
    right = torch.zeros((), dtype=torch.long)
    for picture, label in loader:
        right += (model(picture).argmax(1) == label).sum()
    return right.item() / len(loader.dataset)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(41)
    generator = torch.Generator().manual_seed(42)
    train = TensorDataset(*make_pictures(PARTS, generator))
    held = TensorDataset(*make_pictures(HELD, generator))
    train_loader = DataLoader(train, batch_size=BATCH, shuffle=True)
    held_loader = DataLoader(held, batch_size=4 * BATCH)

    model = make_model()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)

    warm = DataLoader(train, batch_size=BATCH, sampler=range(BATCH))
    train_epoch(model, optimizer, criterion, warm)
    start = time.perf_counter()
    losses, scores = [], []
    for _ in range(EPOCHS):
        losses.append(train_epoch(model, optimizer, criterion, train_loader))
        scores.append(accuracy(model, held_loader))
    elapsed = time.perf_counter() - start

    print(f"{EPOCHS * len(train_loader)} steps in {elapsed:.2f} s")
    print(f"checksum {losses[-1]:.4f} {scores[-1]:.3f}")


if __name__ == "__main__":
    main()
