"""Learns the risk of a return to the clinic with differential privacy (DP-SGD)."""

import time

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, vmap

FEATURES = 40
PATIENTS = 4000
BATCH = 64
CLIP = 1.0
NOISE = 0.6


def make_patients(generator):
    x = torch.randn(PATIENTS, FEATURES, generator=generator)
    weights = torch.randn(FEATURES, generator=generator) / FEATURES**0.5
    logit = 2.0 * torch.tanh(x @ weights) + 0.5 * x[:, 0] * x[:, 1]
    returned = torch.rand(PATIENTS, generator=generator) < torch.sigmoid(logit)
    return x, returned.float()


class RiskNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, 64),
            nn.Tanh(),
            nn.Linear(64, 32),
            nn.Tanh(),
            nn.Linear(32, 1),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


class PrivateTrainer:
    """Clips the gradient of each patient, adds noise to the sum and takes a step."""

    def __init__(self, model, lr, generator):
        self.model = model
        self.params = dict(model.named_parameters())
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.loss_fn = nn.BCEWithLogitsLoss()
        self.generator = generator
        self.per_patient = vmap(grad_and_value(self.loss_of_one), in_dims=(None, 0, 0))

    def loss_of_one(self, params, features, label):
        logit = functional_call(self.model, params, (features.unsqueeze(0),))
        return self.loss_fn(logit, label.unsqueeze(0))

    def clipped_sum(self, x, y):
        params = {name: p.detach() for name, p in self.params.items()}
        grads, losses = self.per_patient(params, x, y)
        norm = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        factor = (CLIP / (norm + 1e-6)).clamp(max=1.0)
        total = {name: torch.tensordot(factor, grad, dims=1) for name, grad in grads.items()}
        return total, losses.mean()

    def step(self, x, y):
        total, loss = self.clipped_sum(x, y)
        for name, p in self.params.items():
            noise = CLIP * NOISE * torch.randn(p.shape, generator=self.generator)
            p.grad = (total[name] + noise) / len(x)
        self.optimizer.step()
        return loss


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(9)
    x, y = make_patients(generator)
    trainer = PrivateTrainer(RiskNet(), 0.2, generator)
    trainer.step(x[:BATCH], y[:BATCH])

    start = time.perf_counter()
    losses = []
    for _ in range(100):
        rows = torch.randint(PATIENTS, (BATCH,), generator=generator)
        losses.append(trainer.step(x[rows], y[rows]))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
