"""Two-dimensional turbulence that grows out of a sheet of vortices, by spectral steps."""

import math
import time

import torch

torch.set_num_threads(1)

SIDE, STEPS, TIME_STEP, VISCOSITY = 256, 400, 2e-3, 5e-4


class Flow:
    """Vorticity in a periodic box, in Fourier space, with the wave numbers that its steps need."""

    def __init__(self):
        waves = torch.fft.fftfreq(SIDE, 1.0 / SIDE)
        self.kx = waves[:, None]
        self.ky = torch.fft.rfftfreq(SIDE, 1.0 / SIDE)[None, :]
        square = self.kx**2 + self.ky**2
        inverse = torch.where(square > 0, 1.0 / square.clamp(min=1.0), 0.0)
        keep = (self.kx.abs() < SIDE / 3) & (self.ky < SIDE / 3)
        self.to_fields = torch.stack(
            [1j * self.ky * inverse, -1j * self.kx * inverse, 1j * self.kx.expand_as(square), 1j * self.ky.expand_as(square)]
        )
        self.keep = keep.float()
        self.decay = torch.exp(-0.5 * VISCOSITY * TIME_STEP * square)

    def advection(self, vorticity):
        """Velocity and gradient come back in one batch of transforms."""
        u, v, across, along = torch.fft.irfft2(self.to_fields * vorticity, s=(SIDE, SIDE))
        return -self.keep * torch.fft.rfft2(u * across + v * along)

    def step(self, vorticity):
        """The midpoint rule, with exact decay."""
        middle = self.decay * (vorticity + 0.5 * TIME_STEP * self.advection(vorticity))
        return self.decay * (self.decay * vorticity + TIME_STEP * self.advection(middle))


def vortex_sheet(generator):
    side = torch.arange(SIDE) * (2.0 * math.pi / SIDE)
    bend = 0.1 * torch.sin(2.0 * side[:, None] + 1.0)
    sheet = torch.exp(-((side[None, :] - math.pi + bend) / 0.15).square())
    field = 8.0 * (sheet - sheet.mean()) + 0.01 * torch.randn((SIDE, SIDE), generator=generator)
    return torch.fft.rfft2(field)


@torch.inference_mode()
def main():
    flow = Flow()
    vorticity = flow.step(vortex_sheet(torch.Generator().manual_seed(0)))
    start = time.perf_counter()
    for _ in range(STEPS):
        vorticity = flow.step(vorticity)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    field = torch.fft.irfft2(vorticity, s=(SIDE, SIDE))
    print("checksum", float(field.square().mean()), float(field.abs().max()))


if __name__ == "__main__":
    main()
