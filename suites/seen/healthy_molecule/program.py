"""Predicting a property of random molecules with a message-passing network.

Batches of molecules are one large graph with an edge list; messages are summed with index_add and
the atoms of each molecule are averaged at the end.
"""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

ATOM_TYPES = 8
WIDTH = 96
MOLECULES = 128
STEPS = 80


class MoleculeBatch:
    """Ring-shaped molecules with a few cross bonds, as one large graph."""

    def __init__(self, generator):
        size = torch.randint(8, 24, (MOLECULES,), generator=generator)
        self.count = size
        first = size.cumsum(0) - size
        self.molecule = torch.arange(MOLECULES).repeat_interleave(size)
        atoms = len(self.molecule)
        index = torch.arange(atoms)
        own_first, own_size = first[self.molecule], size[self.molecule]

        ring = own_first + (index - own_first + 1) % own_size
        offset = (torch.rand(atoms, generator=generator) * own_size).long()
        cross = own_first + offset
        keep = (torch.rand(atoms, generator=generator) < 0.3) & (cross != index)
        a = torch.cat([index, index[keep]])
        b = torch.cat([ring, cross[keep]])
        self.source, self.target = torch.cat([a, b]), torch.cat([b, a])

        self.atom = torch.randint(0, ATOM_TYPES, (atoms,), generator=generator)
        self.y = self.make_property(atoms)

    def make_property(self, atoms):
        """Depends on pairs of bonded atoms."""
        charge = torch.linspace(-1, 1, ATOM_TYPES)[self.atom]
        bond = charge[self.source] * charge[self.target]
        per_atom = torch.zeros(atoms).index_add(0, self.target, bond)
        total = torch.zeros(MOLECULES).index_add(0, self.molecule, per_atom)
        return total / self.count


class MessageLayer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.message = nn.Linear(width, width)
        self.update = nn.Sequential(nn.Linear(2 * width, width), nn.SiLU())
        self.norm = nn.LayerNorm(width)

    def forward(self, x, source, target):
        # the linear map is applied to atoms, of which there are fewer than bonds
        messages = F.silu(self.message(x))[source]
        received = torch.zeros_like(x).index_add(0, target, messages)
        return self.norm(x + self.update(torch.cat([x, received], dim=1)))


class MoleculeNet(nn.Module):
    def __init__(self, layers=3):
        super().__init__()
        self.embedding = nn.Embedding(ATOM_TYPES, WIDTH)
        self.layers = nn.ModuleList(MessageLayer(WIDTH) for _ in range(layers))
        self.output = nn.Linear(WIDTH, 1)

    def forward(self, batch):
        x = self.embedding(batch.atom)
        for layer in self.layers:
            x = layer(x, batch.source, batch.target)
        pooled = x.new_zeros(MOLECULES, WIDTH).index_add(0, batch.molecule, x)
        return self.output(pooled / batch.count[:, None]).squeeze(1)


def train_step(model, optimizer, batch):
    loss = F.mse_loss(model(batch), batch.y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(81)
    batches = [MoleculeBatch(generator) for _ in range(STEPS + 1)]
    model = MoleculeNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)

    losses = []
    for step, batch in enumerate(batches):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        losses.append(train_step(model, optimizer, batch))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{losses[0]:.5f} {losses[-5:].mean():.5f} {model.output.weight.norm():.5f}")


if __name__ == "__main__":
    main()
