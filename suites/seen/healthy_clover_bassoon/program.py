"""Diffusion model (DDPM) of two-dimensional point patterns, trained and then sampled."""
import math
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)


class TimeEmbedding(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = width // 2
        rates = torch.exp(-math.log(1e4) * torch.arange(half) / half)
        self.register_buffer("rates", rates)

    def forward(self, step):
        angle = step[:, None] * self.rates
        return torch.cat([angle.sin(), angle.cos()], dim=-1)


class Denoiser(nn.Module):
    def __init__(self, width=192, levels=3):
        super().__init__()
        self.embed = TimeEmbedding(64)
        self.time = nn.Linear(64, width)
        self.lift = nn.Linear(2, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU())
            for _ in range(levels)
        )
        self.out = nn.Linear(width, 2)

    def forward(self, points, step):
        h = self.lift(points) + self.time(self.embed(step))
        for block in self.blocks:
            h = h + block(h)
        return self.out(h)


class Schedule:
    def __init__(self, steps):
        self.steps = steps
        self.beta = torch.linspace(1e-4, 0.03, steps)
        self.alpha = 1.0 - self.beta
        self.bar = self.alpha.cumprod(0)

    def diffuse(self, clean, step, noise):
        bar = self.bar[step, None]
        return bar.sqrt() * clean + (1.0 - bar).sqrt() * noise

    @torch.inference_mode()
    def sample(self, model, count, generator):
        x = torch.randn(count, 2, generator=generator)
        coefficient = (self.beta / (1.0 - self.bar).sqrt()).tolist()
        scale = self.alpha.rsqrt().tolist()
        spread = self.beta.sqrt().tolist()
        for t in reversed(range(self.steps)):
            noise = model(x, torch.full((count,), float(t)))
            x = scale[t] * (x - coefficient[t] * noise)
            if t:
                x = x + spread[t] * torch.randn(x.shape, generator=generator)
        return x


def moons(count, generator):
    angle = math.pi * torch.rand(count, generator=generator)
    upper = torch.rand(count, generator=generator) < 0.5
    sign = torch.where(upper, 1.0, -1.0)
    x = sign * angle.cos() + torch.where(upper, -0.5, 0.5)
    y = sign * angle.sin() - torch.where(upper, 0.25, -0.25)
    return torch.stack([x, y], 1) + 0.05 * torch.randn(count, 2, generator=generator)


def main(steps=900, batch_size=512):
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(8)
    data = moons(20000, generator)
    model = Denoiser()
    schedule = Schedule(100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, fused=True)

    total = torch.zeros(())
    begin = time.perf_counter()
    for step in range(steps):
        clean = data[torch.randint(0, len(data), (batch_size,), generator=generator)]
        when = torch.randint(0, schedule.steps, (batch_size,), generator=generator)
        noise = torch.randn(clean.shape, generator=generator)
        loss = F.mse_loss(model(schedule.diffuse(clean, when, noise), when.float()), noise)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % 300 == 299:
            print(f"step {step + 1}: mean loss {total.item() / (step + 1):.4f}")
    samples = schedule.sample(model, 2000, generator)
    elapsed = time.perf_counter() - begin

    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {total:.4f} {samples.abs().mean():.5f}")


if __name__ == "__main__":
    main()
