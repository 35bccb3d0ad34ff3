"""Transfer learning on pictures of moths: a pretrained trunk stays as it is, a new head learns."""

import time

import torch
from torch import nn

SIDE = 40
COUNT = 160
BATCH = 32
SPECIES = 5
EPOCHS = 12


def make_trunk():
    """Stands for a trunk with downloaded weights."""
    channels = [3, 16, 32, 64]
    layers = []
    for before, after in zip(channels[:-1], channels[1:]):
        layers += [
            nn.Conv2d(before, after, 3, padding=1),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(2),
        ]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten())


def make_head():
    return nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, SPECIES))


def make_pictures(generator):
    """Wings with stripes, whose colour and distance tell the species."""
    species = torch.randint(SPECIES, (COUNT,), generator=generator)
    axis = torch.linspace(-1.0, 1.0, SIDE)
    rows, cols = torch.meshgrid(axis, axis, indexing="ij")
    wings = torch.exp(-3.0 * (rows**2 + 0.5 * cols**2))
    stripes = torch.sin((6.0 + 3.0 * species.float())[:, None, None] * rows)
    colour = torch.stack([torch.sin(species + shift) for shift in (0.0, 2.0, 4.0)], dim=1)
    pictures = wings * stripes.unsqueeze(1) * colour[:, :, None, None]
    return pictures + 0.4 * torch.randn(pictures.shape, generator=generator), species


def freeze(trunk):
    for p in trunk.parameters():
        p.requires_grad_(False)
    return trunk.eval()


def train_head(trunk, head, optimizer, pictures, species, generator):
    loss_fn = nn.CrossEntropyLoss()
    losses = []
    for _ in range(EPOCHS):
        for rows in torch.randperm(COUNT, generator=generator).split(BATCH):
            with torch.no_grad():
                features = trunk(pictures[rows])
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(head(features), species[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(2)
    pictures, species = make_pictures(generator)
    trunk, head = freeze(make_trunk()), make_head()
    optimizer = torch.optim.Adam(head.parameters(), lr=2e-3)

    start = time.perf_counter()
    losses = train_head(trunk, head, optimizer, pictures, species, generator)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
