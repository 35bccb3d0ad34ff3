"""Speed of glaciers from slope and thickness, by a network whose training can be resumed."""

import tempfile
import time
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)

WIDTH, BATCH, STEPS = 640, 24, 150


class FlowNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(24, WIDTH)
        self.middle = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.outside = nn.Linear(WIDTH, 1)

    def forward(self, x):
        x = F.gelu(self.inside(x))
        for layer in self.middle:
            x = x + F.gelu(layer(x))
        return self.outside(x).squeeze(1)


def make_batch(generator):
    """Profiles of slope and thickness, and the speed by the shallow ice law."""
    profile = torch.rand((BATCH, 2, 12), generator=generator)
    slope, thickness = profile.unbind(dim=1)
    speed = (slope.pow(3) * thickness.pow(4)).sum(dim=1).sqrt()
    return profile.flatten(1), speed


def save_checkpoint(folder, model, optimizer, step, losses):
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "step": step,
        "losses": losses,
    }
    partial = folder / "latest.pt.tmp"
    torch.save(state, partial)
    partial.replace(folder / "latest.pt")


def train(model, optimizer, generator, folder, steps):
    losses = []
    for step in range(1, steps + 1):
        profile, speed = make_batch(generator)
        optimizer.zero_grad()
        loss = F.mse_loss(model(profile), speed)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        save_checkpoint(folder, model, optimizer, step, losses)
    return losses


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = FlowNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train(model, optimizer, generator, folder, 2)
        start = time.perf_counter()
        losses = train(model, optimizer, generator, folder, STEPS)
        print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
        kept = torch.load(folder / "latest.pt")
    print("checksum", sum(losses) / STEPS, float(kept["model"]["outside.weight"].norm()), kept["step"])


if __name__ == "__main__":
    main()
