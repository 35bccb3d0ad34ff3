"""Denoising of audio frames: spectrogram masking with a recurrent network."""
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

RATE = 8000
N_FFT = 256
HOP = 128


class MaskNet(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        bins = N_FFT // 2 + 1
        self.register_buffer("window", torch.hann_window(N_FFT))
        self.rnn = nn.GRU(bins, hidden, num_layers=2, batch_first=True)
        self.mask = nn.Linear(hidden, bins)

    def spectrum(self, wave):
        return torch.stft(wave, N_FFT, HOP, window=self.window, return_complex=True)

    def forward(self, spectrum):
        feature = torch.log1p(spectrum.abs()).transpose(1, 2)
        h, _ = self.rnn(feature)
        return torch.sigmoid(self.mask(h)).transpose(1, 2)

    def restore(self, spectrum, mask, length):
        return torch.istft(spectrum * mask, N_FFT, HOP, window=self.window, length=length)


class ToneMixtures:
    """Decaying harmonic tones in coloured noise."""

    def __init__(self, seed, seconds=1.0):
        self.g = torch.Generator().manual_seed(seed)
        self.t = torch.arange(int(RATE * seconds)) / RATE
        self.harmonics = torch.arange(1, 6).view(1, -1, 1)

    def batch(self, n):
        pitch = 120 + 300 * torch.rand(n, 1, 1, generator=self.g)
        decay = 1 + 4 * torch.rand(n, 1, 1, generator=self.g)
        partials = torch.sin(2 * torch.pi * pitch * self.harmonics * self.t) / self.harmonics
        clean = (partials * torch.exp(-decay * self.t)).sum(dim=1)
        white = torch.randn(n, self.t.numel(), generator=self.g)
        noise = 0.7 * white + 0.3 * white.roll(1, dims=-1)
        return clean, clean + 0.3 * noise


def train_step(model, optimizer, clean, noisy):
    spectrum = model.spectrum(noisy)
    target = model.spectrum(clean).abs()
    mask = model(spectrum)
    loss = F.l1_loss(mask * spectrum.abs(), target)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


@torch.inference_mode()
def improvement(model, clean, noisy):
    spectrum = model.spectrum(noisy)
    restored = model.restore(spectrum, model(spectrum), noisy.shape[-1])
    before = (noisy - clean).square().sum(-1)
    after = (restored - clean).square().sum(-1)
    return 10 * torch.log10(before / after).mean()


def main():
    torch.manual_seed(8)
    source = ToneMixtures(9)
    batches = [source.batch(16) for _ in range(8)]
    model = MaskNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, fused=True)
    train_step(model, optimizer, *batches[0])

    n_steps = 100
    losses = []
    start = time.perf_counter()
    for i in range(n_steps):
        losses.append(train_step(model, optimizer, *batches[i % len(batches)]))
    elapsed = time.perf_counter() - start

    losses = torch.stack(losses)
    gain = improvement(model, *batches[0])
    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {losses.sum().item():.5f} {gain.item():.4f}")


if __name__ == "__main__":
    main()
