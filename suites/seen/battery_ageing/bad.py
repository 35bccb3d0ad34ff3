"""How much capacity a battery keeps, from the curves of its charging cycles."""

import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

CELLS, POINTS, BATCH, STEPS = 1024, 512, 128, 200


def load_cycles(seed):
    """Voltage curves and the capacity that was left, as they come from the cycler."""
    rng = np.random.default_rng(seed)
    age = rng.uniform(0.0, 1.0, CELLS)
    grid = np.linspace(0.0, 1.0, POINTS)
    knee = 0.8 - 0.3 * age[:, None]
    curves = 3.2 + 0.7 * grid + 0.3 / (1.0 + np.exp(-(grid - knee) / 0.03))
    curves += 0.01 * rng.standard_normal(curves.shape)
    capacity = 1.0 - 0.2 * age - 0.1 * age**4
    return (curves - curves.mean(axis=0)) / curves.std(axis=0), capacity


def make_model():
    return nn.Sequential(
        nn.Linear(POINTS, 512),
        nn.SiLU(),
        nn.Linear(512, 512),
        nn.SiLU(),
        nn.Linear(512, 128),
        nn.SiLU(),
        nn.Linear(128, 1),
        nn.Flatten(0),
    )


def train_step(model, optimizer, curves, capacity):
    optimizer.zero_grad()
    loss = F.smooth_l1_loss(model(curves), capacity, beta=0.05)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    curves, capacity = load_cycles(3)
    curves, capacity = torch.from_numpy(curves), torch.from_numpy(capacity)
    model = make_model().to(curves.dtype)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    batches = list(zip(curves.split(BATCH), capacity.split(BATCH)))
    train_step(model, optimizer, *batches[0])
    start = time.perf_counter()
    losses = [train_step(model, optimizer, *batches[step % len(batches)]) for step in range(STEPS)]
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    with torch.inference_mode():
        error = (model(curves) - capacity).abs().mean()
    print("checksum", float(torch.stack(losses).mean()), float(error))


if __name__ == "__main__":
    main()
