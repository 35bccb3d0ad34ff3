"""Silhouettes of shadow puppets by a Wasserstein GAN with several critic steps per generator step."""

import time

import torch
import torch.nn as nn

SIDE = 16
LATENT = 32
BATCH = 32
CRITIC_STEPS = 4
CLIP = 0.03
ROUNDS = 8


def make_puppets(count, generator):
    """Soft ellipses with a stick below, in different sizes and places."""
    axis = torch.linspace(-1, 1, SIDE)
    centre = 0.3 * torch.randn(count, 2, 1, 1, generator=generator)
    size = 0.2 + 0.3 * torch.rand(count, 2, 1, 1, generator=generator)
    y = (axis.view(1, SIDE, 1) - centre[:, 0]) / size[:, 0]
    x = (axis.view(1, 1, SIDE) - centre[:, 1]) / size[:, 1]
    body = torch.sigmoid(6.0 * (1.0 - x**2 - y**2))
    stick = torch.exp(-((5.0 * (axis.view(1, 1, SIDE) - centre[:, 1])) ** 2)) * (y > 0)
    return (2.0 * torch.maximum(body, stick) - 1.0).unsqueeze(1)


class Generator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.start = nn.Linear(LATENT, 2 * width * 16)
        self.width = width
        self.body = nn.Sequential(
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(2 * width, 2 * width, 3, padding=1),
            nn.ReLU(),
            nn.Upsample(scale_factor=2),
            nn.Conv2d(2 * width, width, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.body(self.start(z).view(-1, 2 * self.width, 4, 4))


class Critic(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Conv2d(width, 2 * width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(2 * width * 16, 1),
        )

    def forward(self, picture):
        return self.body(picture).squeeze(1)


class Trainer:
    def __init__(self, puppets, generator):
        self.puppets = puppets
        self.rng = generator
        self.maker = Generator()
        self.critic = Critic()
        self.maker_optimizer = torch.optim.RMSprop(self.maker.parameters(), lr=2e-4)
        self.critic_optimizer = torch.optim.RMSprop(self.critic.parameters(), lr=2e-4)

    def noise(self):
        return torch.randn(BATCH, LATENT, generator=self.rng)

    def critic_step(self):
        rows = torch.randint(len(self.puppets), (BATCH,), generator=self.rng)
        real = self.puppets[rows]
        with torch.no_grad():
            fake = self.maker(self.noise())
        loss = self.critic(fake).mean() - self.critic(real).mean()
        self.critic_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.critic_optimizer.step()
        with torch.no_grad():
            for parameter in self.critic.parameters():
                parameter.clamp_(-CLIP, CLIP)
        return loss.detach()

    def maker_step(self):
        loss = -self.critic(self.maker(self.noise())).mean()
        self.maker_optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.maker_optimizer.step()
        return loss.detach()

    def round(self):
        critic_losses = [self.critic_step() for _ in range(CRITIC_STEPS)]
        return torch.stack([*critic_losses, self.maker_step()])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(14)
    generator = torch.Generator().manual_seed(40)
    trainer = Trainer(make_puppets(512, generator), generator)
    trainer.round()

    start = time.perf_counter()
    history = torch.stack([trainer.round() for _ in range(ROUNDS)])
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {history.abs().mean().item():.5f} {trainer.maker.start.weight.abs().mean().item():.6f}")


if __name__ == "__main__":
    main()
