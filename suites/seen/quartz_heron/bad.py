"""Click-through model on tabular data: wide part plus a small multilayer perceptron."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(1)

ROWS = 120_000
FEATURES = 24
BATCH = 512
EPOCHS = 5


class WideAndDeep(nn.Module):
    def __init__(self, features, hidden=48):
        super().__init__()
        self.wide = nn.Linear(features, 1)
        self.deep = nn.Sequential(
            nn.Linear(features, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return (self.wide(x) + self.deep(x)).squeeze(-1)


def make_table(rows, features):
    gen = torch.Generator().manual_seed(17)
    x = torch.randn(rows, features, generator=gen)
    w = torch.randn(features, generator=gen) / features ** 0.5
    logit = x @ w + 0.8 * x[:, 0] * x[:, 1] - 0.5 * x[:, 2].square()
    y = torch.bernoulli(torch.sigmoid(logit), generator=gen)
    return x, y


def make_loaders():
    x, y = make_table(ROWS + 8192, FEATURES)
    mean, std = x[:ROWS].mean(0), x[:ROWS].std(0)
    x = (x - mean) / std
    gen = torch.Generator().manual_seed(23)
    train_set = TensorDataset(x[:ROWS], y[:ROWS])
    train = DataLoader(train_set, batch_size=BATCH, shuffle=True, generator=gen)
    return train, (x[ROWS:], y[ROWS:])


def run_epoch(model, opt, loader):
    total = torch.zeros(())
    count = 0
    for xb, yb in loader:
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(xb), yb)
        loss.backward()
        opt.step()
        total += loss.detach() * len(xb)
        count += len(xb)
    return (total / count).item()


@torch.inference_mode()
def evaluate(model, x, y):
    logits = model(x)
    loss = F.binary_cross_entropy_with_logits(logits, y).item()
    accuracy = ((logits > 0) == (y > 0.5)).float().mean().item()
    return loss, accuracy


def main():
    train, (vx, vy) = make_loaders()
    model = WideAndDeep(FEATURES)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    evaluate(model, vx, vy)

    history = []
    start = time.perf_counter()
    for _ in range(EPOCHS):
        train_loss = run_epoch(model, opt, train)
        history.append((train_loss, *evaluate(model, vx, vy)))
    elapsed = time.perf_counter() - start
    print(f"{EPOCHS * len(train)} steps in {elapsed:.2f} s")
    last = history[-1]
    print(f"checksum {last[0]:.5f} {last[1]:.5f} {last[2]:.4f}")


if __name__ == "__main__":
    main()
