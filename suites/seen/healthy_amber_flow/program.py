"""Shapes of insects in amber: a normalising flow of affine couplings on their measures."""

import math
import time

import torch
import torch.nn as nn

MEASURES = 16
INSECTS = 20000
HIDDEN = 160
COUPLINGS = 6
BATCH = 768
STEPS = 150


def make_insects(generator):
    """Measures that depend on size and age in a curved way."""
    size = torch.randn(INSECTS, 1, generator=generator)
    age = torch.rand(INSECTS, 1, generator=generator)
    mixing = torch.randn(4, MEASURES, generator=generator)
    basis = torch.cat([size, size.square() - 1.0, torch.sin(6.0 * age), age * size], dim=1)
    measures = basis @ mixing + 0.3 * torch.randn(INSECTS, MEASURES, generator=generator)
    return (measures - measures.mean(dim=0)) / measures.std(dim=0)


class Coupling(nn.Module):
    """Scales and shifts one half by functions of the other; the halves then change places."""

    def __init__(self):
        super().__init__()
        half = MEASURES // 2
        self.net = nn.Sequential(
            nn.Linear(half, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, HIDDEN),
            nn.ReLU(),
            nn.Linear(HIDDEN, 2 * half),
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, kept, moved):
        raw, shift = self.net(kept).chunk(2, dim=1)
        log_scale = torch.tanh(raw)
        return torch.addcmul(shift, moved, log_scale.exp()), kept, log_scale.sum(dim=1)

    def inverse(self, moved, kept):
        raw, shift = self.net(kept).chunk(2, dim=1)
        return kept, (moved - shift) * torch.exp(-torch.tanh(raw))


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.couplings = nn.ModuleList([Coupling() for _ in range(COUPLINGS)])

    def log_density(self, x):
        first, second = x.chunk(2, dim=1)
        volume = torch.zeros(len(x))
        for coupling in self.couplings:
            first, second, change = coupling(first, second)
            volume = volume + change
        square = first.square().sum(dim=1) + second.square().sum(dim=1)
        return volume - 0.5 * square - 0.5 * MEASURES * math.log(2.0 * math.pi)

    @torch.inference_mode()
    def sample(self, count, generator):
        first, second = torch.randn(count, MEASURES, generator=generator).chunk(2, dim=1)
        for coupling in reversed(self.couplings):
            first, second = coupling.inverse(first, second)
        return torch.cat([first, second], dim=1)


def train_step(model, optimizer, batch):
    loss = -model.log_density(batch).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(15)
    generator = torch.Generator().manual_seed(51)
    insects = make_insects(generator)
    model = Flow()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
    rows = torch.randint(INSECTS, (STEPS, BATCH), generator=generator)
    train_step(model, optimizer, insects[rows[0]])

    start = time.perf_counter()
    losses = torch.stack([train_step(model, optimizer, insects[r]) for r in rows])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    spread = model.sample(2000, generator).std().item()
    print(f"checksum {losses[0].item():.4f} {losses.mean().item():.4f} {losses[-1].item():.4f} {spread:.2f}")


if __name__ == "__main__":
    main()
