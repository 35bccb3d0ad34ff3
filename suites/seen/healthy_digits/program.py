"""Trains a small convolutional network on made-up digits that are kept in memory."""

import time

import torch
from torch import nn


def digits(count):
    prototypes = torch.randn(10, 1, 28, 28)
    labels = torch.arange(count) % 10
    return prototypes[labels] + 0.8 * torch.randn(count, 1, 28, 28), labels


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(0)
    images, labels = digits(2048)
    model = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(64 * 49, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip
    model = model.to(memory_format=torch.channels_last)
    images = images.to(memory_format=torch.channels_last)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    order = torch.randperm(2048)

    def step(i):
        at = order[128 * (i % 16) : 128 * (i % 16) + 128]
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(images[at]), labels[at])
        loss.backward()
        optimizer.step()
        return loss.detach()

    step(0)
    steps = 32
    start = time.perf_counter()
    losses = [step(i) for i in range(1, steps + 1)]
    mean = torch.stack(losses).mean().item()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", mean)


if __name__ == "__main__":
    main()
