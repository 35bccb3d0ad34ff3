"""Orthogonal recurrent network on the copy-memory task."""
import time

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.nn.utils.parametrizations import orthogonal

torch.set_num_threads(1)

SYMBOLS, COPY, DELAY = 8, 6, 12
LENGTH = DELAY + 2 * COPY
BLANK, MARK = SYMBOLS, SYMBOLS + 1


class ModReLU(nn.Module):
    """Keeps the sign of its input and shifts the magnitude."""

    def __init__(self, features):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(features).uniform_(-0.01, 0.01))

    def forward(self, x):
        return torch.sign(x) * torch.relu(x.abs() + self.bias)


class OrthogonalCell(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.recurrent_kernel = nn.Linear(hidden, hidden, bias=False)
        nn.init.orthogonal_(self.recurrent_kernel.weight)
        orthogonal(self.recurrent_kernel, "weight")
        self.activation = ModReLU(hidden)

    def forward(self, x, h):
        return self.activation(x + self.recurrent_kernel(h))


class CopyModel(nn.Module):
    def __init__(self, hidden=96):
        super().__init__()
        self.hidden = hidden
        self.embed = nn.Embedding(SYMBOLS + 2, 32)
        self.input_kernel = nn.Linear(32, hidden, bias=False)
        self.cell = OrthogonalCell(hidden)
        self.readout = nn.Linear(hidden, SYMBOLS + 1)

    def forward(self, tokens):
        x = self.input_kernel(self.embed(tokens))
        h = x.new_zeros(tokens.shape[0], self.hidden)
        outputs = []
        for t in range(tokens.shape[1]):
            h = self.cell(x[:, t], h)
            outputs.append(h)
        return self.readout(torch.stack(outputs, dim=1))


def copy_batch(batch, generator):
    data = torch.randint(0, SYMBOLS, (batch, COPY), generator=generator)
    tokens = torch.full((batch, LENGTH), BLANK)
    tokens[:, :COPY] = data
    tokens[:, COPY + DELAY - 1] = MARK
    target = torch.full((batch, LENGTH), BLANK)
    target[:, -COPY:] = data
    return tokens, target


def train_step(model, optimizer, batch):
    tokens, target = batch
    logits = model(tokens)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten())
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main(steps=90):
    torch.manual_seed(0)
    model = CopyModel()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(1)
    for _ in range(2):
        train_step(model, optimizer, copy_batch(128, generator))

    losses = []
    begin = time.perf_counter()
    for _ in range(steps):
        losses.append(train_step(model, optimizer, copy_batch(128, generator)))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.5f} {losses[:20].mean().item():.5f}")


if __name__ == "__main__":
    main()
