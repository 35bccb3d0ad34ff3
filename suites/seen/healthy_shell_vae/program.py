"""A variational autoencoder for the outlines of shells, with torch.distributions."""

import math
import time

import torch
from torch import nn
from torch.distributions import Independent, Normal, kl_divergence

POINTS = 96
LATENT = 8
WIDTH = 192
COUNT = 4096
BATCH = 128
EPOCHS = 12


def make_outlines(generator):
    """Spirals whose growth, ribs and tilt differ from shell to shell."""
    angle = torch.linspace(0.0, 6 * math.pi, POINTS)
    growth = 0.05 + 0.05 * torch.rand(COUNT, 1, generator=generator)
    ribs = torch.randint(3, 9, (COUNT, 1), generator=generator)
    tilt = torch.rand(COUNT, 1, generator=generator)
    radius = torch.exp(growth * angle) * (1.0 + 0.1 * torch.cos(ribs * angle + tilt))
    radius = radius + 0.03 * torch.randn(radius.shape, generator=generator)
    return (radius - radius.mean()) / radius.std()


class ShellVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(POINTS, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 2 * LATENT)
        )
        self.decoder = nn.Sequential(
            nn.Linear(LATENT, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, POINTS)
        )
        self.prior = Independent(Normal(torch.zeros(LATENT), torch.ones(LATENT)), 1)
        self.log_noise = nn.Parameter(torch.zeros(POINTS))

    def encode(self, outlines):
        mean, log_scale = self.encoder(outlines).chunk(2, dim=-1)
        return Independent(Normal(mean, log_scale.exp(), validate_args=False), 1, validate_args=False)

    def loss(self, outlines):
        """Negative evidence bound, with the divergence in closed form."""
        posterior = self.encode(outlines)
        decoded = self.decoder(posterior.rsample())
        likelihood = Normal(decoded, self.log_noise.exp(), validate_args=False)
        fit = likelihood.log_prob(outlines).sum(dim=-1)
        return (kl_divergence(posterior, self.prior) - fit).mean()


def train_epoch(model, optimizer, outlines, generator):
    losses = []
    for rows in torch.randperm(COUNT, generator=generator).split(BATCH):
        optimizer.zero_grad(set_to_none=True)
        loss = model.loss(outlines[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(11)
    generator = torch.Generator().manual_seed(12)
    outlines = make_outlines(generator)
    model = ShellVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    start = time.perf_counter()
    losses = torch.cat([train_epoch(model, optimizer, outlines, generator) for _ in range(EPOCHS)])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-32:].mean().item():.4f}")


if __name__ == "__main__":
    main()
