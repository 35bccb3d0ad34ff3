"""Private training of a credit model: each applicant's gradient is clipped before noise is added."""

import time

import torch
from torch import nn
from torch.nn import functional as F

CLIP, NOISE, BATCH = 1.0, 0.6, 96


def applicants(count, features=24):
    x = torch.randn(count, features)
    score = x[:, :6].sum(dim=1) + x[:, 6] * x[:, 7]
    return x, (score > 0).long()


def clipped(grads):
    norm = torch.sqrt(sum(g.square().sum() for g in grads))
    scale = (CLIP / (norm + 1e-6)).clamp(max=1.0)
    return [g * scale for g in grads]


def private_gradient(model, x, y):
    params = list(model.parameters())
    total = [torch.zeros_like(p) for p in params]
    for one, label in zip(x, y):
        loss = F.cross_entropy(model(one[None]), label[None])
        grads = torch.autograd.grad(loss, params)
        for into, g in zip(total, clipped(grads)):
            into.add_(g)
    return [(g + NOISE * CLIP * torch.randn_like(g)) / len(x) for g in total]


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(7)
    x, y = applicants(2048)
    model = nn.Sequential(nn.Linear(24, 64), nn.Tanh(), nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)

    def step(i):
        at = slice(BATCH * (i % 20), BATCH * (i % 20) + BATCH)
        for p, g in zip(model.parameters(), private_gradient(model, x[at], y[at])):
            p.grad = g
        optimizer.step()

    step(0)
    steps = 20
    start = time.perf_counter()
    for i in range(1, steps + 1):
        step(i)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    with torch.no_grad():
        print("checksum", F.cross_entropy(model(x), y).item())


if __name__ == "__main__":
    main()
