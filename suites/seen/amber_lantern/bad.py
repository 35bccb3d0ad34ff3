"""Copy-memory benchmark for a unitary-style recurrent network."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import parametrizations, parametrize


class OrthogonalRNN(nn.Module):
    def __init__(self, n_symbols, hidden):
        super().__init__()
        self.embed = nn.Embedding(n_symbols, hidden)
        self.recurrent = nn.Linear(hidden, hidden, bias=False)
        nn.init.orthogonal_(self.recurrent.weight)
        parametrizations.orthogonal(self.recurrent, orthogonal_map="cayley")
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.readout = nn.Linear(hidden, n_symbols)

    def scan(self, inputs):
        h = inputs.new_zeros(inputs.shape[1], inputs.shape[2])
        states = []
        for x in inputs.unbind(0):
            z = self.recurrent(h) + x
            h = torch.tanh(z + self.bias)
            states.append(h)
        return torch.stack(states)

    def forward(self, tokens):
        inputs = self.embed(tokens)
        states = self.scan(inputs)
        return self.readout(states)


class CopyTask:
    """Sequences of `payload` symbols, a delay of blanks, then recall."""

    def __init__(self, payload=5, delay=40, n_values=8, seed=0):
        self.payload = payload
        self.delay = delay
        self.n_values = n_values
        self.gen = torch.Generator().manual_seed(seed)

    @property
    def n_symbols(self):
        return self.n_values + 2

    def batch(self, size):
        word = torch.randint(1, self.n_values + 1, (self.payload, size), generator=self.gen)
        blank = torch.zeros(self.delay, size, dtype=torch.long)
        marker = torch.full((1, size), self.n_values + 1)
        tail = torch.zeros(self.payload - 1, size, dtype=torch.long)
        tokens = torch.cat([word, blank, marker, tail])
        target = torch.zeros_like(tokens)
        target[-self.payload:] = word
        return tokens, target


def train_step(model, optimizer, tokens, target):
    optimizer.zero_grad()
    logits = model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    task = CopyTask()
    model = OrthogonalRNN(task.n_symbols, hidden=160)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    for _ in range(2):
        train_step(model, optimizer, *task.batch(384))

    steps = 34
    losses = []
    start = time.perf_counter()
    for _ in range(steps):
        tokens, target = task.batch(384)
        losses.append(train_step(model, optimizer, tokens, target))
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.mean().item():.6f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
