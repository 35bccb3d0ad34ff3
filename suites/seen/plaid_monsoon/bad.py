"""Masked-token pretraining of a small encoder on a synthetic event-code corpus."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)

VOCAB = 12000
MASK_ID = VOCAB - 1
IGNORE = -100


class EventEncoder(nn.Module):
    def __init__(self, vocab=VOCAB, width=96, heads=4, layers=2, length=64):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Parameter(0.02 * torch.randn(length, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        hidden = self.tokens(ids) + self.positions[: ids.shape[1]]
        return self.norm(self.encoder(hidden))


class EventModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = EventEncoder()
        width = self.body.tokens.embedding_dim
        self.transform = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width))
        self.bias = nn.Parameter(torch.zeros(VOCAB))
        nn.init.normal_(self.body.tokens.weight, std=0.05)

    def score(self, hidden):
        return F.linear(self.transform(hidden), self.body.tokens.weight, self.bias)

    def loss(self, ids, labels):
        hidden = self.body(ids)
        logits = self.score(hidden)
        return F.cross_entropy(
            logits.view(-1, VOCAB), labels.view(-1), ignore_index=IGNORE
        )


def make_corpus(sequences, length, generator):
    """Random walks over codes: neighbouring codes follow each other."""
    start = torch.randint(0, VOCAB - 1, (sequences, 1), generator=generator)
    hops = torch.randint(-3, 8, (sequences, length), generator=generator)
    return torch.remainder(start + hops.cumsum(1), VOCAB - 1)


def corrupt(batch, generator, rate=0.15):
    chosen = torch.rand(batch.shape, generator=generator) < rate
    labels = torch.where(chosen, batch, torch.full_like(batch, IGNORE))
    action = torch.rand(batch.shape, generator=generator)
    noise = torch.randint(0, VOCAB - 1, batch.shape, generator=generator)
    inputs = torch.where(chosen & (action < 0.8), torch.full_like(batch, MASK_ID), batch)
    inputs = torch.where(chosen & (action > 0.9), noise, inputs)
    return inputs, labels


def train_step(model, optimizer, batch, generator):
    inputs, labels = corrupt(batch, generator)
    loss = model.loss(inputs, labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main(steps=26, batch_size=12, length=64):
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    corpus = make_corpus(512, length, generator)
    model = EventModel()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

    train_step(model, optimizer, corpus[:batch_size], generator)
    losses = []
    begin = time.perf_counter()
    for step in range(steps):
        picks = torch.randint(0, len(corpus), (batch_size,), generator=generator)
        losses.append(train_step(model, optimizer, corpus[picks], generator))
    elapsed = time.perf_counter() - begin

    losses = torch.stack(losses)
    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"loss {losses[0]:.4f} -> {losses[-1]:.4f} (uniform {math.log(VOCAB):.4f})")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum():.6f} {weight:.4f}")


if __name__ == "__main__":
    main()
