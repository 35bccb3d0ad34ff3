"""Tells two birds apart by the spectrograms of their calls."""

import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

from calls import recording, spectrogram


class Calls(Dataset):
    def __init__(self, count):
        self.recordings = [recording(i) for i in range(count)]

    def __len__(self):
        return len(self.recordings)

    def __getitem__(self, index):
        samples, kind = self.recordings[index]
        return torch.from_numpy(spectrogram(samples))[None], kind


def network():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=3), nn.ReLU(), nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(256, 2),
    )  # fmt: skip


def main():
    torch.manual_seed(1)
    loader = DataLoader(Calls(96), batch_size=16, shuffle=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    epochs, steps, total = 6, 0, 0.0
    start = time.perf_counter()
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
            steps += 1
        total += loss.item()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", round(total, 4))


if __name__ == "__main__":
    main()
