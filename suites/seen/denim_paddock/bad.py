"""Gearbox fault classification from sliding windows of vibration recordings."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import ConcatDataset, DataLoader, Dataset

torch.set_num_threads(1)

RATE = 2000


class Recording(Dataset):
    """Overlapping normalised windows of one long accelerometer recording."""

    def __init__(self, signal, label, width=256, hop=128):
        self.signal = signal
        self.label = label
        self.width = width
        self.starts = range(0, signal.shape[-1] - width + 1, hop)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, index):
        start = self.starts[index]
        window = self.signal[:, start : start + self.width]
        return window - window.mean(-1, keepdim=True), self.label


def simulate(fault, seconds, generator):
    """Gear mesh tone, sidebands for a fault, impacts for another, and noise."""
    t = torch.arange(int(RATE * seconds)) / RATE
    shaft = 23.0 + torch.rand(1, generator=generator)
    phase = 2 * math.pi * torch.rand(2, 1, generator=generator)
    mesh = torch.sin(2 * math.pi * 11 * shaft * t + phase)
    if fault == 1:
        mesh = mesh * (1.0 + 0.6 * torch.sin(2 * math.pi * shaft * t))
    if fault == 2:
        beat = torch.remainder(t * 4.7 * shaft, 1.0)
        mesh = mesh + 1.5 * torch.exp(-12 * beat) * torch.sin(2 * math.pi * 700 * t)
    return mesh + 0.7 * torch.randn(2, len(t), generator=generator)


def build_set(recordings, seconds, generator):
    parts = []
    for number in range(recordings):
        fault = number % 3
        parts.append(Recording(simulate(fault, seconds, generator), fault))
    return ConcatDataset(parts)


class WindowNet(nn.Sequential):
    def __init__(self, channels=2, classes=3):
        super().__init__(
            nn.Conv1d(channels, 8, 15, stride=4),
            nn.ReLU(),
            nn.Conv1d(8, 16, 7, stride=4),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(1),
            nn.Flatten(),
            nn.Linear(16, classes),
        )


def run_epoch(model, loader, optimizer):
    total, correct, seen = 0.0, 0.0, 0
    for windows, labels in loader:
        logits = model(windows)
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total = total + loss.detach() * len(labels)
        correct = correct + (logits.detach().argmax(1) == labels).sum()
        seen += len(labels)
    return total / seen, correct / seen


def main(epochs=30, recordings=12, seconds=2.5, batch_size=64):
    torch.manual_seed(101)
    generator = torch.Generator().manual_seed(102)
    windows = build_set(recordings, seconds, generator)
    loader = DataLoader(
        windows, batch_size, shuffle=True, num_workers=2, generator=generator
    )
    model = WindowNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)

    history = [run_epoch(model, loader, optimizer)]
    begin = time.perf_counter()
    for _ in range(epochs):
        history.append(run_epoch(model, loader, optimizer))
    elapsed = time.perf_counter() - begin

    losses, accuracies = (torch.stack(x) for x in zip(*history))
    print(f"{len(windows)} windows, accuracy {accuracies[0]:.3f} -> {accuracies[-1]:.3f}")
    print(f"{epochs} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum():.5f} {accuracies.sum():.4f}")


if __name__ == "__main__":
    main()
