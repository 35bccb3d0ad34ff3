"""Which patients taught the risk model what it knows?  TracIn scores with torch.func."""

import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, jvp

FEATURES = 32
PATIENTS = 2048
BATCH = 256
EPOCHS = 100
LR = 5e-3


def make_ward(generator, count):
    x = torch.randn(count, FEATURES, generator=generator)
    chance = torch.sigmoid(2.0 * x[:, :8].sum(dim=1) / 8**0.5 + x[:, 0] * x[:, 1])
    return x, (torch.rand(count, generator=generator) < chance).float()


def make_model():
    return nn.Sequential(
        nn.Linear(FEATURES, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)
    )


class TracIn:
    """Adds up, over the epochs, the products of training gradients with one of held-out patients."""

    def __init__(self, model, held_out, patients):
        self.model = model
        self.held_out = held_out
        self.patients = patients
        self.scores = torch.zeros(len(patients[0]))

    def losses(self, params, x, y):
        logits = functional_call(self.model, params, (x,)).squeeze(-1)
        return F.softplus(logits) - y * logits

    def add_checkpoint(self, lr):
        """A directional derivative of all losses: no gradient per sample is ever stored."""
        params = {name: p.detach() for name, p in self.model.named_parameters()}
        direction = grad(lambda p: self.losses(p, *self.held_out).mean())(params)
        _, product = jvp(lambda p: self.losses(p, *self.patients), (params,), (direction,))
        self.scores += lr * product


def train_epoch(model, optimizer, x, y, generator):
    for rows in torch.randperm(len(x), generator=generator).split(BATCH):
        optimizer.zero_grad(set_to_none=True)
        loss = F.binary_cross_entropy_with_logits(model(x[rows]).squeeze(-1), y[rows])
        loss.backward()
        optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(6)
    generator = torch.Generator().manual_seed(4)
    x, y = make_ward(generator, PATIENTS)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)
    tracer = TracIn(model, make_ward(generator, 512), (x, y))
    tracer.add_checkpoint(0.0)

    start = time.perf_counter()
    losses = []
    for _ in range(EPOCHS):
        losses.append(train_epoch(model, optimizer, x, y, generator))
        tracer.add_checkpoint(LR)
    mean = torch.stack(losses).mean().item()
    print(f"{EPOCHS} steps in {time.perf_counter() - start:.3f} s")
    strongest = tracer.scores.topk(20).values.mean().item()
    print(f"checksum {mean:.5f} {strongest:.6f}")


if __name__ == "__main__":
    main()
