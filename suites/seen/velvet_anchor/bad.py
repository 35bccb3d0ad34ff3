"""Fit a neural interatomic potential to energies and forces of small clusters."""
import math
import time

import torch
from torch import nn

STEPS = 700
ATOMS = 10
BATCH = 16
CLUSTERS = 256
FEATURES = 16
CUTOFF = 3.5
FIRST, SECOND = torch.triu_indices(ATOMS, ATOMS, offset=1)

torch.autograd.set_detect_anomaly(True)


def pair_distances(positions):
    delta = positions[:, FIRST] - positions[:, SECOND]
    return delta.square().sum(-1).sqrt()


def reference_energy(positions):
    """A shifted Morse cluster plays the part of the expensive calculation."""
    distance = pair_distances(positions)
    well = 1.0 - torch.exp(-1.2 * (distance - 1.5))
    return (0.4 * well.square() - 0.4).sum(-1)


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("centers", torch.linspace(0.8, CUTOFF, FEATURES))
        self.net = nn.Sequential(
            nn.Linear(FEATURES, 48), nn.Tanh(),
            nn.Linear(48, 48), nn.Tanh(),
            nn.Linear(48, 1),
        )
        self.shift = nn.Parameter(torch.zeros(()))

    def descriptors(self, positions):
        distance = pair_distances(positions)
        envelope = 0.5 * (torch.cos(math.pi * distance / CUTOFF) + 1.0)
        envelope = torch.where(distance < CUTOFF, envelope, torch.zeros_like(envelope))
        bumps = torch.exp(-4.0 * (distance[..., None] - self.centers).square())
        bumps = bumps * envelope[..., None]
        out = positions.new_zeros(positions.shape[0], ATOMS, FEATURES)
        out = out.index_add(1, FIRST, bumps)
        return out.index_add(1, SECOND, bumps)

    def forward(self, positions):
        atomic = self.net(self.descriptors(positions)).squeeze(-1)
        return atomic.sum(-1) + self.shift


def energy_and_forces(model, positions, training):
    positions = positions.detach().requires_grad_(True)
    energy = model(positions)
    (gradient,) = torch.autograd.grad(energy.sum(), positions, create_graph=training)
    return energy, -gradient


def make_clusters(generator):
    side = torch.arange(3, dtype=torch.float32) * 1.4
    lattice = torch.cartesian_prod(side, side, side)[:ATOMS]
    noise = torch.randn(CLUSTERS, ATOMS, 3, generator=generator)
    return lattice + 0.15 * noise


def train_step(model, optimizer, positions, energy, forces):
    predicted, predicted_forces = energy_and_forces(model, positions, True)
    loss = 0.05 * (predicted - energy).square().mean()
    loss = loss + (predicted_forces - forces).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    generator = torch.Generator().manual_seed(8)
    clusters = make_clusters(generator)
    energies, forces = energy_and_forces(reference_energy, clusters, False)
    energies = energies.detach()
    model = Potential()
    model.shift.data.fill_(energies.mean())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def batch(step):
        low = (step * BATCH) % CLUSTERS
        part = slice(low, low + BATCH)
        return clusters[part], energies[part], forces[part]

    train_step(model, optimizer, *batch(0))
    start = time.perf_counter()
    total = torch.zeros(())
    for step in range(STEPS):
        total += train_step(model, optimizer, *batch(step))
    elapsed = time.perf_counter() - start

    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {weight.item():.3f}")


if __name__ == "__main__":
    main()
