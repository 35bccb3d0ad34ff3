"""The copy task with a recurrent net whose transition matrix stays orthogonal."""

import time

import torch
from torch import nn
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal

SYMBOLS = 8
WIDTH = 96
COPY = 8
DELAY = 40
LENGTH = DELAY + 2 * COPY
BATCH = 48


def copy_task(generator):
    """Symbols to keep, blanks, then a mark after which they must be repeated."""
    word = torch.randint(1, SYMBOLS + 1, (BATCH, COPY), generator=generator)
    blank = torch.zeros(BATCH, DELAY - 1, dtype=torch.long)
    mark = torch.full((BATCH, 1), SYMBOLS + 1)
    tail = torch.zeros(BATCH, COPY, dtype=torch.long)
    shown = torch.cat([word, blank, mark, tail], dim=1)
    wanted = torch.cat([torch.zeros(BATCH, COPY + DELAY, dtype=torch.long), word], dim=1)
    return shown, wanted


class OrthogonalCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.write = nn.Embedding(SYMBOLS + 2, WIDTH)
        self.turn = orthogonal(nn.Linear(WIDTH, WIDTH, bias=False), orthogonal_map="matrix_exp")
        self.bias = nn.Parameter(torch.zeros(WIDTH))

    def forward(self, symbol, state):
        drive = self.write(symbol) + self.turn(state)
        return torch.sign(drive) * torch.relu(drive.abs() + self.bias)


class CopyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = OrthogonalCell()
        self.read = nn.Linear(WIDTH, SYMBOLS + 1)

    def forward(self, shown):
        state = torch.zeros(shown.shape[0], WIDTH)
        states = []
        for symbol in shown.unbind(dim=1):
            state = self.cell(symbol, state)
            states.append(state)
        return self.read(torch.stack(states, dim=1))


def train_step(model, optimizer, shown, wanted):
    optimizer.zero_grad(set_to_none=True)
    with parametrize.cached():
        logits = model(shown)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), wanted.flatten())
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = CopyNet()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=3e-4)
    train_step(model, optimizer, *copy_task(generator))

    start = time.perf_counter()
    losses = []
    for _ in range(12):
        losses.append(train_step(model, optimizer, *copy_task(generator)))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    turn = model.cell.turn.weight
    drift = (turn.T @ turn - torch.eye(WIDTH)).abs().max()
    print(f"checksum {losses.mean().item():.4f} {losses[-1].item():.4f} {int(drift.item() < 1e-3)}")


if __name__ == "__main__":
    main()
