"""Wasserstein GAN with weight clipping on synthetic spectra."""
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)

N_POINTS = 256
LATENT = 48
N_CRITIC = 4


class Generator(nn.Module):
    """Upsampling 1-D convolutional generator."""

    def __init__(self, base=64):
        super().__init__()
        self.base = base
        self.start = nn.Linear(LATENT, base * 2 * 16)
        layers = []
        width = base * 2
        for out in (base * 2, base, base, base // 2):
            layers += [
                nn.Upsample(scale_factor=2),
                nn.Conv1d(width, out, 5, padding=2),
                nn.GroupNorm(4, out),
                nn.LeakyReLU(0.2),
            ]
            width = out
        self.layers = nn.Sequential(*layers)
        self.out = nn.Conv1d(width, 1, 5, padding=2)

    def forward(self, z):
        h = self.start(z).view(z.shape[0], self.base * 2, 16)
        return torch.tanh(self.out(self.layers(h))).squeeze(1)


class Critic(nn.Module):
    def __init__(self, width=192):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(N_POINTS, width), nn.LeakyReLU(0.2),
            nn.Linear(width, width), nn.LeakyReLU(0.2),
            nn.Linear(width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(-1)


class SpectrumSource:
    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.grid = torch.linspace(-1, 1, N_POINTS)

    def real(self, n):
        centre = torch.rand(n, 3, 1, generator=self.g) * 1.6 - 0.8
        width = 0.02 + 0.08 * torch.rand(n, 3, 1, generator=self.g)
        height = torch.rand(n, 3, 1, generator=self.g)
        peaks = height * torch.exp(-((self.grid - centre) / width) ** 2)
        return peaks.sum(dim=1).clamp(max=1.0) * 2 - 1

    def noise(self, n):
        return torch.randn(n, LATENT, generator=self.g)


def critic_step(generator, critic, optimizer, source, batch):
    real = source.real(batch)
    fake = generator(source.noise(batch))
    loss = critic(fake).mean() - critic(real).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-0.05, 0.05)
    return -loss.detach()


def generator_step(generator, critic, optimizer, source, batch):
    loss = -critic(generator(source.noise(batch))).mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.manual_seed(10)
    source = SpectrumSource(31)
    generator, critic = Generator(), Critic()
    g_opt = torch.optim.RMSprop(generator.parameters(), lr=5e-5)
    c_opt = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
    batch = 32
    critic_step(generator, critic, c_opt, source, batch)

    n_steps = 30
    distances, g_losses = [], []
    start = time.perf_counter()
    for _ in range(n_steps):
        for _ in range(N_CRITIC):
            distances.append(critic_step(generator, critic, c_opt, source, batch))
        g_losses.append(generator_step(generator, critic, g_opt, source, batch))
    elapsed = time.perf_counter() - start

    distances, g_losses = torch.stack(distances), torch.stack(g_losses)
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {distances.sum().item():.5f} {g_losses.sum().item():.5f} {g_losses[-1].item():.5f}")


if __name__ == "__main__":
    main()
