"""A small GAN that paints porcelain glazes."""

import time

import numpy as np
import torch
from torch import nn

SIDE = 32
NOISE = 48
BATCH = 32


def glazes(seed, count):
    rng = np.random.default_rng(seed)
    rows, cols = np.mgrid[0:SIDE, 0:SIDE] / SIDE
    tiles = []
    for _ in range(count):
        wave = rng.uniform(5, 20, 2)
        crackle = np.sin(wave[0] * rows + rng.uniform(0, 6)) * np.cos(wave[1] * cols + rng.uniform(0, 6))
        tint = rng.uniform(0.5, 1.0, size=(3, 1, 1))
        tiles.append(tint * crackle[None])
    return torch.from_numpy(np.stack(tiles).astype(np.float32))


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.start = nn.Linear(NOISE, 96 * 4 * 4)
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(96, 64, 4, 2, 1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 64, 4, 2, 1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3, 1, 1),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.ConvTranspose2d(64, 3, 4, 2, 1),
            nn.Tanh(),
        )

    def forward(self, noise):
        return self.layers(self.start(noise).view(-1, 96, 4, 4))


class Critic(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 16, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(16, 32, 4, 2, 1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(32 * 64, 1),
        )


class Studio:
    def __init__(self):
        self.painter, self.critic = Painter(), Critic()
        self.opt_painter = torch.optim.Adam(self.painter.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=2e-4, betas=(0.5, 0.999))
        self.loss = nn.BCEWithLogitsLoss()

    def step(self, real):
        ones, zeros = torch.ones(len(real), 1), torch.zeros(len(real), 1)
        fake = self.painter(torch.randn(len(real), NOISE))

        self.opt_critic.zero_grad()
        critic_loss = self.loss(self.critic(real), ones) + self.loss(self.critic(fake), zeros)
        critic_loss.backward(retain_graph=True)
        self.opt_critic.step()

        self.opt_painter.zero_grad()
        painter_loss = self.loss(self.critic(fake), ones)
        painter_loss.backward()
        self.opt_painter.step()
        return critic_loss.detach(), painter_loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tiles = glazes(1, BATCH * 26).split(BATCH)
    studio = Studio()
    studio.step(tiles[0])

    start = time.perf_counter()
    losses = torch.stack([torch.stack(studio.step(real)) for real in tiles[1:]])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses[:, 0].mean().item():.4f} {losses[:, 1].mean().item():.4f}")


if __name__ == "__main__":
    main()
