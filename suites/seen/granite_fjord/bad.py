"""Temperature maps from weather stations by optimal interpolation.

A background map of the temperature on a coastal grid is carried forward hour by hour by a simple wind
and diffusion model. Each hour the readings of the stations correct it: the innovation is
spread over the grid with a Gaussian covariance (the analysis step of data assimilation).
"""
import time

import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

GRID = 40
STATIONS = 900
HOURS = 120
CORRELATION_LENGTH = 0.12
READING_ERROR = 0.3
BACKGROUND_ERROR = 1.5


def covariance(a, b):
    """Gaussian covariance of the background error between two sets of places."""
    distance = torch.cdist(a, b)
    return BACKGROUND_ERROR**2 * torch.exp(-0.5 * (distance / CORRELATION_LENGTH) ** 2)


def grid_points():
    axis = (torch.arange(GRID) + 0.5) / GRID
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    return torch.stack([xx.flatten(), yy.flatten()], dim=1)


class TrueWeather:
    """The temperature field that the stations measure."""

    def __init__(self, generator):
        self.wave = 2 * torch.pi * torch.randint(1, 4, (6, 2), generator=generator)
        self.phase = 6.28 * torch.rand(6, generator=generator)
        self.speed = 0.1 * torch.randn(6, generator=generator)

    def __call__(self, places, hour):
        waves = torch.sin(places @ self.wave.T.double() + self.phase + self.speed * hour)
        return 12.0 + 1.5 * waves.sum(dim=1)


class Assimilation:
    """Keeps the current map and corrects it with the readings."""

    def __init__(self, grid, stations):
        self.stations = stations
        self.cell = self.nearest_cell(stations)
        self.cov_grid = covariance(grid, stations)
        self.cov_stations = covariance(stations, stations)
        self.error = READING_ERROR**2 * torch.eye(len(stations))
        self.map = torch.full((len(grid),), 12.0)

    @staticmethod
    def nearest_cell(places):
        index = (places * GRID).long().clamp(max=GRID - 1)
        return index[:, 1] * GRID + index[:, 0]

    def forecast(self):
        """One hour of wind from the west and horizontal diffusion."""
        field = self.map.view(GRID, GRID)
        west, east = field.roll(1, dims=1), field.roll(-1, dims=1)
        north, south = field.roll(1, dims=0), field.roll(-1, dims=0)
        mixing = 0.1 * (west + east + north + south - 4 * field)
        self.map = (field + 0.2 * (west - field) + mixing).flatten()

    def analyse(self, readings):
        innovation = readings - self.map[self.cell]
        weights = torch.linalg.solve(self.cov_stations + self.error, innovation)
        self.map = self.map + self.cov_grid @ weights
        return innovation.square().mean().sqrt()


def main():
    generator = torch.Generator().manual_seed(13)
    grid = grid_points()
    stations = torch.rand(STATIONS, 2, generator=generator)
    weather = TrueWeather(generator)
    system = Assimilation(grid, stations)

    rms = []
    for hour in range(HOURS + 1):
        if hour == 1:  # the first hour is a warm-up
            start = time.perf_counter()
        noise = READING_ERROR * torch.randn(STATIONS, generator=generator)
        readings = weather(stations, hour) + noise
        system.forecast()
        rms.append(system.analyse(readings))
    elapsed = time.perf_counter() - start

    error = (system.map - weather(grid, HOURS)).square().mean().sqrt()
    print(f"{HOURS} steps in {elapsed:.2f} s")
    print(f"{rms[0]:.5f} {rms[-1]:.5f} {error:.5f} {system.map.mean():.5f}")


if __name__ == "__main__":
    main()
