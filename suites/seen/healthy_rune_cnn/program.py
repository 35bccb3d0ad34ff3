"""Reads carved runes: a small residual network, with shifts and noise added to whole batches."""

import time

import torch
from torch import nn

SIDE = 24
RUNES = 8
COUNT = 2000
BATCH = 50
EPOCHS = 2


def make_runes(generator):
    """Each rune is a few strokes; the stones have stains."""
    alphabet = (torch.rand(RUNES, 1, 6, 6, generator=generator) < 0.35).float()
    runes = torch.randint(RUNES, (COUNT,), generator=generator)
    carved = nn.functional.interpolate(alphabet, size=SIDE, mode="nearest")[runes]
    return carved + 0.3 * torch.randn(carved.shape, generator=generator), runes


class Augment:
    """Shifts each picture of a batch by up to two cells, by one gather for the batch."""

    def __init__(self, generator, reach=2):
        self.generator = generator
        self.reach = reach
        self.axis = torch.arange(SIDE)

    def __call__(self, pictures):
        count = len(pictures)
        shift = torch.randint(-self.reach, self.reach + 1, (2, count, 1), generator=self.generator)
        rows, cols = (self.axis + shift).clamp(0, SIDE - 1)
        batch = torch.arange(count)[:, None, None]
        moved = pictures[batch, :, rows[:, :, None], cols[:, None, :]]
        return moved.permute(0, 3, 1, 2)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
        )

    def forward(self, x):
        return torch.relu(x + self.body(x))


def make_model(channels=24):
    return nn.Sequential(
        nn.Conv2d(1, channels, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(channels),
        nn.ReLU(inplace=True),
        Residual(channels),
        nn.MaxPool2d(2),
        Residual(channels),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(channels, RUNES),
    )


def train_epoch(model, optimizer, scheduler, augment, pictures, runes, generator):
    losses = []
    for rows in torch.randperm(COUNT, generator=generator).split(BATCH):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(augment(pictures[rows])), runes[rows])
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(13)
    pictures, runes = make_runes(generator)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * COUNT // BATCH)
    augment = Augment(generator)

    start = time.perf_counter()
    epochs = [
        train_epoch(model, optimizer, scheduler, augment, pictures, runes, generator) for _ in range(EPOCHS)
    ]
    losses = torch.cat(epochs)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
