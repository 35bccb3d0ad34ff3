"""Pressure waves in the pipes of a geyser field: a network of cells whose states are logged at every step."""

import math
import time

import torch

CELLS = 2000
STEPS = 1200
FIRST = 20
DT = 0.05


def make_field(generator):
    """Pipes join each cell with four others; stiffness and damping vary slowly."""
    jump = torch.tensor([[-9], [-1], [1], [9]])
    neighbour = (torch.arange(CELLS) + jump) % CELLS
    place = torch.arange(CELLS) / CELLS
    stiffness = 1.0 + 0.5 * torch.sin(2 * math.pi * place)
    damping = 0.02 + 0.02 * torch.rand(CELLS, generator=generator)
    return neighbour, stiffness, damping


class GeyserField:
    def __init__(self, neighbour, stiffness, damping):
        self.neighbour = neighbour
        self.stiffness = stiffness
        self.damping = damping
        self.pressure = torch.zeros(CELLS)
        self.flow = torch.zeros(CELLS)
        self.clock = 0.0

    def pull(self):
        """Force towards the mean pressure of the cells that a cell is linked with."""
        mean = self.pressure[self.neighbour].mean(dim=0)
        return self.stiffness * (mean - self.pressure)

    def step(self):
        """Semi-implicit Euler, with a heat source below the first cells."""
        push = self.pull() - self.damping * self.flow
        push[:50] += math.sin(1.7 * self.clock)
        self.flow = self.flow + DT * push
        self.pressure = self.pressure + DT * self.flow
        self.clock += DT
        return self.pressure


class Recorder:
    """Keeps the pressures of all cells for the analysis afterwards."""

    def __init__(self):
        self.log = torch.empty(0, CELLS)

    def add(self, pressure):
        self.log = torch.cat([self.log, pressure.unsqueeze(0)])

    def series(self):
        return self.log


def simulate(field, recorder, steps):
    for _ in range(steps):
        recorder.add(field.step())
    return recorder.series()


def spectrum_peak(series, cells):
    """The strongest period at some cells, in steps."""
    wave = series[:, cells] - series[:, cells].mean(dim=0)
    power = torch.fft.rfft(wave, dim=0).abs().square()
    return len(series) / power[1:].argmax(dim=0).add(1).float().mean()


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(38)
    field = GeyserField(*make_field(generator))
    simulate(field, Recorder(), FIRST)

    start = time.perf_counter()
    series = simulate(field, Recorder(), STEPS)
    print(f"{STEPS} steps in {time.perf_counter() - start:.3f} s")
    peak = spectrum_peak(series, torch.arange(0, 1000, 50)).item()
    print(f"checksum {series.abs().mean().item():.5f} {series[-1].max().item():.5f} {peak:.3f}")


if __name__ == "__main__":
    main()
