"""Variational autoencoder on drawn glyphs, in the manner of the classic tutorial."""
import time

import torch
from torch import nn
import torch.nn.functional as F

EPOCHS = 10
GLYPHS = 8192
BATCH = 256
SIDE = 28
HIDDEN = 400
LATENT = 20


def make_glyphs(generator):
    """Each glyph is two thick strokes on a square canvas."""
    axis = torch.linspace(-1.0, 1.0, SIDE)
    y, x = torch.meshgrid(axis, axis, indexing="ij")
    canvas = torch.zeros(GLYPHS, SIDE, SIDE)
    for _ in range(2):
        angle = torch.pi * torch.rand(GLYPHS, 1, 1, generator=generator)
        shift = torch.rand(GLYPHS, 1, 1, generator=generator) - 0.5
        width = 0.08 + 0.08 * torch.rand(GLYPHS, 1, 1, generator=generator)
        across = x * angle.cos() + y * angle.sin() - shift
        stroke = torch.exp(-((across / width) ** 2))
        canvas = torch.maximum(canvas, stroke)
    disc = (x.square() + y.square() < 0.8).float()
    return (canvas * disc).reshape(GLYPHS, SIDE * SIDE)


class GlyphVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(SIDE * SIDE, HIDDEN)
        self.stats = nn.Linear(HIDDEN, 2 * LATENT)
        self.grow = nn.Linear(LATENT, HIDDEN)
        self.leave = nn.Linear(HIDDEN, SIDE * SIDE)

    def encode(self, x):
        mean, log_variance = self.stats(F.relu(self.enter(x))).chunk(2, dim=-1)
        return mean, log_variance

    def decode(self, code):
        return self.leave(F.relu(self.grow(code)))

    def forward(self, x):
        mean, log_variance = self.encode(x)
        code = mean + torch.exp(0.5 * log_variance) * torch.randn_like(mean)
        return self.decode(code), mean, log_variance


def bound(logits, x, mean, log_variance):
    rebuild = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    prior = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
    return (rebuild + prior) / len(x)


def train_epoch(model, optimizer, glyphs, generator):
    order = torch.randperm(len(glyphs), generator=generator)
    total = torch.zeros(())
    for pick in order.split(BATCH):
        x = glyphs[pick]
        logits, mean, log_variance = model(x)
        loss = bound(logits, x, mean, log_variance)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total * BATCH / len(glyphs)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(33)
    generator = torch.Generator().manual_seed(34)
    glyphs = make_glyphs(generator)
    model = GlyphVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)

    train_epoch(model, optimizer, glyphs[:BATCH], generator)
    start = time.perf_counter()
    losses = [train_epoch(model, optimizer, glyphs, generator) for _ in range(EPOCHS)]
    elapsed = time.perf_counter() - start

    steps = EPOCHS * (GLYPHS // BATCH)
    with torch.inference_mode():
        drawn = torch.sigmoid(model.decode(torch.randn(64, LATENT)))
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {losses[0].item():.3f} {losses[-1].item():.3f} {drawn.mean().item():.4f}")


if __name__ == "__main__":
    main()
