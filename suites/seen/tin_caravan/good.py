"""Melting point regression from protein-like sequences with a recurrent network."""
import time

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)

RESIDUES = 20
PAD = RESIDUES


class ProteinSet(Dataset):
    """Sequences of very different lengths with a composition-dependent target."""

    def __init__(self, count, generator, longest=720):
        self.longest = longest
        spread = torch.randn(count, generator=generator)
        lengths = (90 * torch.exp(0.55 * spread)).round().clamp(20, longest).long()
        lengths[0] = longest
        weights = torch.randn(RESIDUES, generator=generator)
        self.sequences, self.targets = [], []
        for length in lengths.tolist():
            bias = torch.softmax(torch.randn(RESIDUES, generator=generator), 0)
            sequence = torch.multinomial(bias, length, replacement=True, generator=generator)
            self.sequences.append(sequence)
            self.targets.append(weights[sequence].mean() + 0.1 * weights[sequence[:10]].sum())

    def __len__(self):
        return len(self.sequences)

    def __getitem__(self, index):
        return self.sequences[index], self.targets[index]


class Collate:
    def __init__(self, dataset):
        self.dataset = dataset

    def __call__(self, items):
        sequences, targets = zip(*items)
        lengths = torch.tensor([len(s) for s in sequences])
        tokens = pad_sequence(sequences, batch_first=True, padding_value=PAD)
        return tokens, lengths, torch.stack(targets)


class StabilityNet(nn.Module):
    def __init__(self, width=32, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(RESIDUES + 1, width, padding_idx=PAD)
        self.gru = nn.GRU(width, hidden, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, tokens, lengths):
        states, _ = self.gru(self.embed(tokens))
        inside = torch.arange(tokens.shape[1]) < lengths[:, None]
        pooled = (states * inside[..., None]).sum(1) / lengths[:, None]
        return self.head(pooled).squeeze(-1)


def train_epoch(model, optimizer, loader):
    losses = []
    for tokens, lengths, targets in loader:
        loss = nn.functional.mse_loss(model(tokens, lengths), targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.detach())
    return losses


def main(epochs=1, count=400, batch_size=16):
    torch.manual_seed(61)
    generator = torch.Generator().manual_seed(62)
    dataset = ProteinSet(count, generator)
    loader = DataLoader(
        dataset, batch_size, shuffle=True, collate_fn=Collate(dataset), generator=generator
    )
    model = StabilityNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

    losses = []
    begin = time.perf_counter()
    for _ in range(epochs):
        losses += train_epoch(model, optimizer, loader)
    elapsed = time.perf_counter() - begin

    losses = torch.stack(losses)
    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    print(f"{len(losses)} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum():.5f} {weight:.4f}")


if __name__ == "__main__":
    main()
