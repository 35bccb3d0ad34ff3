"""Charge prediction on atom pairs: an all-pairs message network for molecules."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

N_ATOMS = 40
N_SPECIES = 6


class PairMessage(nn.Module):
    """Message MLP on (receiver, sender, distance), summed over senders."""

    def __init__(self, dim, n_radial, hidden):
        super().__init__()
        self.first = nn.Linear(2 * dim + n_radial, hidden)
        self.second = nn.Linear(hidden, dim)
        self.norm = nn.LayerNorm(dim)

    def forward(self, h, radial, weight):
        b, n, d = h.shape
        receiver = h[:, :, None, :].expand(b, n, n, d)
        sender = h[:, None, :, :].expand(b, n, n, d)
        pair = torch.cat([receiver, sender, radial], dim=-1)
        message = F.relu(self.first(pair)) * weight
        return self.norm(h + self.second(message.sum(dim=2)))


class ChargeNet(nn.Module):
    def __init__(self, dim=96, n_radial=8, hidden=64, layers=2):
        super().__init__()
        self.species = nn.Embedding(N_SPECIES, dim)
        self.register_buffer("centres", torch.linspace(0.5, 5.0, n_radial))
        self.layers = nn.ModuleList([PairMessage(dim, n_radial, hidden) for _ in range(layers)])
        self.readout = nn.Sequential(nn.Linear(dim, 32), nn.SiLU(), nn.Linear(32, 1))

    def geometry(self, pos):
        n = pos.shape[1]
        off = pos[:, :, None] - pos[:, None, :]
        dist = (off.square().sum(-1) + 1e-6).sqrt()
        radial = torch.exp(-2.0 * (dist[..., None] - self.centres).square())
        weight = 0.5 * (torch.cos(dist.clamp(max=6.0) * torch.pi / 6.0) + 1)
        weight = weight * (1 - torch.eye(n))
        return radial, weight[..., None]

    def forward(self, species, pos):
        radial, weight = self.geometry(pos)
        h = self.species(species)
        for layer in self.layers:
            h = layer(h, radial, weight)
        q = self.readout(h).squeeze(-1)
        return q - q.mean(dim=1, keepdim=True)


def make_molecules(n, generator):
    pos = 2.0 * torch.randn(n, N_ATOMS, 3, generator=generator)
    species = torch.randint(0, N_SPECIES, (n, N_ATOMS), generator=generator)
    negativity = torch.linspace(-1, 1, N_SPECIES)[species]
    near = torch.exp(-torch.cdist(pos, pos))
    charge = negativity - (near * negativity[:, None, :]).sum(-1) / near.sum(-1)
    return species, pos, charge - charge.mean(dim=1, keepdim=True)


def train_step(model, optimizer, species, pos, charge):
    optimizer.zero_grad(set_to_none=True)
    loss = F.mse_loss(model(species, pos), charge)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(15)
    generator = torch.Generator().manual_seed(23)
    data = make_molecules(64, generator)
    batches = list(zip(*(t.split(8) for t in data)))
    model = ChargeNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    train_step(model, optimizer, *batches[0])

    n_steps = 120
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(train_step(model, optimizer, *batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.5f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
