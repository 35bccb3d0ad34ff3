"""Stiffness of a soft robot arm: Jacobians of a learned model of its shape."""

import time

import torch
from torch import nn
from torch.func import jacfwd, vmap

CHAMBERS = 6
MARKERS = 24
POSES = 512


class ShapeModel(nn.Module):
    """Marker positions (three coordinates each) from the pressures of the chambers."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(CHAMBERS, 160),
            nn.Tanh(),
            nn.Linear(160, 160),
            nn.Tanh(),
            nn.Linear(160, 3 * MARKERS),
        )

    def forward(self, pressure):
        return self.layers(pressure)


def true_shape(pressure):
    angle = torch.linspace(0.1, 1.0, MARKERS) * (pressure[:, :1] - pressure[:, 3:4])
    bend = torch.linspace(0.1, 1.0, MARKERS) * (pressure[:, 1:2] - pressure[:, 4:5])
    stretch = 1.0 + 0.2 * (pressure[:, 2:3] + pressure[:, 5:6])
    return torch.cat([torch.sin(angle), torch.sin(bend), stretch * torch.cos(angle)], dim=1)


def fit(model, epochs=30):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(epochs):
        pressure = torch.rand(256, CHAMBERS)
        loss = nn.functional.mse_loss(model(pressure), true_shape(pressure))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def jacobian(model, pressure):
    """Derivative of all coordinates by all pressures, one matrix for each pose."""
    return vmap(jacfwd(model))(pressure)


def compliance(jac, spring=0.05):
    gram = jac.transpose(1, 2) @ jac + spring * torch.eye(CHAMBERS)
    return torch.linalg.inv(gram).diagonal(dim1=1, dim2=2).sum(-1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = ShapeModel()
    fit(model)
    model.requires_grad_(False)
    poses = torch.rand(31, POSES, CHAMBERS)
    compliance(jacobian(model, poses[0]))

    start = time.perf_counter()
    results = []
    for batch in poses[1:]:
        results.append(compliance(jacobian(model, batch)))
    results = torch.stack(results)
    print(f"{len(results)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {results.mean().item():.4f} {results.max().item():.3f}")


if __name__ == "__main__":
    main()
