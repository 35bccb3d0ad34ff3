"""A small causal transformer that learns the formulas of court records."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

SIGNS = 48
LENGTH = 128
WIDTH = 128
HEADS = 4
LAYERS = 3
BATCH = 16
STEPS = 22


def make_records(count, generator):
    """Formulas of fixed signs with names in between, one after another."""
    formulas = torch.randint(8, SIGNS, (12, 16), generator=generator)
    order = torch.randint(len(formulas), (count, LENGTH // 16 + 1), generator=generator)
    text = formulas[order].reshape(count, -1)
    name = torch.rand(text.shape, generator=generator) < 0.15
    text = torch.where(name, torch.randint(8, (count, text.shape[1]), generator=generator), text)
    return text[:, : LENGTH + 1].contiguous()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.before_mlp = nn.LayerNorm(WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.ReLU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.mlp(self.before_mlp(x))


class Scribe(nn.Module):
    def __init__(self):
        super().__init__()
        self.sign = nn.Embedding(SIGNS, WIDTH)
        self.place = nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, SIGNS, bias=False)

    def forward(self, text):
        return self.head(self.norm(self.blocks(self.sign(text) + self.place)))


def train_step(model, optimizer, schedule, text):
    logits = model(text[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
    optimizer.step()
    schedule.step()
    return loss.detach()


@torch.inference_mode()
def held_out_loss(model, text):
    model.eval()
    return F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    generator = torch.Generator().manual_seed(16)
    records = make_records(600, generator)
    train, held_out = records[:560], records[560:576]
    model = Scribe()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS + 1)
    rows = torch.randint(len(train), (STEPS, BATCH), generator=generator)
    train_step(model, optimizer, schedule, train[rows[0]])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, schedule, train[r]) for r in rows])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    held = held_out_loss(model, held_out).item()
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f} {held:.4f}")


if __name__ == "__main__":
    main()
