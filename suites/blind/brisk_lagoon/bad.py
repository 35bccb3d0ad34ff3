"""Matched filtering of seismic traces against a bank of templates."""
import math
import time

import torch

torch.set_num_threads(1)

RATE = 100.0
TRACE_LEN = 50_022
TEMPLATE_LEN = 1_500


def ricker(length, freq, rate=RATE):
    t = (torch.arange(length) - length / 2) / rate
    a = (math.pi * freq * t) ** 2
    return (1 - 2 * a) * torch.exp(-a)


def build_bank(n_templates):
    freqs = torch.logspace(math.log10(0.5), math.log10(8.0), n_templates)
    bank = torch.stack([ricker(TEMPLATE_LEN, f.item()) for f in freqs])
    return bank / bank.norm(dim=-1, keepdim=True)


class MatchedFilter:
    """Normalised cross-correlation of traces with every template."""

    def __init__(self, bank, trace_len):
        self.m = bank.shape[-1]
        self.n_full = trace_len + self.m - 1
        self.n_fft = self.n_full
        self.bank_hat = torch.fft.rfft(bank, n=self.n_fft).conj()

    def local_energy(self, trace):
        csum = torch.cumsum(trace.double().square(), dim=-1)
        csum = torch.nn.functional.pad(csum, (1, 0))
        return (csum[self.m:] - csum[:-self.m]).clamp_min(1e-6).sqrt().float()

    def __call__(self, trace):
        spectrum = torch.fft.rfft(trace, n=self.n_fft)
        corr = torch.fft.irfft(spectrum * self.bank_hat, n=self.n_fft)
        valid = trace.shape[-1] - self.m + 1
        return corr[:, :valid] / self.local_energy(trace)


def detect(scores, threshold, window=200):
    """Peaks of the best template in each window."""
    best, which = scores.max(dim=0)
    usable = best.numel() // window * window
    peak, pos = best[:usable].view(-1, window).max(dim=-1)
    index = pos + torch.arange(peak.numel()) * window
    hit = peak > threshold
    return index[hit], peak[hit], which[index[hit]]


def synth_trace(bank, generator, events=12):
    trace = 0.2 * torch.randn(TRACE_LEN, generator=generator)
    starts = torch.randint(0, TRACE_LEN - TEMPLATE_LEN, (events,), generator=generator)
    kinds = torch.randint(0, bank.shape[0], (events,), generator=generator)
    for s, k in zip(starts.tolist(), kinds.tolist()):
        trace[s:s + TEMPLATE_LEN] += 6.0 * bank[k]
    return trace


def main():
    generator = torch.Generator().manual_seed(21)
    bank = build_bank(24)
    traces = [synth_trace(bank, generator) for _ in range(20)]
    matched = MatchedFilter(bank, TRACE_LEN)
    detect(matched(traces[0]), 0.6)

    n_steps = 150
    peaks, energy = 0.0, 0.0
    found = []
    start = time.perf_counter()
    for i in range(n_steps):
        scores = matched(traces[i % len(traces)])
        index, peak, kind = detect(scores, 0.6)
        found.append(index.numel())
        peaks += peak.sum()
        energy += scores.square().mean()
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"checksum {peaks.item():.4f} {energy.item():.6f} {sum(found)}")


if __name__ == "__main__":
    main()
