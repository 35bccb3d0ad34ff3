"""Masked-language pre-training of a small encoder on synthetic sentences."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

VOCAB = 4500
MASK_ID = 1
FIRST_WORD = 4
IGNORE = -100


class EncoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.proj(a.transpose(1, 2).reshape(b, t, d))
        return x + self.ff(self.norm2(x))


class MaskedLM(nn.Module):
    def __init__(self, dim=128, depth=2, heads=4, max_len=128):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim)
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, dim))
        self.blocks = nn.Sequential(*[EncoderBlock(dim, heads) for _ in range(depth)])
        self.transform = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim))
        self.decoder = nn.Linear(dim, VOCAB)
        nn.init.normal_(self.tokens.weight, std=0.02)

    def forward(self, ids, labels):
        h = self.tokens(ids) + self.positions[: ids.shape[1]]
        h = self.blocks(h)
        logits = self.decoder(self.transform(h))
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)


class MaskingCollator:
    def __init__(self, rate, generator):
        self.rate = rate
        self.generator = generator

    def __call__(self, ids):
        chosen = torch.rand(ids.shape, generator=self.generator) < self.rate
        labels = torch.where(chosen, ids, IGNORE)
        replace = torch.rand(ids.shape, generator=self.generator) < 0.8
        inputs = torch.where(chosen & replace, MASK_ID, ids)
        return inputs, labels


def corpus(n, length, generator):
    """Sentences in which each word depends on the one before."""
    first = torch.randint(0, VOCAB - FIRST_WORD, (n, 1), generator=generator)
    jumps = torch.randint(1, 6, (n, length - 1), generator=generator).cumsum(dim=1)
    words = torch.cat([first, first + 37 * jumps], dim=1) % (VOCAB - FIRST_WORD)
    return words + FIRST_WORD


def train_step(model, optimizer, inputs, labels):
    optimizer.zero_grad(set_to_none=True)
    loss = model(inputs, labels)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(2)
    generator = torch.Generator().manual_seed(13)
    text = corpus(256, 96, generator)
    collate = MaskingCollator(0.15, generator)
    batches = [collate(part) for part in text.split(8)][:20]
    model = MaskedLM()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    train_step(model, optimizer, *batches[0])

    n_steps = 66
    losses = torch.zeros(n_steps)
    start = time.perf_counter()
    for i in range(n_steps):
        losses[i] = train_step(model, optimizer, *batches[i % len(batches)])
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.5f} {losses[-1].item():.6f}")


if __name__ == "__main__":
    main()
