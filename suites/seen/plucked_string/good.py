"""The motion of a plucked string, by a network that is trained on the wave equation."""

import time

import torch
from torch import nn

torch.set_num_threads(1)

POINTS, WIDTH, STEPS, SPEED = 256, 64, 100, 1.0


class StringNet(nn.Module):
    """Displacement at a place and a time; the ends are held."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, WIDTH),
            nn.Tanh(),
            nn.Linear(WIDTH, WIDTH),
            nn.Tanh(),
            nn.Linear(WIDTH, WIDTH),
            nn.Tanh(),
            nn.Linear(WIDTH, 1),
        )

    def forward(self, x, t):
        raw = self.body(torch.stack([x, t], dim=1)).squeeze(1)
        return x * (1.0 - x) * raw


def derivative(values, inputs):
    return torch.autograd.grad(values.sum(), inputs, create_graph=True)[0]


def plucked(x):
    return torch.minimum(x / 0.3, (1.0 - x) / 0.7) * 0.5


def loss_fn(model, x, t):
    """Residual of the wave equation and misfit of the beginning."""
    x.requires_grad_()
    t.requires_grad_()
    u = model(x, t)
    u_t, u_x = derivative(u, t), derivative(u, x)
    residual = derivative(u_t, t) - SPEED**2 * derivative(u_x, x)
    zero = torch.zeros_like(t).requires_grad_()
    first = model(x, zero)
    still = derivative(first, zero)
    return residual.square().mean() + 10.0 * (first - plucked(x)).square().mean() + still.square().mean()


def train(model, optimizer, generator, steps):
    losses = []
    for _ in range(steps):
        x, t = torch.rand((2, POINTS), generator=generator).unbind()
        optimizer.zero_grad()
        loss = loss_fn(model, x.clone(), t.clone())
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def main():
    torch.manual_seed(0)
    model = StringNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(1)
    train(model, optimizer, generator, 5)
    start = time.perf_counter()
    losses = train(model, optimizer, generator, STEPS)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(losses.mean()), float(losses[-20:].mean()))


if __name__ == "__main__":
    main()
