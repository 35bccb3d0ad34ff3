"""One net, six questions about a street scene: shared trunk with a head for each task."""

import time

import numpy as np
import torch
from torch import nn

SIDE = 32
BATCH = 32
TASKS = {"cars": 4, "people": 4, "weather": 3, "light": 3, "signs": 5, "lanes": 3}


def make_scenes(seed, count):
    rng = np.random.default_rng(seed)
    labels = {task: rng.integers(0, classes, count) for task, classes in TASKS.items()}
    scenes = 0.5 * rng.normal(size=(count, 3, SIDE, SIDE))
    for k, task in enumerate(TASKS):
        pattern = rng.normal(size=(TASKS[task], 3, SIDE, SIDE))
        scenes += 0.2 * pattern[labels[task]]
    tensors = {task: torch.from_numpy(label) for task, label in labels.items()}
    return torch.from_numpy(scenes.astype(np.float32)), tensors


class StreetNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(3, 24, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(24, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 48, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(4),
            nn.Flatten(),
        )
        self.heads = nn.ModuleDict({task: nn.Linear(48 * 16, classes) for task, classes in TASKS.items()})

    def forward(self, scenes):
        shared = self.trunk(scenes)
        return {task: head(shared) for task, head in self.heads.items()}


def train_step(model, optimizer, scenes, labels):
    optimizer.zero_grad(set_to_none=True)
    answers = model(scenes)
    total = sum(nn.functional.cross_entropy(logits, labels[task]) for task, logits in answers.items())
    total.backward()
    optimizer.step()
    return total.detach()


def split(scenes, labels):
    for first in range(0, len(scenes), BATCH):
        part = slice(first, first + BATCH)
        yield scenes[part], {task: label[part] for task, label in labels.items()}


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = StreetNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    batches = list(split(*make_scenes(2, BATCH * 31)))
    train_step(model, optimizer, *batches[0])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, *batch) for batch in batches[1:]])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-5:].mean().item():.4f}")


if __name__ == "__main__":
    main()
