"""Multi-task property prediction: one shared trunk, several task heads."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)

TASKS = {"solubility": 1, "toxicity": 2, "permeability": 1, "binding": 4}
N_BITS = 512


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.silu(self.up(self.norm(x))))


class MultiTaskNet(nn.Module):
    def __init__(self, width=256, depth=3):
        super().__init__()
        self.stem = nn.Linear(N_BITS, width)
        self.trunk = nn.Sequential(*[ResidualBlock(width) for _ in range(depth)])
        self.heads = nn.ModuleDict(
            {
                name: nn.Sequential(nn.Linear(width, 64), nn.SiLU(), nn.Linear(64, k))
                for name, k in TASKS.items()
            }
        )

    def forward(self, x):
        h = self.trunk(self.stem(x))
        return {name: head(h) for name, head in self.heads.items()}


class TaskLosses(nn.Module):
    """Loss of every task with a fixed weight."""

    def __init__(self, weights):
        super().__init__()
        self.weights = weights

    def forward(self, outputs, targets):
        losses = {}
        for column, (name, k) in enumerate(TASKS.items()):
            y = targets[:, column]
            if k == 1:
                loss = F.smooth_l1_loss(outputs[name].squeeze(-1), y)
            else:
                label = (y.abs() * 3).long() % k
                loss = F.cross_entropy(outputs[name], label)
            losses[name] = self.weights[name] * loss
        return losses


def make_data(n, generator):
    fingerprints = (torch.rand(n, N_BITS, generator=generator) < 0.08).float()
    mix = torch.randn(N_BITS, len(TASKS), generator=generator) / N_BITS ** 0.5
    targets = torch.tanh(fingerprints @ mix * 3)
    return TensorDataset(fingerprints, targets)


def train_step(model, criterion, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    losses = criterion(model(x), y)
    for name, loss in losses.items():
        loss.backward(retain_graph=True)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    return torch.stack([loss.detach() for loss in losses.values()])


def main():
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(9)
    data = make_data(5120, generator)
    loader = DataLoader(data, batch_size=512, shuffle=False)
    batches = list(loader)

    model = MultiTaskNet()
    criterion = TaskLosses({"solubility": 1.0, "toxicity": 0.5, "permeability": 1.0, "binding": 0.3})
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, weight_decay=1e-2, eps=1e-6, fused=True)
    train_step(model, criterion, optimizer, *batches[0])

    n_steps = 68
    history = []
    start = time.perf_counter()
    for i in range(n_steps):
        history.append(train_step(model, criterion, optimizer, *batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    history = torch.stack(history)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print("checksum", " ".join(f"{v:.5f}" for v in history.sum(dim=0).tolist()))


if __name__ == "__main__":
    main()
