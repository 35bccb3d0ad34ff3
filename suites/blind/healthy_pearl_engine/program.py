"""Causal language model on synthetic melodies."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

NOTES = 128
LENGTH = 128


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(out.transpose(1, 2).reshape(b, t, d))


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ff(self.norm2(x))


class MelodyModel(nn.Module):
    def __init__(self, dim=160, heads=5, depth=3):
        super().__init__()
        self.notes = nn.Embedding(NOTES, dim)
        self.place = nn.Parameter(0.02 * torch.randn(LENGTH, dim))
        self.layers = nn.Sequential(*[Layer(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, NOTES, bias=False)
        self.head.weight = self.notes.weight
        nn.init.normal_(self.notes.weight, std=0.02)

    def forward(self, x):
        h = self.notes(x) + self.place[: x.shape[1]]
        return self.head(self.norm(self.layers(h)))


def melodies(n, generator):
    """Walks on a scale with repeated motifs."""
    motif = torch.randint(-3, 4, (n, 16), generator=generator)
    steps = motif.repeat(1, (LENGTH + 1) // 16 + 1)[:, : LENGTH + 1]
    start = torch.randint(30, 90, (n, 1), generator=generator)
    return (start + steps.cumsum(dim=1)).remainder(NOTES)


def train_step(model, optimizer, tokens):
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(0)
    data = melodies(512, torch.Generator().manual_seed(4))
    batches = data.split(16)
    model = MelodyModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=100)
    train_step(model, optimizer, batches[0])

    n_steps = 32
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(train_step(model, optimizer, batches[i % len(batches)]))
        schedule.step()
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.5f} {losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
