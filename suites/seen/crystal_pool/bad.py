"""Hardness of crystals from their atoms: a graph network with many small graphs in one batch."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

CRYSTALS = 384
SPECIES = 8
HIDDEN = 32
STEPS = 32


def make_crystals(generator):
    """Between 6 and 14 atoms a crystal; bonds join atoms of the same crystal at random."""
    sizes = torch.randint(6, 15, (CRYSTALS,), generator=generator)
    crystal = torch.arange(CRYSTALS).repeat_interleave(sizes)
    species = torch.randint(SPECIES, (len(crystal),), generator=generator)
    first = (sizes.cumsum(0) - sizes)[crystal]
    draw = torch.rand(3, len(crystal), generator=generator)
    partner = first + (draw * sizes[crystal]).long()
    source = partner.reshape(-1)
    target = torch.arange(len(crystal)).repeat(3)
    weight = torch.randn(SPECIES, generator=generator)
    bonds = torch.zeros(len(crystal)).index_add_(0, target, weight[species[source]])
    hardness = torch.zeros(CRYSTALS).index_add_(0, crystal, torch.tanh(bonds + weight[species]))
    return species, crystal, torch.stack([source, target]), hardness / sizes


class BondConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(HIDDEN, HIDDEN)
        self.other = nn.Linear(HIDDEN, HIDDEN, bias=False)

    def forward(self, x, bonds):
        source, target = bonds
        message = torch.zeros_like(x).index_add(0, target, self.other(x).index_select(0, source))
        return x + F.relu(self.own(x) + message)


def pool_crystals(x, crystal, count):
    """Mean and maximum over the atoms of each crystal."""
    pooled = []
    for number in range(count):
        atoms = x[crystal == number]
        pooled.append(torch.cat([atoms.mean(dim=0), atoms.amax(dim=0)]))
    return torch.stack(pooled)


class HardnessNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(SPECIES, HIDDEN)
        self.convs = nn.ModuleList([BondConv() for _ in range(2)])
        self.head = nn.Sequential(nn.Linear(2 * HIDDEN, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, species, crystal, bonds):
        x = self.embed(species)
        for conv in self.convs:
            x = conv(x, bonds)
        return self.head(pool_crystals(x, crystal, CRYSTALS)).squeeze(1)


def train_step(model, optimizer, species, crystal, bonds, hardness):
    loss = F.mse_loss(model(species, crystal, bonds), hardness)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(44)
    generator = torch.Generator().manual_seed(45)
    data = make_crystals(generator)
    model = HardnessNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    train_step(model, optimizer, *data)

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, *data) for _ in range(STEPS)])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[0].item():.5f} {losses.mean().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
