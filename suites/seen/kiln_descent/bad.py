"""Firing curves of a kiln fitted by descent whose step length follows the curvature ahead."""

import math
import time

import torch
from torch.func import grad_and_value, hessian

HIDDEN = 36
INPUTS = 6
COUNT = 250
STEPS = 60


def make_firings(generator):
    """Settings of the kiln and the glaze that came out."""
    settings = torch.randn(COUNT, INPUTS, generator=generator)
    heat = torch.tanh(settings[:, 0] - 0.5 * settings[:, 1])
    glaze = heat * torch.cos(settings[:, 2]) + 0.3 * settings[:, 3].sigmoid()
    return settings, glaze + 0.02 * torch.randn(COUNT, generator=generator)


class GlazeModel:
    """One hidden layer; all parameters lie in one vector."""

    def __init__(self):
        self.shapes = [(HIDDEN, INPUTS), (HIDDEN,), (HIDDEN,), ()]
        self.sizes = [math.prod(shape) for shape in self.shapes]

    def start(self, generator):
        scale = [1 / math.sqrt(INPUTS), 0.1, 1 / math.sqrt(HIDDEN), 0.1]
        parts = [s * torch.randn(n, generator=generator) for s, n in zip(scale, self.sizes)]
        return torch.cat(parts)

    def predict(self, theta, settings):
        parts = theta.split(self.sizes)
        weight, bias, out, shift = (p.view(s) for p, s in zip(parts, self.shapes))
        return torch.tanh(settings @ weight.T + bias) @ out + shift

    def loss(self, theta, settings, glaze):
        misfit = self.predict(theta, settings) - glaze
        return 0.5 * misfit.pow(2).mean() + 1e-4 * theta.pow(2).sum()


class CurvatureDescent:
    """Conjugate directions; the step is the Newton step along the direction."""

    def __init__(self, loss, theta):
        self.loss = loss
        self.theta = theta
        self.direction = None
        self.last_square = None

    def step(self, *data):
        gradient, value = grad_and_value(self.loss)(self.theta, *data)
        square = gradient.dot(gradient)
        if self.direction is None or gradient.dot(self.direction) > 0:
            self.direction = -gradient
        else:
            self.direction = -gradient + (square / self.last_square) * self.direction
        curved = hessian(self.loss)(self.theta, *data) @ self.direction
        curvature = self.direction.dot(curved).abs() + 1e-8
        length = (-gradient.dot(self.direction) / curvature).clamp(0.0, 2.0)
        self.theta = self.theta + length * self.direction
        self.last_square = square
        return value


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(70)
    settings, glaze = make_firings(generator)
    model = GlazeModel()
    descent = CurvatureDescent(model.loss, model.start(generator))
    descent.step(settings, glaze)

    start = time.perf_counter()
    values = torch.stack([descent.step(settings, glaze) for _ in range(STEPS)])
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {values[0].item():.5f} {values.mean().item():.5f} {values[-1].item():.5f}")


if __name__ == "__main__":
    main()
