"""Deblurring of tide gauges on a grid of place and time, whose blur is separable."""

import time

import torch

PLACES = 48
HOURS = 72
ROUNDS = 600


def blur_matrix(size, width, generator):
    """Rows of a smooth kernel whose width differs a little from row to row."""
    axis = torch.arange(size, dtype=torch.float32)
    spread = width * (1.0 + 0.2 * torch.rand(size, 1, generator=generator))
    kernel = torch.exp(-0.5 * ((axis - axis.unsqueeze(1)) / spread) ** 2)
    return kernel / kernel.sum(dim=1, keepdim=True)


def make_tides(generator):
    """Surges that travel along the coast."""
    place = torch.arange(PLACES, dtype=torch.float32).unsqueeze(1)
    hour = torch.arange(HOURS, dtype=torch.float32)
    level = 0.3 * torch.sin(2 * torch.pi * (hour / 12.4 - place / 30.0))
    for _ in range(5):
        speed = 0.5 + torch.rand((), generator=generator)
        first = HOURS * torch.rand((), generator=generator)
        level = level + (torch.abs(hour - first - speed * place) < 2.0).float()
    return level


class SeparableBlur:
    """Blur over places and over hours at the same time."""

    def __init__(self, over_places, over_hours):
        self.shape = (len(over_places), len(over_hours))
        self.matrix = torch.kron(over_places, over_hours)

    def forward(self, field):
        return (self.matrix @ field.reshape(-1)).view(self.shape)

    def adjoint(self, field):
        return (self.matrix.T @ field.reshape(-1)).view(self.shape)


def soft_threshold(field, amount):
    return field.sign() * (field.abs() - amount).clamp(min=0.0)


class ShrinkageSolver:
    """FISTA: a sparse field whose blurred image is the observed one."""

    def __init__(self, blur, observed, penalty=2e-3, rate=0.7):
        self.blur = blur
        self.observed = observed
        self.penalty = penalty
        self.rate = rate
        self.field = torch.zeros_like(observed)
        self.ahead = self.field
        self.momentum = 1.0

    def step(self):
        misfit = self.blur.forward(self.ahead) - self.observed
        moved = self.ahead - self.rate * self.blur.adjoint(misfit)
        fresh = soft_threshold(moved, self.rate * self.penalty)
        momentum = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum**2) ** 0.5)
        self.ahead = fresh + (self.momentum - 1.0) / momentum * (fresh - self.field)
        self.field, self.momentum = fresh, momentum
        return 0.5 * misfit.pow(2).sum()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(90)
    over_places = blur_matrix(PLACES, 1.5, generator)
    over_hours = blur_matrix(HOURS, 2.0, generator)
    level = make_tides(generator)
    noise = 0.01 * torch.randn(PLACES, HOURS, generator=generator)
    observed = over_places @ level @ over_hours.T + noise
    solver = ShrinkageSolver(SeparableBlur(over_places, over_hours), observed)
    solver.step()

    start = time.perf_counter()
    misfits = torch.stack([solver.step() for _ in range(ROUNDS)])
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {misfits[0].item():.4f} {misfits.mean().item():.4f} {solver.field.abs().mean().item():.5f}")


if __name__ == "__main__":
    main()
