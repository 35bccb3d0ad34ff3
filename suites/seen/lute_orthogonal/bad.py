"""Copy-memory task of plucked notes, learnt by a recurrent net with an orthogonal transition."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.parametrizations import orthogonal

NOTES = 8
KEEP = 5
SILENCE = 40
HIDDEN = 96
BATCH = 32
STEPS = 26


def make_phrases(batch, generator):
    """A few notes, a long silence, a signal; the notes are to be played again at the end."""
    phrase = torch.randint(1, NOTES + 1, (batch, KEEP), generator=generator)
    length = KEEP + SILENCE + KEEP
    heard = torch.zeros(batch, length, dtype=torch.long)
    heard[:, :KEEP] = phrase
    heard[:, KEEP + SILENCE - 1] = NOTES + 1
    played = torch.zeros(batch, length, dtype=torch.long)
    played[:, -KEEP:] = phrase
    return heard, played


class OrthogonalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(NOTES + 2, HIDDEN)
        self.transition = orthogonal(nn.Linear(HIDDEN, HIDDEN, bias=False))
        self.activation = nn.Tanh()
        self.readout = nn.Linear(HIDDEN, NOTES + 1)

    def forward(self, heard):
        pulses = self.embed(heard).unbind(dim=1)
        state = torch.zeros_like(pulses[0])
        states = []
        for pulse in pulses:
            state = self.activation(self.transition(state) + pulse)
            states.append(state)
        return self.readout(torch.stack(states, dim=1))


def train_step(model, optimizer, heard, played):
    logits = model(heard)
    loss = F.cross_entropy(logits.flatten(0, 1), played.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def departure(model):
    """How far the transition is from an orthogonal matrix."""
    with torch.no_grad():
        weight = model.transition.weight
        return (weight @ weight.T - torch.eye(HIDDEN)).abs().max()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(17)
    generator = torch.Generator().manual_seed(4)
    model = OrthogonalNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    data = [make_phrases(BATCH, generator) for _ in range(STEPS)]
    train_step(model, optimizer, *data[0])

    start = time.perf_counter()
    losses = [train_step(model, optimizer, heard, played) for heard, played in data]
    elapsed = time.perf_counter() - start
    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.3f} s")
    print(f"orthogonal within {departure(model).item():.1e}")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
