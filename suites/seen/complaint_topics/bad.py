"""Sorts written complaints of bank customers into topics with a small transformer."""

import time

import numpy as np
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

VOCABULARY = 4000
TOPICS = 8
WIDTH = 64
LONGEST = 256
BATCH = 16


def write_complaints(seed, count):
    """Token lists of very different lengths; each topic prefers its own words."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.3, 0.5, count).astype(int), 5, LONGEST)
    topics = rng.integers(0, TOPICS, count)
    texts = []
    for length, topic in zip(lengths, topics):
        common = rng.integers(1, VOCABULARY, length)
        special = 1 + topic * 50 + rng.integers(0, 50, length)
        texts.append(torch.from_numpy(np.where(rng.random(length) < 0.3, special, common)))
    return texts, torch.from_numpy(topics)


def pad_batch(texts):
    tokens = pad_sequence(texts, batch_first=True)
    filler = torch.zeros(len(texts), LONGEST - tokens.shape[1], dtype=tokens.dtype)
    return torch.cat([tokens, filler], dim=1)


class TopicModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.place = nn.Embedding(LONGEST, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, TOPICS)

    def forward(self, tokens):
        blank = tokens == 0
        x = self.embed(tokens) + self.place(torch.arange(tokens.shape[1]))
        x = self.encoder(x, src_key_padding_mask=blank)
        keep = (~blank).unsqueeze(-1).to(x.dtype)
        return self.head((x * keep).sum(dim=1) / keep.sum(dim=1))


def train_step(model, optimizer, tokens, topics):
    optimizer.zero_grad(set_to_none=True)
    loss = nn.functional.cross_entropy(model(tokens), topics)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    texts, topics = write_complaints(1, BATCH * 27)
    model = TopicModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train_step(model, optimizer, pad_batch(texts[:BATCH]), topics[:BATCH])

    start = time.perf_counter()
    losses = []
    for first in range(BATCH, len(texts), BATCH):
        tokens = pad_batch(texts[first : first + BATCH])
        losses.append(train_step(model, optimizer, tokens, topics[first : first + BATCH]))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-10:].mean().item():.4f}")


if __name__ == "__main__":
    main()
