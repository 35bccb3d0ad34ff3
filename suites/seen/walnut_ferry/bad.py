"""Train a small 1-D convolutional network on windows cut from recorded multi-channel signals."""
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

CHANNELS, LENGTH, WINDOW, CLASSES = 6, 24000, 256, 4


def make_recording(path, seed=0):
    """Simulate a day of accelerometer data and store it as one archive."""
    rng = np.random.default_rng(seed)
    t = np.arange(LENGTH) / 100.0
    state = np.repeat(rng.integers(0, CLASSES, LENGTH // 400), 400)
    freq = np.array([0.7, 1.6, 3.1, 5.0])[state]
    signal = np.empty((CHANNELS, LENGTH), np.float32)
    for c in range(CHANNELS):
        phase = rng.uniform(0, 2 * np.pi)
        signal[c] = np.sin(2 * np.pi * freq * t + phase) + 0.5 * rng.normal(size=LENGTH)
    np.savez_compressed(path, signal=signal, state=state.astype(np.int64), rate=np.float32(100.0))


class WindowDataset(Dataset):
    """Windows of a recording with the activity at their centre as label."""

    def __init__(self, path, stride=64):
        self.archive = np.load(path)
        length = self.archive["signal"].shape[1]
        self.starts = np.arange(0, length - WINDOW, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start = self.starts[index]
        window = self.archive["signal"][:, start:start + WINDOW]
        label = self.archive["state"][start + WINDOW // 2]
        window = (window - window.mean(axis=1, keepdims=True)) / (window.std(axis=1, keepdims=True) + 1e-5)
        return torch.from_numpy(window), int(label)


class ActivityNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(CHANNELS, width, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 9, padding=4), nn.ReLU(), nn.MaxPool1d(2),
            nn.Conv1d(width, width, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
        )
        self.head = nn.Linear(width, CLASSES)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def train_step(model, optimizer, x, y):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def batches(loader):
    while True:
        yield from loader


def main(steps=50):
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "recording.npz")
        make_recording(path)
        dataset = WindowDataset(path)
        loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)
        model = ActivityNet()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        stream = batches(loader)
        for _ in range(3):
            train_step(model, optimizer, *next(stream))

        losses = []
        begin = time.perf_counter()
        for _ in range(steps):
            x, y = next(stream)
            losses.append(train_step(model, optimizer, x, y))
        elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[:10].mean().item():.5f}")


if __name__ == "__main__":
    main()
