"""Tells reef noises apart: a recurrent net over loudness in frequency bands."""

import time

import numpy as np
import torch
from torch import nn

BANDS = 24
FRAMES = 50
CLASSES = 6
BATCH = 32


def recordings(seed, count):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, count)
    time_axis = np.arange(FRAMES)
    rhythm = np.sin(time_axis[None] * (0.2 + 0.15 * label[:, None]) + rng.uniform(0, 6.28, (count, 1)))
    colour = np.exp(-((np.arange(BANDS)[None] - 3.0 * label[:, None] - 4.0) ** 2) / 20.0)
    sound = rhythm[:, :, None] * colour[:, None, :] + 0.8 * rng.normal(size=(count, FRAMES, BANDS))
    return torch.from_numpy(sound.astype(np.float32)), torch.from_numpy(label)


class GatedMemory(nn.Module):
    """Leaky memory with a gate and layer norm, as in the paper."""

    def __init__(self, width):
        super().__init__()
        self.gate = nn.Linear(BANDS + width, width)
        self.candidate = nn.Linear(BANDS + width, width)
        self.norm = nn.LayerNorm(width)
        self.width = width

    def forward(self, sound):
        memory = sound.new_zeros(sound.shape[0], self.width)
        for frame in sound.unbind(dim=1):
            joined = torch.cat([frame, memory], dim=-1)
            gate = torch.sigmoid(self.gate(joined))
            memory = self.norm(gate * memory + (1.0 - gate) * torch.tanh(self.candidate(joined)))
        return memory


class Listener(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = GatedMemory(64)
        self.head = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, CLASSES))

    def forward(self, sound):
        return self.head(self.memory(sound))


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        self.loss_fn = nn.CrossEntropyLoss()

    def step(self, sound, label):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(sound), label)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.step()
        return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.autograd.set_detect_anomaly(True)
    torch.manual_seed(0)
    sound, label = recordings(4, BATCH * 26)
    trainer = Trainer(Listener())
    trainer.step(sound[:BATCH], label[:BATCH])

    start = time.perf_counter()
    losses = []
    for first in range(BATCH, len(sound), BATCH):
        losses.append(trainer.step(sound[first : first + BATCH], label[first : first + BATCH]))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-10:].mean().item():.4f}")


if __name__ == "__main__":
    main()
