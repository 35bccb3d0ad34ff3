"""Adding problem with an orthogonal recurrent network.

Every sequence holds random numbers and two markers; the network has to return the sum of the two
marked numbers at the end.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import orthogonal

torch.set_num_threads(1)
torch.manual_seed(3)

LENGTH = 60
BATCH = 128
HIDDEN = 64
STEPS = 95
WARMUP = 3


class OrthogonalCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.inp = nn.Linear(inputs, hidden)
        self.rec = orthogonal(nn.Linear(hidden, hidden, bias=False), orthogonal_map="matrix_exp")

    def forward(self, drive, h):
        return torch.tanh(drive + self.rec(h))


class SequenceRegressor(nn.Module):
    def __init__(self, inputs=2, hidden=HIDDEN):
        super().__init__()
        self.hidden = hidden
        self.cell = OrthogonalCell(inputs, hidden)
        self.head = nn.Linear(hidden, 1)

    def forward(self, seq):
        h = seq.new_zeros(seq.shape[1], self.hidden)
        for drive in self.cell.inp(seq):
            h = self.cell(drive, h)
        return self.head(h).squeeze(-1)


def adding_batch(length, batch, gen):
    values = torch.rand(length, batch, generator=gen)
    markers = torch.zeros(length, batch)
    first = torch.randint(0, length // 2, (batch,), generator=gen)
    second = torch.randint(length // 2, length, (batch,), generator=gen)
    cols = torch.arange(batch)
    markers[first, cols] = 1.0
    markers[second, cols] = 1.0
    target = (values * markers).sum(0)
    return torch.stack([values, markers], dim=-1), target


def train_step(model, opt, seq, target):
    opt.zero_grad(set_to_none=True)
    loss = F.mse_loss(model(seq), target)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    return loss.detach()


def main():
    gen = torch.Generator().manual_seed(11)
    model = SequenceRegressor()
    opt = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
    for _ in range(WARMUP):
        train_step(model, opt, *adding_batch(LENGTH, BATCH, gen))

    losses = []
    start = time.perf_counter()
    for _ in range(STEPS):
        seq, target = adding_batch(LENGTH, BATCH, gen)
        losses.append(train_step(model, opt, seq, target))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")

    with torch.no_grad():
        w = model.cell.rec.weight
        drift = (w @ w.T - torch.eye(HIDDEN)).abs().max().item()
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[-5:].mean().item():.5f} {1.0 + drift:.4f}")


if __name__ == "__main__":
    main()
