"""Sensor model: convolutional front end followed by a light recurrent unit."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class LightRecurrentUnit(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(2 * width, width)
        self.candidate = nn.Linear(2 * width, width)

    def step(self, x_t, h):
        xh = torch.cat([x_t, h], dim=-1)
        f = torch.sigmoid(self.gate(xh))
        c = torch.tanh(self.candidate(xh))
        return torch.lerp(h, c, f)

    def forward(self, x):
        batch, _, width = x.shape
        h = x.new_zeros(batch, width)
        states = []
        for x_t in x.unbind(dim=1):
            h = self.step(x_t, h)
            states.append(h)
        return torch.stack(states, dim=1)


class ActivityModel(nn.Module):
    def __init__(self, channels, width, n_classes):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv1d(channels, width, 5, padding=2),
            nn.GELU(),
            nn.Conv1d(width, width, 3, padding=1),
        )
        self.norm = nn.LayerNorm(width)
        self.rnn = LightRecurrentUnit(width)
        self.head = nn.Linear(width, n_classes)

    def forward(self, signal):
        feats = self.front(signal).transpose(1, 2)
        feats = self.norm(feats)
        states = self.rnn(feats)
        return self.head(states.mean(dim=1))


def make_recordings(n, channels, length, n_classes, seed):
    gen = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, n_classes, (n,), generator=gen)
    t = torch.linspace(0, 6.28, length)
    phase = torch.rand(n, channels, 1, generator=gen) * 6.28
    freq = (labels + 1).view(-1, 1, 1).float()
    noise = 0.5 * torch.randn(n, channels, length, generator=gen)
    return torch.sin(freq * t + phase) + noise, labels


def train(model, signals, labels, optimizer, steps, batch):
    history = []
    n = signals.shape[0]
    for k in range(steps):
        lo = (k * batch) % n
        xb, yb = signals[lo:lo + batch], labels[lo:lo + batch]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        history.append(loss.detach())
    return torch.stack(history)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    signals, labels = make_recordings(512, 6, 400, 5, seed=1)
    model = ActivityModel(6, 64, 5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    train(model, signals, labels, optimizer, 1, 44)

    steps = 20
    start = time.perf_counter()
    history = train(model, signals, labels, optimizer, steps, 44)
    elapsed = time.perf_counter() - start
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {history.mean().item():.6f} {history[-1].item():.6f}")


if __name__ == "__main__":
    main()
