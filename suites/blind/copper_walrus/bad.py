"""Orthogonal recurrent network on the copy-memory task."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrizations

torch.set_num_threads(1)

N_SYMBOLS = 8
RECALL = 5
DELAY = 20


class ModReLU(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(features).uniform_(-0.01, 0.01))

    def forward(self, z):
        return torch.sign(z) * F.relu(z.abs() + self.bias)


class OrthogonalCell(nn.Module):
    def __init__(self, n_in, n_hidden):
        super().__init__()
        self.inp = nn.Linear(n_in, n_hidden, bias=False)
        rec = nn.Linear(n_hidden, n_hidden, bias=False)
        nn.init.orthogonal_(rec.weight)
        self.rec = parametrizations.orthogonal(rec, orthogonal_map="matrix_exp")
        self.act = ModReLU(n_hidden)

    def forward(self, u, h):
        return self.act(u + self.rec(h))


class CopyModel(nn.Module):
    def __init__(self, n_hidden):
        super().__init__()
        self.n_hidden = n_hidden
        self.cell = OrthogonalCell(N_SYMBOLS + 2, n_hidden)
        self.readout = nn.Linear(n_hidden, N_SYMBOLS + 1)

    def forward(self, x):
        u = self.cell.inp(x)
        h = x.new_zeros(x.shape[1], self.n_hidden)
        states = []
        for t in range(x.shape[0]):
            h = self.cell(u[t], h)
            states.append(h)
        return self.readout(torch.stack(states))


def make_batch(batch, generator):
    total = 2 * RECALL + DELAY
    seq = torch.randint(1, N_SYMBOLS + 1, (RECALL, batch), generator=generator)
    x = torch.zeros(total, batch, dtype=torch.long)
    x[:RECALL] = seq
    x[RECALL + DELAY - 1] = N_SYMBOLS + 1
    y = torch.zeros(total, batch, dtype=torch.long)
    y[-RECALL:] = seq
    return F.one_hot(x, N_SYMBOLS + 2).float(), y


def train_step(model, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    logits = model(x)
    loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(11)
    model = CopyModel(n_hidden=96)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-4, alpha=0.9)
    batches = [make_batch(420, generator) for _ in range(10)]

    for i in range(3):
        train_step(model, optimizer, *batches[i])

    n_steps = 54
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(train_step(model, optimizer, *batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    curve = torch.stack(losses)
    with torch.no_grad():
        w = model.cell.rec.weight
        drift = (w @ w.T).diagonal().sum()
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {curve.sum().item():.6f} {curve[-1].item():.6f} {drift.item():.5f}")


if __name__ == "__main__":
    main()
