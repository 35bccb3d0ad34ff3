"""Differentially private training of a small classifier: clip every gradient, add noise."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(24)

RECORDS = 6000
FEATURES = 40
CLASSES = 5
BATCH = 64
STEPS = 400
WARMUP = 4
CLIP = 1.0
NOISE = 0.6
LR = 0.3


def make_records(gen):
    centres = 0.8 * torch.randn(CLASSES, FEATURES, generator=gen)
    labels = torch.randint(0, CLASSES, (RECORDS,), generator=gen)
    x = centres[labels] + torch.randn(RECORDS, FEATURES, generator=gen)
    return x, labels


def make_model():
    return nn.Sequential(
        nn.Linear(FEATURES, 96),
        nn.Tanh(),
        nn.Linear(96, 96),
        nn.Tanh(),
        nn.Linear(96, CLASSES),
    )


class PrivateTrainer:
    """DP-SGD with Poisson-free fixed batches and a Gaussian mechanism."""

    def __init__(self, model, gen):
        self.model = model
        self.params = dict(model.named_parameters())
        self.gen = gen

    def clipped_sum(self, x, y):
        total = {k: torch.zeros_like(p) for k, p in self.params.items()}
        norms = []
        for xi, yi in zip(x, y):
            loss = F.cross_entropy(self.model(xi[None]), yi[None])
            grads = torch.autograd.grad(loss, list(self.params.values()))
            norm = torch.cat([g.flatten() for g in grads]).norm()
            scale = (CLIP / (norm + 1e-6)).clamp(max=1.0)
            for acc, g in zip(total.values(), grads):
                acc.addcmul_(g, scale)
            norms.append(norm)
        return total, torch.stack(norms)

    def step(self, x, y):
        total, norms = self.clipped_sum(x, y)
        with torch.no_grad():
            for k, p in self.params.items():
                noise = torch.randn(p.shape, generator=self.gen)
                p.sub_(total[k] + NOISE * CLIP * noise, alpha=LR / len(x))
        return norms


class Accountant:
    """Mean gradient norm and the share of clipped records."""

    def __init__(self):
        self.mean = []
        self.clipped = []

    def add(self, norms):
        self.mean.append(norms.mean())
        self.clipped.append((norms > CLIP).float().mean())

    def report(self):
        return torch.stack(self.mean).mean().item(), torch.stack(self.clipped).mean().item()


@torch.inference_mode()
def accuracy(model, x, y):
    return (model(x).argmax(-1) == y).float().mean().item()


def main():
    gen = torch.Generator().manual_seed(25)
    x, y = make_records(gen)
    model = make_model()
    trainer = PrivateTrainer(model, gen)

    def batch():
        idx = torch.randint(0, RECORDS, (BATCH,), generator=gen)
        return x[idx], y[idx]

    for _ in range(WARMUP):
        trainer.step(*batch())
    accountant = Accountant()
    start = time.perf_counter()
    for _ in range(STEPS):
        accountant.add(trainer.step(*batch()))
    elapsed = time.perf_counter() - start
    print(f"{STEPS} steps in {elapsed:.2f} s")
    mean, clipped = accountant.report()
    print(f"checksum {mean:.4f} {clipped:.4f} {accuracy(model, x, y):.4f}")


if __name__ == "__main__":
    main()
