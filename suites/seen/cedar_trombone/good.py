"""Sliding-window proper orthogonal decomposition of a synthetic vortex street."""
import time

import torch

torch.set_num_threads(1)


class VortexStreet:
    """Two rows of drifting Gaussian vortices, sampled on a coarse grid."""

    def __init__(self, nx=80, ny=40, speed=0.9, spacing=1.6):
        self.x, self.y = torch.meshgrid(
            torch.linspace(0.0, 8.0, nx), torch.linspace(-2.0, 2.0, ny), indexing="ij"
        )
        self.speed = speed
        self.spacing = spacing
        self.offsets = torch.arange(-2, 8) * spacing

    def vorticity(self, times):
        drift = torch.remainder(times * self.speed, self.spacing)
        field = 0.0
        for sign, row, shift in ((1.0, 0.35, 0.0), (-1.0, -0.35, 0.5 * self.spacing)):
            centres = self.offsets[None, :] + drift[:, None] + shift
            dx2 = (self.x[None, None] - centres[:, :, None, None]) ** 2
            dy2 = (self.y - row) ** 2
            growth = 0.18 + 0.02 * centres.clamp(min=0.0)[:, :, None, None]
            field = field + sign * torch.exp(-(dx2 + dy2) / growth).sum(1)
        return field


def snapshot_matrix(street, start, count, dt, generator):
    times = start + dt * torch.arange(count)
    frames = street.vorticity(times)
    frames = frames * (1.0 + 0.2 * torch.sin(0.7 * times))[:, None, None]
    frames = frames + 0.02 * torch.randn(frames.shape, generator=generator)
    return frames.reshape(count, -1).T


def pod(snapshots, rank):
    mean = snapshots.mean(1, keepdim=True)
    fluctuation = snapshots - mean
    modes, sigma, vt = torch.linalg.svd(fluctuation, full_matrices=False)
    coefficients = sigma[:rank, None] * vt[:rank]
    energy = sigma[:rank] ** 2 / (sigma**2).sum()
    return mean, modes[:, :rank], coefficients, energy


def reconstruction_error(snapshots, mean, modes, coefficients):
    approx = mean + modes @ coefficients
    return torch.linalg.norm(snapshots - approx) / torch.linalg.norm(snapshots)


def dominant_frequency(coefficients, dt):
    window = torch.hann_window(coefficients.shape[1])
    spectrum = torch.fft.rfft(coefficients * window, n=256).abs()
    peak = spectrum[:, 1:].argmax(1) + 1
    return peak.float() / (256 * dt)


def main(steps=18, snapshots=48, rank=8, dt=0.12):
    generator = torch.Generator().manual_seed(4)
    street = VortexStreet()
    pod(snapshot_matrix(street, 0.0, snapshots, dt, generator), rank)

    energies, errors, strouhal = [], [], []
    begin = time.perf_counter()
    for step in range(steps):
        block = snapshot_matrix(street, 0.5 * step, snapshots, dt, generator)
        mean, modes, coefficients, energy = pod(block, rank)
        energies.append(energy)
        errors.append(reconstruction_error(block, mean, modes, coefficients))
        strouhal.append(dominant_frequency(coefficients[:2], dt).mean())
    elapsed = time.perf_counter() - begin

    energies = torch.stack(energies)
    print(f"leading modes carry {energies[:, :2].sum(1).mean():.3f} of the energy")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(
        f"checksum {energies.sum():.6f} {torch.stack(errors).sum():.6f} "
        f"{torch.stack(strouhal).sum():.6f}"
    )


if __name__ == "__main__":
    main()
