"""A small character-level GRU language model trained on synthetic text."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(60)

VOCAB = 40
LENGTH = 64
BATCH = 48
STEPS = 70
WARMUP = 3
CORPUS = 200_000


def synthetic_text(n, gen):
    """Text from a random order-one chain with a few likely successors for every symbol."""
    logits = 2.5 * torch.randn(VOCAB, VOCAB, generator=gen)
    table = torch.multinomial(logits.softmax(-1), 4096, replacement=True, generator=gen).tolist()
    pick = torch.randint(0, 4096, (n,), generator=gen).tolist()
    symbol, text = 0, []
    for k in pick:
        symbol = table[symbol][k]
        text.append(symbol)
    return torch.tensor(text)


class Windows:
    """Random windows of the corpus as (input, target) pairs."""

    def __init__(self, text, length, gen):
        self.view = text.unfold(0, length + 1, 1)
        self.gen = gen

    def batch(self, size):
        idx = torch.randint(0, len(self.view), (size,), generator=self.gen)
        window = self.view[idx]
        return window[:, :-1], window[:, 1:]


class CharModel(nn.Module):
    def __init__(self, vocab, dim=48, hidden=192):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, tokens):
        h, _ = self.rnn(self.embed(tokens))
        return self.out(h)


def loss_of(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def train_step(model, opt, x, y):
    opt.zero_grad()
    loss = loss_of(model, x, y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    return loss.detach()


@torch.inference_mode()
def validate(model, windows, rounds=4):
    model.eval()
    value = torch.stack([loss_of(model, *windows.batch(128)) for _ in range(rounds)]).mean()
    model.train()
    return value.item()


def main():
    gen = torch.Generator().manual_seed(61)
    text = synthetic_text(CORPUS, gen)
    split = int(0.9 * CORPUS)
    train = Windows(text[:split], LENGTH, gen)
    valid = Windows(text[split:], LENGTH, gen)
    model = CharModel(VOCAB)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, fused=True)
    for _ in range(WARMUP):
        train_step(model, opt, *train.batch(BATCH))

    losses = []
    start = time.perf_counter()
    for _ in range(STEPS):
        losses.append(train_step(model, opt, *train.batch(BATCH)))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.4f} {losses[-10:].mean().item():.4f} {validate(model, valid):.4f}")


if __name__ == "__main__":
    main()
