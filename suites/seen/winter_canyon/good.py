"""One convolutional trunk and several diagnostic heads for twelve-lead heart recordings."""
import math
import time

import torch
from torch import nn
import torch.nn.functional as F

STEPS = 60
PATIENTS = 256
BATCH = 32
LEADS = 12
SAMPLES = 400


def residual(channels):
    return nn.Sequential(
        nn.Conv1d(channels, channels, 7, padding=3), nn.ReLU(),
        nn.Conv1d(channels, channels, 7, padding=3),
    )


class Cardiogram(nn.Module):
    def __init__(self, channels=48):
        super().__init__()
        self.stem = nn.Conv1d(LEADS, channels, 9, stride=2, padding=4)
        self.blocks = nn.ModuleList(residual(channels) for _ in range(2))
        self.rhythm = nn.Linear(channels, 5)
        self.age = nn.Linear(channels, 1)
        self.sex = nn.Linear(channels, 1)
        self.axis = nn.Linear(channels, 2)

    def forward(self, signal):
        x = F.relu(self.stem(signal))
        for block in self.blocks:
            x = F.relu(x + block(x))
        x = x.mean(dim=-1)
        return {
            "rhythm": self.rhythm(x),
            "age": self.age(x).squeeze(-1),
            "sex": self.sex(x).squeeze(-1),
            "axis": self.axis(x),
        }


def make_patients(generator):
    time_axis = torch.linspace(0.0, 4.0, SAMPLES)
    rhythm = torch.randint(0, 5, (PATIENTS,), generator=generator)
    age = torch.rand(PATIENTS, generator=generator)
    sex = torch.randint(0, 2, (PATIENTS,), generator=generator).float()
    angle = torch.rand(PATIENTS, generator=generator) * math.pi
    axis = torch.stack([angle.cos(), angle.sin()], dim=1)
    rate = 0.8 + 0.3 * rhythm.float() + 0.2 * age
    wave = torch.sin(2 * math.pi * rate[:, None] * time_axis) ** 5
    gain = axis @ torch.randn(2, LEADS, generator=generator) + 0.3 * sex[:, None]
    signal = gain[:, :, None] * wave[:, None, :]
    signal = signal + 0.1 * torch.randn(signal.shape, generator=generator)
    return signal, {"rhythm": rhythm, "age": age, "sex": sex, "axis": axis}


def task_losses(output, target):
    return {
        "rhythm": F.cross_entropy(output["rhythm"], target["rhythm"]),
        "age": F.mse_loss(output["age"], target["age"]),
        "sex": F.binary_cross_entropy_with_logits(output["sex"], target["sex"]),
        "axis": F.mse_loss(output["axis"], target["axis"]),
    }


def train_step(model, optimizer, signal, target):
    losses = task_losses(model(signal), target)
    optimizer.zero_grad()
    sum(losses.values()).backward()
    optimizer.step()
    return torch.stack([loss.detach() for loss in losses.values()])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(5)
    signal, target = make_patients(generator)
    model = Cardiogram()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)

    def batch(step):
        low = (step * BATCH) % PATIENTS
        part = slice(low, low + BATCH)
        return signal[part], {name: value[part] for name, value in target.items()}

    train_step(model, optimizer, *batch(0))
    start = time.perf_counter()
    total = torch.zeros(4)
    for step in range(STEPS):
        total += train_step(model, optimizer, *batch(step))
    elapsed = time.perf_counter() - start

    numbers = " ".join(f"{value:.4f}" for value in (total / STEPS).tolist())
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {numbers}")


if __name__ == "__main__":
    main()
