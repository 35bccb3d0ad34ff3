"""Pick earthquake arrivals with a recurrent network that keeps its memory norm."""
import time

import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize
import torch.nn.functional as F

STEPS = 80
RECORDS = 1024
BATCH = 64
FRAMES = 40
CHANNELS = 9
MEMORY = 128


class SteadyMemory(nn.Module):
    """Tanh recurrence whose state map is a rotation."""

    def __init__(self, inputs, size):
        super().__init__()
        self.enter = nn.Linear(inputs, size)
        self.turn = parametrizations.orthogonal(nn.Linear(size, size, bias=False))

    def forward(self, frames):
        drive = self.enter(frames).unbind(dim=1)
        state = torch.zeros_like(drive[0])
        states = []
        with parametrize.cached():
            for push in drive:
                state = torch.tanh(push + self.turn(state))
                states.append(state)
        return torch.stack(states, dim=1)


class Picker(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(CHANNELS, 48), nn.ReLU())
        self.memory = SteadyMemory(48, MEMORY)
        self.score = nn.Linear(MEMORY, 1)

    def forward(self, frames):
        return self.score(self.memory(self.embed(frames))).squeeze(-1)


def make_records(generator):
    """Noise with a decaying burst that begins at the frame to be found."""
    onset = torch.randint(4, FRAMES - 4, (RECORDS,), generator=generator)
    age = torch.arange(FRAMES) - onset[:, None]
    burst = torch.where(age >= 0, torch.exp(-age.clamp(min=0) / 6.0), 0.0)
    tone = torch.randn(RECORDS, 1, CHANNELS, generator=generator)
    noise = 0.3 * torch.randn(RECORDS, FRAMES, CHANNELS, generator=generator)
    return burst[:, :, None] * tone + noise, onset


def train_step(model, optimizer, frames, onset):
    loss = F.cross_entropy(model(frames), onset)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(10)
    generator = torch.Generator().manual_seed(16)
    frames, onset = make_records(generator)
    model = Picker()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def batch(step):
        low = (step * BATCH) % RECORDS
        return frames[low:low + BATCH], onset[low:low + BATCH]

    train_step(model, optimizer, *batch(0))
    start = time.perf_counter()
    total = torch.zeros(())
    for step in range(STEPS):
        total += train_step(model, optimizer, *batch(step))
    elapsed = time.perf_counter() - start

    with torch.no_grad():
        guess = model(frames[:BATCH]).logsumexp(dim=1)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {guess.mean().item():.4f}")


if __name__ == "__main__":
    main()
